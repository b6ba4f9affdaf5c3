//! Makes malformed files: cut off, with counts that lie, indices out of range, NaN and infinity,
//! wrong beginnings, deep nesting, announcements of huge sizes.

use defcol::mesh::RawMesh;
use defcol_io::{Encoding, Format, GmshVersion, Model, Progress, WriteOptions, encode};
use defcol_scenes::regular::{box_grid, torus};

pub struct Case {
    pub name: String,
    pub format: Format,
    pub bytes: Vec<u8>,
}

fn case(name: impl Into<String>, format: Format, bytes: impl Into<Vec<u8>>) -> Case {
    Case { name: name.into(), format, bytes: bytes.into() }
}

/// Sound files of every format and encoding.
pub fn sound() -> Vec<Case> {
    let surface = Model::from_mesh(torus(2.0, 0.5, 9, 7).cast::<f32>().cast());
    let solid =
        Model::from_mesh(RawMesh { triangles: vec![[0, 1, 2]], ..box_grid([3, 2, 2], 0.25) });
    let mut cases = Vec::new();
    for format in Format::ALL.into_iter().filter(|f| f.is_written() && *f != Format::TetGen) {
        let model = if format.holds_tetrahedra() { &solid } else { &surface };
        for encoding in [Encoding::Binary, Encoding::Ascii, Encoding::BinaryBigEndian] {
            for gmsh in [GmshVersion::V2, GmshVersion::V4] {
                let skip = (format != Format::Ply && encoding == Encoding::BinaryBigEndian)
                    || (format != Format::Gmsh && gmsh == GmshVersion::V2)
                    || (matches!(format, Format::Obj | Format::Glb) && encoding == Encoding::Ascii);
                if skip {
                    continue;
                }
                let mut bytes = Vec::new();
                let options = WriteOptions { encoding, gmsh };
                encode(&mut bytes, model, format, &options, &Progress::default()).unwrap();
                cases.push(case(format!("{format} {encoding:?} {gmsh:?}"), format, bytes));
            }
        }
    }
    cases.push(case("legacy VTK text", Format::Vtk, VTK_TEXT));
    cases.push(case("legacy VTK binary", Format::Vtk, vtk_binary()));
    cases.push(case("glTF", Format::Gltf, gltf("0", "\"POSITION\":0", "")));
    cases
}

const VTK_TEXT: &str = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n\
    POINTS 4 float\n0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 2 9\n3 0 1 2\n4 0 1 2 3\nCELL_TYPES 2\n5 10\n";

fn vtk_binary() -> Vec<u8> {
    let mut bytes =
        b"# vtk DataFile Version 3.0\ntitle\nBINARY\nDATASET POLYDATA\nPOINTS 4 double\n".to_vec();
    for x in [0., 0., 0., 1., 0., 0., 0., 1., 0., 1., 1., 0.] {
        bytes.extend(f64::to_be_bytes(x));
    }
    bytes.extend(b"\nPOLYGONS 2 8\n");
    for k in [3u32, 0, 1, 2, 3, 1, 3, 2] {
        bytes.extend(k.to_be_bytes());
    }
    bytes
}

