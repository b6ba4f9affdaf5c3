//! What other programs write: variants of each format that round trips through our own writers
//! never meet. The files in `tests/files` were written by VTK 9 and Gmsh 4 from meshes of ours.

use std::path::PathBuf;

use defcol::math::Vector3;
use defcol::mesh::inspect;
use defcol_io::{At, Format, Model, Problem, Progress, parse, parse_tetgen, read};

fn text(format: Format, text: &str) -> Model {
    parse(text.as_bytes(), format, None, &Progress::new()).unwrap_or_else(|error| panic!("{error}"))
}

fn file(name: &str) -> Result<Model, defcol_io::ReadError> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    read(&path, &Progress::new())
}

#[test]
fn obj_with_polygons_negative_indices_groups_and_continued_lines() {
    let model = text(
        Format::Obj,
        "# comment\nmtllib x.mtl\no first\nv 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\r\nv 0 1 0\n\
         vt 0 0\nvn 0 0 1\ns off\nusemtl red\nf 1/1/1 2/1/1 3/1/1 4/1/1\n\
         g second group # not the name\n  f -4//-1 \\\n -3//1 -2//1\ng\nl 1 2\nf 1 2 4",
    );
    assert_eq!(model.mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 1, 3]]);
    assert_eq!(model.mesh.positions[1], Vector3::new(1.0, 0.0, 0.0));
    let parts: Vec<_> =
        model.parts.iter().map(|p| (p.name.as_str(), p.triangles.clone())).collect();
    assert_eq!(parts[0], ("first", 0..2));
    assert_eq!(parts[1].1, 2..3);
    assert_eq!(parts[2], ("", 3..4));
    assert!(model.notes.iter().any(|note| note.starts_with("1 faces with more than three")));
    assert!(model.notes.iter().any(|note| note.starts_with("1 lines and points")));
}

#[test]
fn obj_polygon_that_is_not_convex_is_covered_once() {
    let model = text(Format::Obj, "v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\nf 2 3 4 1\n");
    let area = inspect(&model.mesh).area;
    assert!((area - 4.0).abs() < 1e-15, "{area}");
}

