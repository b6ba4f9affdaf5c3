//! Malformed files: a typed error that names the place, no panic, no hang, and no more memory than
//! 16 times the size of the file plus 1 MiB.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;
mod counting;

use std::path::Path;

use corpus::{Case, Dice, malformed, sound};
use defcol_io::{At, Format, Model, Problem, Progress, ReadError, parse, parse_tetgen, read};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Tests share one process with one allocator: only one may run at a time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn limit(size: usize) -> usize {
    16 * size + (1 << 20)
}

/// Reads within the memory that a reader may take; the bytes themselves are part of it.
fn parse_within_limit(case: &Case) -> Result<Model, ReadError> {
    let (result, peak) = counting::peak(|| {
        let bytes = case.bytes.clone();
        parse(&bytes, case.format, None, &Progress::default())
    });
    let limit = limit(case.bytes.len());
    assert!(peak <= limit, "{}: {peak} bytes for a file of {}", case.name, case.bytes.len());
    result
}

/// Starts the threads of the pool, whose stacks are not the reader's.
fn warm_up() {
    rayon::join(|| (), || ());
    for case in sound() {
        let _ = parse(&case.bytes, case.format, None, &Progress::default());
    }
}

#[test]
fn every_malformed_file_is_refused_at_a_place_and_within_memory() {
    let _alone = ALONE.lock();
    warm_up();
    let cases = malformed();
    assert!(cases.len() >= 150, "only {} cases", cases.len());
    for case in &cases {
        let error = match parse_within_limit(case) {
            Err(error) => error,
            // Nothing but white space or comments, or nodes without a mesh: no vertices.
            Ok(model) => panic!("{}: read {} vertices", case.name, model.mesh.positions.len()),
        };
        let whole_file = matches!(
            error.problem,
            Problem::NoVertices | Problem::Unsupported { .. } | Problem::MemoryLimit { .. }
        );
        assert!(error.at != At::File || whole_file, "{}: no place: {error}", case.name);
        assert!(!error.to_string().is_empty());
    }
    println!("{} malformed files refused", cases.len());
}

#[test]
fn sound_files_are_read_within_memory() {
    let _alone = ALONE.lock();
    warm_up();
    for case in sound() {
        let model =
            parse_within_limit(&case).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert!(!model.mesh.triangles.is_empty(), "{}", case.name);
    }
}