/// A glTF with one triangle in a data URI; `node` is the mesh of its node.
fn gltf(node: &str, attributes: &str, extra: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":{node}}}],
"meshes":[{{"primitives":[{{"attributes":{{{attributes}}}}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],
"bufferViews":[{{"buffer":0,"byteLength":36}}],
"buffers":[{{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}}]{extra}}}"#
    )
}

/// A GLB around some JSON.
fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((28 + json.len() as u32 + binary.len() as u32).to_le_bytes());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(json.as_bytes());
    bytes.extend((binary.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(binary);
    bytes
}

/// Deterministic places to cut and flip.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Files that every reader must refuse.
pub fn malformed() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut dice = Dice(88_172_645_463_325_252);
    for Case { name, format, bytes } in sound() {
        // An OBJ has no end to miss: cut inside a line it is tested below.
        if format != Format::Obj {
            for _ in 0..6 {
                // The last tenth may be white space, or a number that is still one when cut.
                let length = dice.below(bytes.len() * 9 / 10).max(1);
                cases.push(case(format!("{name} cut at {length}"), format, &bytes[..length]));
            }
        }
        let mut wrong = bytes.clone();
        wrong[..4].copy_from_slice(b"@?!\0");
        if !(format == Format::Stl && wrong.len() > 84) {
            cases.push(case(format!("{name} with a wrong beginning"), format, wrong));
        }
    }
    for format in Format::ALL {
        cases.push(case(format!("empty {format}"), format, ""));
        cases.push(case(format!("{format} of zeros"), format, vec![0; 83]));
        cases.push(case(format!("{format} of white space"), format, " \n \n "));
    }
    cases.extend(text_cases());
    cases.extend(binary_cases());
    cases.extend(gltf_cases());
    cases
}

fn text_cases() -> Vec<Case> {
    let huge = "4000000000";
    let mut cases = Vec::new();
    let mut add = |name: &str, format, text: String| cases.push(case(name, format, text));
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    for (name, tail) in [
        ("index out of range", "f 1 2 4\n"),
        ("index zero", "f 0 1 2\n"),
        ("index too far back", "f -1 -2 -4\n"),
        ("index beyond 64 bits", "f 1 2 99999999999999999999\n"),
        ("fraction as index", "f 1 2 2.5\n"),
        ("two corners", "f 1 2\n"),
        ("no corners", "f\n"),
        ("NaN", "v 0 nan 0\n"),
        ("infinity", "v 0 inf 0\n"),
        ("overflow", "v 0 1e999 0\n"),
        ("out of range", "v 0 1e61 0\n"),
        ("missing coordinate", "v 1 2\nf 1 2 3\n"),
        ("word as coordinate", "v a b c\n"),
        ("unknown keyword", "frobnicate 1 2\n"),
        ("inclusion of a file", "call other.obj\n"),
        ("curved surface", "cstype bspline\n"),
        ("cut in a line", "f 1 2"),
        ("cut behind a slash", "f 1/1 2/2"),
    ] {
        add(&format!("OBJ with {name}"), Format::Obj, format!("{obj}{tail}"));
    }
    let ply = |vertices: &str, faces: &str, body: &str| {
        format!(
            "ply\nformat ascii 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\n\
             property float z\nelement face {faces}\nproperty list uchar int vertex_indices\n\
             end_header\n{body}"
        )
    };
    let square = "0 0 0\n1 0 0\n0 1 0\n";
    add("PLY with a huge count of vertices", Format::Ply, ply(huge, "1", square));
    add("PLY with a huge count of faces", Format::Ply, ply("3", huge, square));
    add("PLY with a negative count", Format::Ply, ply("-3", "1", square));
    add("PLY with too large a count", Format::Ply, ply("4", "1", &format!("{square}3 0 1 2\n")));
    add(
        "PLY with an index out of range",
        Format::Ply,
        ply("3", "1", &format!("{square}3 0 1 3\n")),
    );
    add("PLY with a huge list", Format::Ply, ply("3", "1", &format!("{square}{huge} 0 1 2\n")));
    add("PLY with a face of two", Format::Ply, ply("3", "1", &format!("{square}2 0 1\n")));
    add("PLY with NaN", Format::Ply, ply("3", "1", "0 0 0\n1 NaN 0\n0 1 0\n3 0 1 2\n"));
    add(
        "PLY without positions",
        Format::Ply,
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float q\nend_header\n0\n".into(),
    );
    add("PLY with vertices without properties", Format::Ply, "ply\nformat ascii 1.0\nelement vertex 9\nelement face 1\nproperty list uchar int vertex_index\nend_header\n3 0 1 2\n".into());
    add(
        "PLY with an unknown type",
        Format::Ply,
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\nend_header\n".into(),
    );
    add(
        "PLY with a property of nothing",
        Format::Ply,
        "ply\nformat ascii 1.0\nproperty float x\nend_header\n".into(),
    );
    add("PLY without a format", Format::Ply, "ply\nelement vertex 1\nend_header\n".into());
    add(
        "PLY with many elements",
        Format::Ply,
        format!("ply\nformat ascii 1.0\n{}", "element e 0\n".repeat(100_000)),
    );
    let off = |counts: &str, body: &str| format!("OFF\n{counts}\n{body}");
    add("OFF with a huge count", Format::Off, off(&format!("{huge} 1 0"), square));
    add("OFF with a huge count of faces", Format::Off, off(&format!("3 {huge} 0"), square));
    add("OFF with an index out of range", Format::Off, off("3 1 0", &format!("{square}3 0 1 7\n")));
    add("OFF with a negative index", Format::Off, off("3 1 0", &format!("{square}3 0 -1 2\n")));
    add("OFF with infinity", Format::Off, off("3 1 0", "0 0 0\n1 -inf 0\n0 1 0\n3 0 1 2\n"));
    add("OFF with four dimensions", Format::Off, "4OFF\n1 0 0\n0 0 0 0\n".into());
    add("STL with NaN", Format::Stl, "solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex nan 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n".into());
    add("STL with four corners", Format::Stl, "solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n".into());
    let medit = |body: &str| format!("MeshVersionFormatted 2\nDimension 3\n{body}\nEnd\n");
    let four = "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n";
    add("Medit with a huge count", Format::Medit, medit(&format!("Vertices {huge}\n0 0 0 0")));
    add(
        "Medit with an index out of range",
        Format::Medit,
        medit(&format!("{four}Tetrahedra 1\n1 2 3 5 0")),
    );
    add("Medit with index zero", Format::Medit, medit(&format!("{four}Triangles 1\n0 2 3 0")));
    add(
        "Medit with hexahedra",
        Format::Medit,
        medit(&format!("{four}Hexahedra 1\n1 2 3 4 1 2 3 4 0")),
    );
    add(
        "Medit in the plane",
        Format::Medit,
        "MeshVersionFormatted 2\nDimension 2\nVertices 1\n0 0 0\nEnd\n".into(),
    );
    add("Medit with NaN", Format::Medit, medit("Vertices 1\nnan 0 0 0"));
    let msh2 = |nodes: &str, elements: &str| {
        format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{nodes}\n$EndNodes\n$Elements\n{elements}\n$EndElements\n"
        )
    };
    let nodes = "4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1";
    add("Gmsh with a huge count", Format::Gmsh, msh2(&format!("{huge}\n1 0 0 0"), "0"));
    add(
        "Gmsh with a huge count of elements",
        Format::Gmsh,
        msh2(nodes, &format!("{huge}\n1 4 0 1 2 3 4")),
    );
    add("Gmsh with a number out of range", Format::Gmsh, msh2(nodes, "1\n1 4 0 1 2 3 9"));
    add("Gmsh with a number twice", Format::Gmsh, msh2("2\n1 0 0 0\n1 1 0 0", "0"));
    add("Gmsh of second order", Format::Gmsh, msh2(nodes, "1\n1 11 0 1 2 3 4 1 2 3 4 1 2"));
    add("Gmsh with hexahedra", Format::Gmsh, msh2(nodes, "1\n1 5 0 1 2 3 4 1 2 3 4"));
    add("Gmsh with an unknown type", Format::Gmsh, msh2(nodes, "1\n1 999 0 1 2 3 4"));
    add("Gmsh with NaN", Format::Gmsh, msh2("1\n1 nan 0 0", "0"));
    add("Gmsh of version 1", Format::Gmsh, "$MeshFormat\n1.0 0 8\n$EndMeshFormat\n".into());
    add(
        "Gmsh with a section without end",
        Format::Gmsh,
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Foo\n1 2 3\n".into(),
    );
    let msh4 =
        |nodes: &str| format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n{nodes}\n$EndNodes\n");
    add(
        "Gmsh 4.1 with a huge count",
        Format::Gmsh,
        msh4(&format!("1 {huge} 1 {huge}\n2 1 0 {huge}\n1")),
    );
    add(
        "Gmsh 4.1 with too many in a block",
        Format::Gmsh,
        msh4("1 1 1 1\n2 1 0 2\n1\n2\n0 0 0\n0 0 0"),
    );
    add("Gmsh 4.1 with too few in its blocks", Format::Gmsh, msh4("1 2 1 2\n2 1 0 1\n1\n0 0 0"));
    let vtk = |body: &str| {
        format!("# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n{body}\n")
    };
    let points = "POINTS 4 float\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n";
    add("VTK with a huge count", Format::Vtk, vtk(&format!("POINTS {huge} float\n0 0 0")));
    add(
        "VTK with an index out of range",
        Format::Vtk,
        vtk(&format!("{points}CELLS 1 4\n3 0 1 4\nCELL_TYPES 1\n5")),
    );
    add(
        "VTK with a cell that overflows",
        Format::Vtk,
        vtk(&format!("{points}CELLS 1 4\n9 0 1 2\nCELL_TYPES 1\n5")),
    );
    add(
        "VTK with too many cells",
        Format::Vtk,
        vtk(&format!("{points}CELLS 1 8\n3 0 1 2 3 0 1 2\nCELL_TYPES 1\n5")),
    );
    add(
        "VTK with hexahedra",
        Format::Vtk,
        vtk(&format!("{points}CELLS 1 9\n8 0 1 2 3 0 1 2 3\nCELL_TYPES 1\n12")),
    );
    add(
        "VTK of second order",
        Format::Vtk,
        vtk(&format!("{points}CELLS 1 7\n6 0 1 2 3 0 1\nCELL_TYPES 1\n22")),
    );
    add("VTK with types missing", Format::Vtk, vtk(&format!("{points}CELLS 1 4\n3 0 1 2")));
    add(
        "VTK with too few types",
        Format::Vtk,
        vtk(&format!("{points}CELLS 2 8\n3 0 1 2\n3 0 1 3\nCELL_TYPES 1\n5")),
    );
    add(
        "VTK with a triangle of four",
        Format::Vtk,
        vtk(&format!("{points}CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n5")),
    );
    add("VTK with NaN", Format::Vtk, vtk("POINTS 1 float\nnan 0 0"));
    add(
        "VTK of a structured grid",
        Format::Vtk,
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n".into(),
    );
    add(
        "VTK with falling offsets",
        Format::Vtk,
        vtk(&format!(
            "{points}CELLS 3 3\nOFFSETS vtktypeint64\n0 3 2\nCONNECTIVITY vtktypeint64\n0 1 2\nCELL_TYPES 2\n5 5"
        )),
    );
    cases.extend(vtu_cases());
    cases
}