#[test]
fn faces_may_stand_before_their_vertices() {
    let model = text(Format::Obj, "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n");
    assert_eq!(model.mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn ply_with_other_properties_elements_and_strips() {
    let model = text(
        Format::Ply,
        "ply\nformat ascii 1.0\ncomment made by hand\nobj_info x\nelement camera 1\nproperty float fov\n\
         element vertex 4\nproperty uchar red\nproperty double z\nproperty double y\nproperty double x\n\
         element face 1\nproperty float quality\nproperty list uchar int vertex_index\n\
         property list uchar float texcoord\nelement tristrips 1\nproperty list int int vertex_indices\n\
         end_header\n90\n255 0 0 0\n255 0 0 1\n255 0 1 0\n255 0 1 1\n0.5 3 0 1 2 6 0 0 1 0 0 1\n\
         8 0 1 2 3 -1 2 1 0\n",
    );
    assert_eq!(model.mesh.positions[2], Vector3::new(0.0, 1.0, 0.0));
    assert_eq!(model.mesh.triangles, [[0, 1, 2], [0, 1, 2], [2, 1, 3], [2, 1, 0]]);
}

#[test]
fn binary_ply_with_short_indices_quads_and_other_lists() {
    let mut bytes = b"ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty short x\nproperty short y\n\
        property short z\nproperty uchar alpha\nelement face 2\nproperty list uchar ushort vertex_indices\n\
        property list uchar float t\nend_header\n"
        .to_vec();
    for [x, y] in [[0i16, 0], [1, 0], [1, 1], [0, 1]] {
        bytes.extend([x, y, -7].iter().flat_map(|c| c.to_be_bytes()));
        bytes.push(255);
    }
    bytes.extend([4, 0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 0, 0, 0]);
    bytes.extend([3, 0, 0, 0, 1, 0, 2, 0]);
    let model = parse(&bytes, Format::Ply, None, &Progress::new()).unwrap();
    assert_eq!(model.mesh.positions[2], Vector3::new(1.0, 1.0, -7.0));
    assert_eq!(model.mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
}

#[test]
fn off_with_colours_comments_and_counts_beside_the_magic() {
    for head in ["OFF\n# comment\n3 1 0\n", "OFF 3 1 0\n", "COFF\n3 1 0\n", "NOFF 3 1 3\n\n"] {
        let body = "0 0 0 255 0 0 255\n1 0 0 255 0 0 255 # corner\n\n0 1 0 255 0 0 255\n3 0 1 2 0.5 0.5 0.5\n";
        assert_eq!(text(Format::Off, &format!("{head}{body}")).mesh.triangles, [[0, 1, 2]]);
    }
}

#[test]
fn stl_binary_that_begins_with_solid_and_text_with_two_solids() {
    let mut bytes = vec![b' '; 80];
    bytes[..9].copy_from_slice(b"solid abc");
    bytes.extend(1u32.to_le_bytes());
    for x in [0f32, 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 0.] {
        bytes.extend(x.to_le_bytes());
    }
    bytes.extend([0, 0]);
    let model = parse(&bytes, Format::Stl, None, &Progress::new()).unwrap();
    assert_eq!(model.mesh.triangles, [[0, 1, 2]]);
    bytes.extend(b"trailing");
    bytes[..9].fill(0);
    let model = parse(&bytes, Format::Stl, None, &Progress::new()).unwrap();
    assert_eq!(model.notes, ["8 bytes behind the last triangle were left out"]);

    let facet = "FACET NORMAL nan nan nan\nOUTER LOOP\nVERTEX 0 0 0\nVERTEX 1E0 0 0\nVERTEX 0 1 0\nENDLOOP\nENDFACET\n";
    let model =
        text(Format::Stl, &format!("solid one two\n{facet}endsolid one\nsolid\n{facet}endsolid\n"));
    assert_eq!((model.mesh.positions.len(), model.mesh.triangles.len()), (3, 2));
    assert_eq!(model.parts[0].name, "one two");
}

#[test]
fn medit_with_other_sections_and_quadrilaterals() {
    let model = text(
        Format::Medit,
        "MeshVersionFormatted 1\n# comment\nDimension\n3\nVertices\n4\n0 0 0 1\n1 0 0 1\n1 1 0 1\n0 1 0 1\n\
         Corners 2\n1\n2\nEdges 1 1 2 7\nQuadrilaterals\n1\n1 2 3 4 0\nRidges 1 1\nEnd\n",
    );
    assert_eq!(model.mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert!(model.notes.iter().any(|note| note.starts_with("3 sections")));
}

#[test]
fn medit_binary_of_every_version_and_byte_order() {
    for version in 1..=4u32 {
        for big in [false, true] {
            let mut bytes = Vec::new();
            let word = |bytes: &mut Vec<u8>, value: u64, size: usize| {
                let all = if big { value.to_be_bytes() } else { value.to_le_bytes() };
                bytes.extend(if big { &all[8 - size..] } else { &all[..size] });
            };
            let real = |bytes: &mut Vec<u8>, value: f64| match (version, big) {
                (1, true) => bytes.extend((value as f32).to_be_bytes()),
                (1, false) => bytes.extend((value as f32).to_le_bytes()),
                (_, true) => bytes.extend(value.to_be_bytes()),
                (_, false) => bytes.extend(value.to_le_bytes()),
            };
            let place = if version < 3 { 4 } else { 8 };
            let whole = if version < 4 { 4 } else { 8 };
            word(&mut bytes, 1, 4);
            word(&mut bytes, u64::from(version), 4);
            word(&mut bytes, 3, 4);
            word(&mut bytes, 0, place);
            word(&mut bytes, 3, 4);
            word(&mut bytes, 4, 4);
            word(&mut bytes, 0, place);
            word(&mut bytes, 3, whole);
            for [x, y] in [[0.0, 0.0], [0.5, 0.0], [0.0, 0.25]] {
                [x, y, -1.0].iter().for_each(|&c| real(&mut bytes, c));
                word(&mut bytes, 9, whole);
            }
            word(&mut bytes, 6, 4);
            word(&mut bytes, 0, place);
            word(&mut bytes, 1, whole);
            [1, 2, 3, 0].iter().for_each(|&corner| word(&mut bytes, corner, whole));
            word(&mut bytes, 54, 4);
            let model = parse(&bytes, Format::Medit, None, &Progress::new()).unwrap();
            assert_eq!(model.mesh.positions[1], Vector3::new(0.5, 0.0, -1.0));
            assert_eq!(model.mesh.triangles, [[0, 1, 2]]);
        }
    }
}

#[test]
fn gmsh_with_names_gaps_in_the_numbers_and_lines() {
    let model = text(
        Format::Gmsh,
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"solid\"\n$EndPhysicalNames\n\
         $Nodes\n4\n70 0 0 0\n5 1 0 0\n1000000000000 0 1 0\n6 0 0 1\n$EndNodes\n\
         $Elements\n4\n1 15 2 0 1 5\n2 1 2 0 1 5 6\n3 2 2 0 1 70 5 6\n9 4 3 0 1 8 70 5 1000000000000 6\n\
         $EndElements\n$NodeData\nanything\n$EndNodeData\n",
    );
    assert_eq!(model.mesh.triangles, [[0, 1, 3]]);
    assert_eq!(model.mesh.tetrahedra, [[0, 1, 2, 3]]);
    assert_eq!(model.notes, ["2 points and lines are no surface and were left out"]);
}

#[test]
fn files_by_gmsh() {
    for name in
        ["box2.2_text.msh", "box2.2_binary.msh", "box4.1_text.msh", "box4.1_binary.msh", "box.mesh"]
    {
        let model = file(name).unwrap();
        let facts = inspect(&model.mesh);
        assert_eq!((facts.vertices, facts.tetrahedra, facts.triangles), (14, 24, 24), "{name}");
        assert_eq!(model.mesh.triangles.len(), 24, "{name}: the listed surface");
        assert_eq!(facts.defects, [], "{name}");
        assert!((facts.volume.unwrap() - 1.0).abs() < 1e-12, "{name}");
    }
    let error = file("second_order.msh").unwrap_err();
    assert!(
        matches!(error.problem, Problem::Unsupported { .. }) && matches!(error.at, At::Line(_))
    );
    assert!(error.to_string().contains("second-order elements (type 8)"), "{error}");
}

#[test]
fn files_by_vtk() {
    let expected = [[0, 1, 2, 3], [0, 2, 1, 4]];
    for mode in ["binary", "appended", "appended64"] {
        for compression in ["plain", "zlib", "lz4"] {
            let name = format!("{mode}_{compression}.vtu");
            let model = file(&name).unwrap();
            assert_eq!(model.mesh.tetrahedra, expected, "{name}");
            assert_eq!(model.mesh.triangles, [[0, 1, 2]], "{name}");
            assert_eq!(model.mesh.positions[4], Vector3::new(0.5, 0.25, -0.15), "{name}");
        }
    }
    for name in ["v42_text.vtk", "v42_binary.vtk", "v51_text.vtk", "v51_binary.vtk"] {
        let model = file(name).unwrap();
        assert_eq!(model.mesh.tetrahedra, expected, "{name}");
        assert_eq!(model.mesh.triangles, [[0, 1, 2]], "{name}");
    }
}

#[test]
fn vtk_polygons_strips_lines_and_data_behind() {
    let model = text(
        Format::Vtk,
        "# vtk DataFile Version 3.0\nany title\nascii\ndataset polydata\nPoints 5 double\n\
         0 0 0 1 0 0 1 1 0 0 1 0\n2 0 0\nLINES 1 3\n2 0 1\nPOLYGONS 2 9\n4 0 1 2 3\n3 0 1 2\n\
         TRIANGLE_STRIPS 1 6\n5 0 1 3 2 4\nPOINT_DATA 5\nSCALARS x float\nwhatever\n",
    );
    assert_eq!(
        model.mesh.triangles,
        [[0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 1, 3], [3, 1, 2], [3, 2, 4]]
    );
}

#[test]
fn vtu_with_two_pieces() {
    let piece = "<Piece NumberOfPoints=\"3\" NumberOfCells=\"1\"><PointData><DataArray type=\"Float32\" \
        Name=\"connectivity\" format=\"ascii\">nonsense</DataArray></PointData><Cells>\
        <DataArray type=\"Int32\" Name=\"connectivity\">0 1 2</DataArray>\
        <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">3</DataArray>\
        <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">5</DataArray></Cells>\
        <Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">\n0 0 0\n1 0 0\n0 1 0\n\
        </DataArray></Points></Piece>";
    let model = text(
        Format::Vtu,
        &format!(
            "<?xml version='1.0'?><!-- x --><VTKFile type=\"UnstructuredGrid\" version=\"0.1\">\
            <UnstructuredGrid>{piece}{piece}</UnstructuredGrid></VTKFile>"
        ),
    );
    assert_eq!(model.mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
}

#[test]
fn tetgen_counted_from_one_with_attributes_and_comments() {
    let nodes = "# by hand\n4 3 1 1\n\n  1  0 0 0  0.5 1\n2 1 0 0 0.5 1\n3 0 1 0 0.5 0\n4 0 0 1 0.5 0\n# end\n";
    let elements = "1  4  1\n1  1 2 3 4  7\n";
    let model =
        parse_tetgen(nodes.as_bytes(), elements.as_bytes(), [None; 2], &Progress::new()).unwrap();
    assert_eq!(model.mesh.tetrahedra, [[0, 1, 2, 3]]);
}

/// A triangle (0,0,0) (1,0,0) (0,1,0) in a buffer.
const BUFFER: &str = r#""bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,
"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]"#;

#[test]
fn gltf_nodes_place_their_meshes_and_mirrored_ones_are_turned_over() {
    let model = text(
        Format::Gltf,
        &format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[
            {{"children":[1,2],"translation":[10,0,0]}},
            {{"mesh":0,"name":"turned","rotation":[0,0,0.7071067811865476,0.7071067811865476],"scale":[2,2,2]}},
            {{"mesh":0,"name":"mirrored","matrix":[-1,0,0,0,0,1,0,0,0,0,1,0,0,0,5,1]}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],{BUFFER}}}"#
        ),
    );
    assert_eq!(model.mesh.triangles, [[0, 1, 2], [3, 5, 4]]);
    let close = |a: Vector3<f64>, b: [f64; 3]| (a - Vector3::from(b)).norm() < 1e-12;
    assert!(close(model.mesh.positions[1], [10.0, 2.0, 0.0]), "{}", model.mesh.positions[1]);
    assert!(close(model.mesh.positions[2], [8.0, 0.0, 0.0]));
    assert!(close(model.mesh.positions[4], [9.0, 0.0, 5.0]));
    assert_eq!(model.parts[1].name, "mirrored");
    let scene_less = text(
        Format::Gltf,
        &format!(
            r#"{{"asset":{{"version":"2.1"}},"nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{{"mode":5,"attributes":{{"POSITION":0}}}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],{BUFFER}}}"#
        ),
    );
    assert_eq!(scene_less.mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn gltf_sparse_morph_targets_and_joints_with_nodes_between() {
    let model = text(
        Format::Gltf,
        r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,1]}],"nodes":[
            {"mesh":0,"skin":0,"translation":[99,0,0]},
            {"name":"root","translation":[0,1,0],"children":[2]},
            {"translation":[0,2,0],"children":[3]},
            {"name":"tip","translation":[0,4,0]}],
            "skins":[{"joints":[3,1]}],
            "meshes":[{"weights":[0.5],"extras":{"targetNames":["bend"]},"primitives":[{
            "attributes":{"POSITION":0,"JOINTS_0":2,"WEIGHTS_0":3},"targets":[{"POSITION":1}]}]}],
            "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},
            {"componentType":5126,"count":3,"type":"VEC3","sparse":{"count":1,
            "indices":{"bufferView":1,"componentType":5121},"values":{"bufferView":2}}},
            {"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"},
            {"bufferView":3,"componentType":5121,"normalized":true,"count":3,"type":"VEC4"}],
            "bufferViews":[{"buffer":0,"byteLength":36},{"buffer":1,"byteLength":12},
            {"buffer":0,"byteOffset":12,"byteLength":12},{"buffer":2,"byteLength":12}],
            "buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"},
            {"byteLength":12,"uri":"data:;base64,AQAAAAEAAAABAAAA"},
            {"byteLength":12,"uri":"data:;base64,/wAAAP8AAAD/AAAA"}]}"#,
    );
    // The joints place a skinned mesh, not its node.
    assert_eq!(model.mesh.positions[1], Vector3::new(1.0, 0.0, 0.0));
    let target = &model.morph_targets[0];
    assert_eq!((target.name.as_str(), target.weight), ("bend", 0.5));
    let bent = Vector3::new(1.0, 0.0, 0.0);
    assert_eq!(target.displacements, [Vector3::zeros(), bent, Vector3::zeros()]);
    let skeleton = model.skeleton.unwrap();
    assert_eq!(skeleton.joints[0].name, "tip");
    assert_eq!(skeleton.joints[0].parent, Some(1));
    assert_eq!(skeleton.joints[0].local[(1, 3)], 6.0, "through the node between");
    assert_eq!(skeleton.joints[1].parent, None);
    assert_eq!(skeleton.bindings[2].joints, [1, 0, 0, 0]);
    assert_eq!(skeleton.bindings[2].weights, [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn an_exponent_of_nineteen_digits_is_zero() {
    let model = text(Format::Obj, "v 0.1e-9223372036854775807 0 0.1e-9223372036854775808\n");
    assert_eq!(model.mesh.positions, [Vector3::zeros()]);
}

#[test]
fn an_obj_comment_that_ends_with_a_backslash_is_only_a_comment() {
    let model = text(
        Format::Obj,
        "# C:\\models\\\nv 9 9 9\n  # again \\\nv 1 0 \\\n 0\nv 0 1 0\nf 1 2 3\n",
    );
    assert_eq!(model.mesh.positions.len(), 3);
    assert_eq!(model.mesh.positions[1], Vector3::new(1.0, 0.0, 0.0));
}

#[test]
fn obj_lines_that_end_with_a_carriage_return_alone_are_refused() {
    let error = parse(b"v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r", Format::Obj, None, &Progress::new());
    assert!(matches!(error.unwrap_err().problem, Problem::Unsupported { .. }));
}

#[test]
fn vtk_with_a_time_before_its_points() {
    let model = text(
        Format::Vtk,
        "# vtk DataFile Version 4.2\nt\nASCII\nDATASET POLYDATA\nFIELD FieldData 2\nTIME 1 1 double\n0.5\n\
         METADATA\nINFORMATION 0\n\nCYCLE 1 2 int\n3 4\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\nPOLYGONS 1 4\n3 0 1 2\n",
    );
    assert_eq!(model.mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn vtu_data_named_like_cells_does_not_replace_them() {
    let model = text(
        Format::Vtu,
        "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"3\" NumberOfCells=\"1\">\
         <Points><DataArray type=\"Float32\">0 0 0 1 0 0 0 1 0</DataArray></Points><Cells>\
         <DataArray type=\"Int32\" Name=\"connectivity\">0 1 2</DataArray>\
         <DataArray type=\"Int32\" Name=\"offsets\">3</DataArray>\
         <DataArray type=\"Int32\" Name=\"types\">5</DataArray></Cells>\
         <CellData><DataArray type=\"Int32\" Name=\"types\">12</DataArray></CellData>\
         </Piece></UnstructuredGrid></VTKFile>",
    );
    assert_eq!(model.mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn off_without_an_end_of_line_behind_the_magic() {
    assert_eq!(
        text(Format::Off, "OFF3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").mesh.triangles,
        [[0, 1, 2]]
    );
}

#[test]
fn ply_faces_under_another_name_are_noted() {
    let model = text(
        Format::Ply,
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
         element face 1\nproperty list uchar int ids\nend_header\n0 0 0\n3 0 0 0\n",
    );
    assert_eq!(model.notes, ["1 faces have no list vertex_indices and were left out"]);
}

#[test]
fn a_crowd_of_skinned_figures_is_read() {
    let (figures, joints) = (100, 60);
    let mut nodes: Vec<String> = (0..figures)
        .map(|k| format!("{{\"mesh\":0,\"skin\":{k},\"name\":\"figure {k}\"}}"))
        .collect();
    let mut skins = Vec::new();
    for figure in 0..figures {
        let first = nodes.len();
        nodes.extend((0..joints).map(|k| format!("{{\"name\":\"joint {figure} {k}\",\"translation\":[0.125,0.0625,1.5],\"rotation\":[0.5,0.5,0.5,0.5]}}")));
        let list: Vec<_> = (first..first + joints).map(|k| k.to_string()).collect();
        skins.push(format!("{{\"joints\":[{}]}}", list.join(",")));
    }
    let roots: Vec<_> = (0..nodes.len()).map(|k| k.to_string()).collect();
    let model = text(
        Format::Gltf,
        &format!(
            r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[{}]}}],"nodes":[{}],"skins":[{}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],{BUFFER}}}"#,
            roots.join(","),
            nodes.join(","),
            skins.join(",")
        ),
    );
    assert_eq!(model.skeleton.unwrap().joints.len(), figures * joints);
}