/// Files that are dense: as much mesh in as few bytes as the format allows.
#[test]
fn dense_files_are_read_or_refused_within_memory() {
    let _alone = ALONE.lock();
    warm_up();
    let many = 400_000;
    let dense = [
        (Format::Obj, format!("{}{}", "v 0 0 0\n".repeat(many), "f 1 1 1\n".repeat(many))),
        (Format::Obj, format!("v 0 0 0\nf{}\n", " 1".repeat(many))),
        (Format::Obj, format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf{}\n", " 1 3 2".repeat(5 * many))),
        (Format::Obj, format!("v 0 0 0\n{}", "f 1 1 1\ng\n".repeat(many))),
        (Format::Obj, "g\n".repeat(many)),
        (Format::Obj, format!("v 0 0 0\n{}", "f 1 1 1 1\n".repeat(many))),
        (Format::Obj, "v 0 \\\n0 0\n".repeat(many)),
        (Format::Off, format!("OFF {many} 1 0\n{}{many}{}", "0 0 0\n".repeat(many), " 0".repeat(many))),
        (Format::Off, format!("OFF 1 {many} 0\n0 0 0\n{}", "3 0 0 0\n".repeat(many))),
        (Format::Off, format!("OFF 1 {many} 0\n0 0 0\n{}", "4 0 0 0 0\n".repeat(many))),
        (
            Format::Ply,
            format!(
                "ply\nformat ascii 1.0\nelement vertex 1\nproperty uchar x\nproperty uchar y\n\
                 property uchar z\nelement face 1\nproperty list int int vertex_index\nend_header\n\
                 0 0 0\n{many}{}",
                " 0".repeat(many)
            ),
        ),
        (
            Format::Ply,
            format!(
                "ply\nformat ascii 1.0\nelement vertex 1\nproperty uchar x\nproperty uchar y\n\
                 property uchar z\nelement tristrips 1\nproperty list int int vertex_index\nend_header\n\
                 0 0 0\n{many}{}",
                " 0".repeat(many)
            ),
        ),
        (
            Format::Stl,
            format!(
                "solid\n{}endsolid\n",
                "facet normal 0 0 0 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet\n"
                    .repeat(many / 8)
            ),
        ),
        (
            Format::Medit,
            format!(
                "MeshVersionFormatted 1 Dimension 3 Vertices 1 0 0 0 0 Quadrilaterals {many} {}End",
                "1 1 1 1 0 ".repeat(many)
            ),
        ),
        (
            Format::Gmsh,
            format!(
                "$MeshFormat 2.2 0 8 $EndMeshFormat $Nodes {many} {}$EndNodes $Elements 0 $EndElements",
                (0..many).map(|k| format!("{} 0 0 0 ", many - k)).collect::<String>()
            ),
        ),
        (
            Format::Gmsh,
            format!(
                "$MeshFormat 2.2 0 8 $EndMeshFormat $Nodes 1 1 0 0 0 $EndNodes $Elements {many} {}$EndElements",
                "1 2 0 1 1 1 ".repeat(many)
            ),
        ),
        (
            Format::Vtk,
            format!(
                "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA POINTS 1 float 0 0 0 POLYGONS {many} {} {}",
                4 * many,
                "3 0 0 0 ".repeat(many)
            ),
        ),
        (
            Format::Vtk,
            format!(
                "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA POINTS 1 float 0 0 0 TRIANGLE_STRIPS 1 {} {many}{}",
                many + 1,
                " 0".repeat(many)
            ),
        ),
    ];
    for (index, (format, text)) in dense.into_iter().enumerate() {
        let case =
            Case { name: format!("dense {format} {index}"), format, bytes: text.into_bytes() };
        let _ = parse_within_limit(&case);
    }
    let nodes =
        format!("{many} 3 0 0\n{}", (0..many).map(|k| format!("{k} 0 0 0\n")).collect::<String>());
    let elements =
        format!("{many} 4 0\n{}", (0..many).map(|k| format!("{k} 0 1 2 3\n")).collect::<String>());
    let (read, peak) = counting::peak(|| {
        parse_tetgen(nodes.as_bytes(), elements.as_bytes(), [None; 2], &Progress::default())
    });
    assert_eq!(read.unwrap().mesh.tetrahedra.len(), many);
    assert!(peak <= limit(nodes.len() + elements.len()));
}

/// Files that make a careless reader go over the same bytes without end. They are read or refused; what
/// is tested is that this ends, and within memory.
#[test]
fn files_that_repeat_themselves_end_within_memory() {
    let _alone = ALONE.lock();
    warm_up();
    let gltf = |nodes: &str, mesh: &str, extra: &str| {
        let count = nodes.matches("},").count();
        let roots: Vec<_> = (0..=count).map(|k| k.to_string()).collect();
        format!(
            r#"{{{extra}"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[{}]}}],"nodes":[{nodes}{{}}],
            "skins":[{{"joints":[0]}}],"meshes":[{{{mesh}"primitives":[{{"attributes":{{"POSITION":0}},"targets":[{{"POSITION":0}}]}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],
            "bufferViews":[{{"buffer":0,"byteLength":36}}],
            "buffers":[{{"byteLength":36,"uri":"data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}}]}}"#,
            roots.join(",")
        )
    };
    let long = "n".repeat(1_000_000);
    let star = {
        // A star whose last corner is its centre: no ear anywhere.
        let corners: Vec<String> = (1..=1000).map(|k| ((k * 499) % 1000 + 1).to_string()).collect();
        let points: String = (0..1000)
            .map(|k| (k as f64 * std::f64::consts::TAU / 1000.0).sin_cos())
            .map(|(sin, cos)| format!("v {cos} {sin} 0\n"))
            .collect();
        format!("{points}v 0 0 0\n{}", format!("f {} 1001\n", corners.join(" ")).repeat(20))
    };
    let piece = "<Piece><Points><DataArray type=\"Float32\" format=\"appended\" offset=\"0\"/></Points></Piece>";
    let vtu = |head: &str, data: &str| {
        format!(
            "<VTKFile type=\"UnstructuredGrid\" {head}><UnstructuredGrid>{}</UnstructuredGrid>\
             <AppendedData encoding=\"base64\">_{data}</AppendedData></VTKFile>",
            piece.repeat(5_000)
        )
    };
    let cases = [
        (
            "a long name of a morph target",
            Format::Gltf,
            gltf(
                &"{\"mesh\":0},".repeat(1500),
                &format!("\"extras\":{{\"targetNames\":[\"{long}\"]}},"),
                "",
            ),
        ),
        (
            "a long name of a mesh",
            Format::Gltf,
            gltf(&"{\"mesh\":0},".repeat(20_000), &format!("\"name\":\"{long}\","), ""),
        ),
        (
            "many keys before those that are looked up",
            Format::Gltf,
            gltf(&"{\"mesh\":0,\"skin\":0},".repeat(10_000), "", &"\"x\":0,".repeat(200_000)),
        ),
        (
            "many keys in a mesh",
            Format::Gltf,
            gltf(&"{\"mesh\":0},".repeat(20_000), &"\"x\":0,".repeat(200_000), ""),
        ),
        ("polygons without ears", Format::Obj, star),
        (
            "white space before base64",
            Format::Vtu,
            vtu("", &format!("{}DAAAAAAAAAAAAAAAAAAAAA==", " ".repeat(1_000_000))),
        ),
        (
            "empty blocks",
            Format::Vtu,
            vtu(
                "compressor=\"vtkZLibDataCompressor\"",
                &format!("AAACAAAAAAAAAAAA{}", "AAAA".repeat(200_000)),
            ),
        ),
    ];
    for (name, format, text) in cases {
        let _ = parse_within_limit(&Case { name: name.into(), format, bytes: text.into_bytes() });
    }
}

/// Any bytes flipped, cut or doubled: a result or an error, never a panic.
#[test]
fn mutated_files_never_panic() {
    let _alone = ALONE.lock();
    warm_up();
    let mut dice = Dice(0x1234_5678_9abc_def1);
    for case in sound() {
        for round in 0..150 {
            let mut bytes = case.bytes.clone();
            for _ in 0..1 + dice.below(4) {
                let at = dice.below(bytes.len());
                match dice.below(4) {
                    0 => bytes[at] ^= 1 << dice.below(8),
                    1 => bytes[at] = b"0123456789-.e \n\xff\0"[dice.below(17)],
                    2 => bytes.truncate(at + 1),
                    _ => {
                        let end = (at + 1 + dice.below(40)).min(bytes.len());
                        let copy = bytes[at..end].to_vec();
                        bytes.splice(at..at, copy);
                    }
                }
            }
            let name = format!("{} mutated {round}", case.name);
            let _ = parse_within_limit(&Case { name, format: case.format, bytes });
        }
    }
}

#[test]
fn malformed_tetgen_files_are_refused_at_a_line() {
    let _alone = ALONE.lock();
    let nodes = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
    let elements = "1 4 0\n1 1 2 3 4\n";
    parse_tetgen(nodes.as_bytes(), elements.as_bytes(), [None; 2], &Progress::default()).unwrap();
    let cases = [
        ("", elements),
        (nodes, ""),
        ("5 3 0 0\n1 0 0 0", elements),
        ("4 2 0 0\n1 0 0", elements),
        ("9999999999 3 0 0\n", elements),
        ("4 3 0 0\n1 0 0 0\n3 1 0 0\n", elements),
        ("4 3 0 0\n7 0 0 0\n", elements),
        ("4 3 0 0\n1 nan 0 0\n2 0 0 0\n3 0 0 0\n4 0 0 0\n", elements),
        (nodes, "1 10 0\n1 1 2 3 4 1 2 3 4 1 2\n"),
        (nodes, "2 4 0\n1 1 2 3 4\n"),
        (nodes, "1 4 0\n1 1 2 3 5\n"),
        (nodes, "1 4 0\n1 0 1 2 3\n"),
        (nodes, "99999999999 4 0\n"),
    ];
    for (nodes, elements) in cases {
        let error =
            parse_tetgen(nodes.as_bytes(), elements.as_bytes(), [None; 2], &Progress::default());
        let error = error.expect_err(nodes);
        assert!(error.at != At::File, "{error}");
    }
}

#[test]
fn references_stay_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let data: Vec<u8> =
        [0f32, 0., 0., 1., 0., 0., 0., 1., 0.].iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(inside.join("own data.bin"), &data).unwrap();
    std::fs::write(folder.path().join("secret.bin"), &data).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.bin"), inside.join("link.bin")).unwrap();
    let absolute = folder.path().join("secret.bin").display().to_string();
    let model = |uri: &str| {
        let text = format!(
            r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}}],
            "bufferViews":[{{"buffer":0,"byteLength":36}}],"buffers":[{{"byteLength":36,"uri":"{uri}"}}]}}"#
        );
        let path = inside.join("model.gltf");
        std::fs::write(&path, text).unwrap();
        read(&path, &Progress::default())
    };
    assert_eq!(model("own%20data.bin").unwrap().mesh.triangles, [[0, 1, 2]]);
    for uri in [
        "../secret.bin",
        "%2e%2e/secret.bin",
        "./../secret.bin",
        &absolute,
        "https://host/x.bin",
        "file:///etc/passwd",
        "",
        ".",
    ] {
        let error = model(uri).expect_err(uri);
        let refused = matches!(error.problem, Problem::OutsideFolder(_) | Problem::Io(_));
        assert!(refused, "{uri}: {error}");
    }
    #[cfg(unix)]
    assert!(matches!(model("link.bin").unwrap_err().problem, Problem::OutsideFolder(_)));
    assert!(matches!(model("missing.bin").unwrap_err().problem, Problem::Io(_)));
}

#[test]
fn paths_that_are_no_files() {
    for path in ["/", "/dev/null.obj", "no/such/file.ply", "mesh.xyz", "mesh"] {
        assert!(read(Path::new(path), &Progress::default()).is_err());
    }
    let error = read(Path::new("mesh.foo"), &Progress::default()).unwrap_err();
    assert!(error.to_string().contains(".obj .ply .stl"), "{error}");
}