fn vtu_cases() -> Vec<Case> {
    let vtu = |head: &str, points: &str, connectivity: &str, offsets: &str, types: &str| {
        format!(
            "<VTKFile type=\"UnstructuredGrid\" {head}><UnstructuredGrid>\
             <Piece NumberOfPoints=\"3\" NumberOfCells=\"1\"><Points>\
             <DataArray type=\"Float32\" NumberOfComponents=\"3\" {points}</DataArray></Points><Cells>\
             <DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">{connectivity}</DataArray>\
             <DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">{offsets}</DataArray>\
             <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">{types}</DataArray>\
             </Cells></Piece></UnstructuredGrid></VTKFile>"
        )
    };
    let sound = "format=\"ascii\">0 0 0 1 0 0 0 1 0";
    let zlib = "compressor=\"vtkZLibDataCompressor\"";
    [
        ("an index out of range", vtu("", sound, "0 1 3", "3", "5")),
        ("an offset out of range", vtu("", sound, "0 1 2", "4", "5")),
        ("falling offsets", vtu("", sound, "0 1 2", "3 1", "5 5")),
        ("too few types", vtu("", sound, "0 1 2", "3", "")),
        ("too few points", vtu("", "format=\"ascii\">0 0 0 1 0 0", "0 1 1", "3", "5")),
        ("half a point", vtu("", "format=\"ascii\">0 0 0 1 0", "0 1 1", "3", "5")),
        ("NaN", vtu("", "format=\"ascii\">0 0 0 nan 0 0 0 1 0", "0 1 2", "3", "5")),
        ("broken base64", vtu("", "format=\"binary\">JAAAA", "0 1 2", "3", "5")),
        ("a huge length", vtu("", "format=\"binary\">/////wAAAAAAAAAA", "0 1 2", "3", "5")),
        (
            "a huge number of blocks",
            vtu(zlib, "format=\"binary\">/////wAAAAAAAAAA", "0 1 2", "3", "5"),
        ),
        (
            "garbage in zlib",
            vtu(
                zlib,
                "format=\"binary\">AQAAAAAAAQAAAAAADAAAAAAAAAAAAAAAAAAAAA==",
                "0 1 2",
                "3",
                "5",
            ),
        ),
        (
            "appended data that is missing",
            vtu("", "format=\"appended\" offset=\"0\">", "0 1 2", "3", "5"),
        ),
        (
            "an unknown compression",
            vtu("compressor=\"vtkLZMADataCompressor\"", sound, "0 1 2", "3", "5"),
        ),
        ("hexahedra", vtu("", sound, "0 1 2 0 1 2 0 1", "8", "12")),
        (
            "a tag that is not closed",
            "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece>".into(),
        ),
        ("a crossed tag", "<VTKFile type=\"UnstructuredGrid\"><a></b></VTKFile>".into()),
        ("another kind", "<VTKFile type=\"ImageData\"></VTKFile>".into()),
        ("deep nesting", format!("<VTKFile type=\"UnstructuredGrid\">{}", "<a>".repeat(200_000))),
    ]
    .into_iter()
    .map(|(name, text)| case(format!("VTU with {name}"), Format::Vtu, text))
    .collect()
}

fn binary_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut stl = vec![0u8; 84 + 50];
    stl[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    cases.push(case("binary STL with a huge count", Format::Stl, stl.clone()));
    stl[80..84].copy_from_slice(&1u32.to_le_bytes());
    stl[84 + 12..84 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
    cases.push(case("binary STL with NaN", Format::Stl, stl));
    let header = |vertices: u64, faces: u64| {
        format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\nproperty float x\n\
             property float y\nproperty float z\nelement face {faces}\n\
             property list uint int vertex_indices\nend_header\n"
        )
        .into_bytes()
    };
    let ply = |vertices, faces, positions: &[f32], words: &[u32]| {
        let mut bytes = header(vertices, faces);
        bytes.extend(positions.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend(words.iter().flat_map(|x| x.to_le_bytes()));
        bytes
    };
    let triangle = [0., 0., 0., 1., 0., 0., 0., 1., 0.];
    for (name, bytes) in [
        ("a huge count of vertices", ply(u64::MAX / 8, 1, &triangle, &[])),
        ("a huge count of faces", ply(3, u64::MAX / 8, &triangle, &[3, 0, 1, 2])),
        ("an index out of range", ply(3, 1, &triangle, &[3, 0, 1, 3])),
        ("a negative index", ply(3, 1, &triangle, &[3, 0, u32::MAX, 2])),
        ("a huge list", ply(3, 1, &triangle, &[u32::MAX, 0, 1, 2])),
        ("a face of two", ply(3, 1, &triangle, &[2, 0, 1])),
        ("a polygon out of range", ply(3, 1, &triangle, &[4, 0, 1, 2, 3])),
        ("NaN", ply(3, 1, &[0., 0., 0., f32::NAN, 0., 0., 0., 1., 0.], &[3, 0, 1, 2])),
        ("infinity", ply(3, 1, &[0., 0., 0., 1., 0., 0., 0., 1., f32::INFINITY], &[3, 0, 1, 2])),
    ] {
        cases.push(case(format!("binary PLY with {name}"), Format::Ply, bytes));
    }
    let words = |list: &[u32]| list.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    for (name, list) in [
        ("an unknown version", vec![1, 9]),
        ("a section that leads back", vec![1, 2, 99, 0]),
        ("a section that leads nowhere", vec![1, 2, 99, 5000]),
        ("a huge count", vec![1, 2, 3, 20, 3, 4, 9999, u32::MAX]),
        ("hexahedra", vec![1, 2, 10, 40, 1]),
        ("an index without vertices", vec![1, 2, 6, 40, 1, 1, 2, 3, 0, 54, 0]),
    ] {
        cases.push(case(format!("Medit binary with {name}"), Format::Medit, words(&list)));
    }
    let mut off = b"OFF BINARY\n".to_vec();
    off.extend([0x7fu8, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
    cases.push(case("binary OFF with a huge count", Format::Off, off));
    cases
}

fn gltf_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let position = "\"POSITION\":0";
    let with = |from: &str, to: &str| gltf("0", position, "").replace(from, to);
    for (name, text) in [
        ("a mesh out of range", gltf("7", position, "")),
        ("an accessor out of range", gltf("0", "\"POSITION\":5", "")),
        ("no positions", gltf("0", "\"NORMAL\":0", "")),
        (
            "a required compression",
            gltf("0", position, ",\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]"),
        ),
        (
            "a cycle of nodes",
            with("\"nodes\":[{\"mesh\":0}]", "\"nodes\":[{\"mesh\":0,\"children\":[0]}]"),
        ),
        (
            "a child out of range",
            with("\"nodes\":[{\"mesh\":0}]", "\"nodes\":[{\"mesh\":0,\"children\":[4]}]"),
        ),
        ("an infinite transform", with("\"mesh\":0", "\"mesh\":0,\"translation\":[1e999,0,0]")),
        (
            "a transform that overflows",
            with("\"mesh\":0", "\"mesh\":0,\"scale\":[1e300,1,1],\"translation\":[1e300,0,0]"),
        ),
        ("a short transform", with("\"mesh\":0", "\"mesh\":0,\"matrix\":[1,2]")),
        ("a huge accessor", with("\"count\":3", "\"count\":3000000000")),
        (
            "a huge accessor of nothing",
            with("\"bufferView\":0,", "").replace("\"count\":3", "\"count\":3000000000"),
        ),
        (
            "a huge stride",
            with("\"byteLength\":36}]", "\"byteLength\":36,\"byteStride\":9007199254740991}]"),
        ),
        (
            "a stride that is too small",
            with("\"byteLength\":36}]", "\"byteLength\":36,\"byteStride\":4}]"),
        ),
        (
            "a view beyond its buffer",
            with("\"byteLength\":36}]", "\"byteLength\":36,\"byteOffset\":12}]"),
        ),
        ("a buffer that is missing", with("\"buffer\":0", "\"buffer\":3")),
        ("whole triangles missing", with("\"count\":3", "\"count\":2")),
        (
            "a buffer in another folder",
            with("data:application/octet-stream;base64,", "../secret.bin?"),
        ),
        ("a buffer at a URL", with("data:application/octet-stream;base64,", "http://example.com/")),
        ("broken base64", with("AAAAAAAAAAAAAAAAAACAPw", "A")),
        ("a base64 that is none", with(";base64", "")),
        ("no version", with("\"version\":\"2.0\"", "")),
        ("another version", with("2.0", "1.0")),
        ("a document that is cut", with("\"buffers\"", "")),
        ("deep nesting", "[".repeat(100_000)),
        ("deep objects", "{\"a\":".repeat(100_000)),
        ("a chain of nodes", {
            let nodes: Vec<_> = (1..5000).map(|k| format!("{{\"children\":[{k}]}}")).collect();
            format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{},{{}}]}}", nodes.join(","))
        }),
        (
            "nothing but nodes",
            format!(
                "{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{}{{}}]}}",
                "{},".repeat(300_000)
            ),
        ),
        (
            "nothing but numbers",
            format!(
                "{{\"asset\":{{\"version\":\"2.0\"}},\"accessors\":[{}0]}}",
                "0,".repeat(500_000)
            ),
        ),
        ("many instances of one mesh", {
            let nodes = "{\"mesh\":0},".repeat(200_000);
            let roots: Vec<_> = (0..200_000).map(|k| k.to_string()).collect();
            gltf("0", position, "")
                .replace("\"nodes\":[0]", &format!("\"nodes\":[{}]", roots.join(",")))
                .replace("\"nodes\":[{\"mesh\":0}]", &format!("\"nodes\":[{nodes}{{\"mesh\":0}}]"))
        }),
    ] {
        cases.push(case(format!("glTF with {name}"), Format::Gltf, text));
    }
    let inner = gltf("0", position, "").replace(",\"uri\":\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"", "");
    let mut old = glb(&inner, &[0; 36]);
    old[4] = 1;
    cases.push(case("GLB of version 1", Format::Glb, old));
    cases.push(case("GLB with too short a buffer", Format::Glb, glb(&inner, &[0; 20])));
    let mut lying = glb(&inner, &[0; 36]);
    lying[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    cases.push(case("GLB with a huge chunk", Format::Glb, lying));
    cases.push(case("GLB without JSON", Format::Glb, b"glTF\x02\0\0\0\x0c\0\0\0".to_vec()));
    cases
}
