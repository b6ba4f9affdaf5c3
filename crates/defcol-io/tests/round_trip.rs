//! What is written is read back: the same bits in binary formats, and in text by shortest decimals.

use defcol::math::Vector3;
use defcol::mesh::RawMesh;
use defcol_io::{
    Binding, Encoding, Format, GmshVersion, Joint, Model, MorphTarget, Part, Progress, Skeleton,
    WriteOptions, encode, parse, read, write,
};
use defcol_scenes::regular::{box_grid, torus};
use nalgebra::Matrix4;
use proptest::prelude::*;

const BINARY: WriteOptions = WriteOptions { encoding: Encoding::Binary, gmsh: GmshVersion::V4 };
const TEXT: WriteOptions = WriteOptions { encoding: Encoding::Ascii, gmsh: GmshVersion::V4 };
const BIG: WriteOptions =
    WriteOptions { encoding: Encoding::BinaryBigEndian, gmsh: GmshVersion::V4 };
const OLD: WriteOptions = WriteOptions { encoding: Encoding::Binary, gmsh: GmshVersion::V2 };
const OLD_TEXT: WriteOptions = WriteOptions { encoding: Encoding::Ascii, gmsh: GmshVersion::V2 };

/// Every way in which a surface is written; true where coordinates are single precision.
const SURFACES: &[(Format, WriteOptions, bool)] = &[
    (Format::Obj, BINARY, false),
    (Format::Ply, BINARY, false),
    (Format::Ply, BIG, false),
    (Format::Ply, TEXT, false),
    (Format::Off, TEXT, false),
    (Format::Off, BINARY, true),
    (Format::Glb, BINARY, true),
    (Format::Medit, TEXT, false),
    (Format::Medit, BINARY, false),
    (Format::Gmsh, BINARY, false),
    (Format::Gmsh, TEXT, false),
    (Format::Gmsh, OLD, false),
    (Format::Gmsh, OLD_TEXT, false),
    (Format::Vtu, BINARY, false),
    (Format::Vtu, TEXT, false),
];

fn there_and_back(model: &Model, format: Format, options: &WriteOptions) -> Model {
    let mut bytes = Vec::new();
    encode(&mut bytes, model, format, options, &Progress::default()).unwrap();
    parse(&bytes, format, None, &Progress::default())
        .unwrap_or_else(|error| panic!("{format} {options:?}: {error}"))
}

fn bits(mesh: &RawMesh<f64>) -> Vec<u64> {
    mesh.positions.iter().flatten().map(|x| x.to_bits()).collect()
}

fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<i8>().prop_map(f64::from),
        any::<u64>().prop_map(f64::from_bits).prop_filter("in range", |x| x.abs() <= 1e60),
        Just(-0.0),
        Just(f64::from_bits(1)),
        Just(1e60),
    ]
}

fn meshes(coordinate: impl Strategy<Value = f64>) -> impl Strategy<Value = RawMesh<f64>> {
    let positions =
        prop::collection::vec(prop::array::uniform3(coordinate).prop_map(Vector3::from), 4..40);
    (positions, 0usize..40, 0usize..40, any::<u32>()).prop_map(
        |(positions, triangles, tetrahedra, seed)| {
            let vertices = positions.len() as u32;
            let index = |k: usize| {
                (seed ^ (k as u32).wrapping_mul(2_654_435_769)).wrapping_mul(2_246_822_519)
                    % vertices
            };
            RawMesh {
                positions,
                triangles: (0..triangles).map(|t| [0, 1, 2].map(|k| index(7 * t + k))).collect(),
                tetrahedra: (0..tetrahedra)
                    .map(|t| [0, 1, 2, 3].map(|k| index(5 * t + k + 900)))
                    .collect(),
            }
        },
    )
}

proptest! {
    #[test]
    fn surfaces(mesh in meshes(coordinate())) {
        let model = Model::from_mesh(RawMesh { tetrahedra: vec![], ..mesh });
        for (format, options, single) in SURFACES {
            if *single {
                continue;
            }
            let back = there_and_back(&model, *format, options);
            prop_assert_eq!(bits(&back.mesh), bits(&model.mesh), "{} {:?}", format, options);
            prop_assert_eq!(&back.mesh.triangles, &model.mesh.triangles, "{} {:?}", format, options);
        }
    }

    #[test]
    fn surfaces_in_single_precision(mesh in meshes(any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from))) {
        let model = Model::from_mesh(RawMesh { tetrahedra: vec![], ..mesh });
        for (format, options, _) in SURFACES {
            let back = there_and_back(&model, *format, options);
            prop_assert_eq!(bits(&back.mesh), bits(&model.mesh), "{} {:?}", format, options);
            prop_assert_eq!(&back.mesh.triangles, &model.mesh.triangles, "{} {:?}", format, options);
        }
    }

    #[test]
    fn solids(mesh in meshes(coordinate())) {
        let model = Model::from_mesh(mesh);
        for (format, options, _) in SURFACES.iter().filter(|(format, ..)| format.holds_tetrahedra()) {
            let back = there_and_back(&model, *format, options);
            prop_assert_eq!(bits(&back.mesh), bits(&model.mesh));
            prop_assert_eq!(&back.mesh, &model.mesh, "{} {:?}", format, options);
        }
    }
}

#[test]
fn stl_keeps_every_corner_of_every_triangle() {
    let model = Model::from_mesh(torus(2.0, 0.5, 30, 20).cast::<f32>().cast());
    for options in [BINARY, TEXT] {
        let back = there_and_back(&model, Format::Stl, &options);
        assert_eq!(back.mesh.positions.len(), model.mesh.positions.len(), "welded");
        let corners = |mesh: &RawMesh<f64>| -> Vec<[u64; 3]> {
            let at = |&v: &u32| mesh.positions[v as usize];
            mesh.triangles
                .iter()
                .flatten()
                .map(at)
                .map(|p| [p.x, p.y, p.z].map(f64::to_bits))
                .collect()
        };
        assert_eq!(corners(&back.mesh), corners(&model.mesh));
        assert_eq!(defcol::mesh::inspect(&back.mesh).defects, []);
    }
}

#[test]
fn tetgen_is_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::from_mesh(box_grid([3, 2, 2], 0.1));
    for ending in ["node", "ele"] {
        let path = folder.path().join("box").with_extension(ending);
        write(&path, &model, &BINARY, &Progress::default()).unwrap();
        assert_eq!(read(&path, &Progress::default()).unwrap(), model);
    }
    let surface = Model::from_mesh(torus(2.0, 0.5, 5, 5));
    let path = folder.path().join("torus.ele");
    let error = write(&path, &surface, &BINARY, &Progress::default()).unwrap_err();
    assert!(error.to_string().contains("has no tetrahedra"), "{error}");
    assert!(!path.exists());
}

/// A model with all that GLB holds.
fn rich() -> Model {
    let mesh = torus(2.0, 0.5, 8, 6).cast::<f32>().cast::<f64>();
    let vertices = mesh.positions.len();
    let triangles = mesh.triangles.len() as u32;
    let joint = |name: &str, parent, shift: f64| Joint {
        name: name.into(),
        parent,
        local: Matrix4::new_translation(&Vector3::new(shift, 0.5, 0.0)),
        inverse_bind: Matrix4::new_translation(&Vector3::new(-shift, 0.25, 0.0)),
    };
    let target = |name: &str, weight, k: f64| MorphTarget {
        name: name.into(),
        first_vertex: 0,
        displacements: (0..vertices).map(|v| Vector3::new(v as f64, k, -0.5)).collect(),
        weight,
    };
    Model {
        mesh,
        parts: vec![
            Part { name: "left \"half\"".into(), triangles: 0..triangles / 2 },
            Part { name: "größer\n\\".into(), triangles: triangles / 2..triangles },
        ],
        morph_targets: vec![target("smile", 0.25, 1.0), target("frown", 0.0, 2.0)],
        skeleton: Some(Skeleton {
            // A child may stand before its parent.
            joints: vec![joint("hand", Some(1), 3.0), joint("arm", None, 1.5)],
            bindings: (0..vertices)
                .map(|v| Binding { joints: [v as u32 % 2, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] })
                .collect(),
        }),
        notes: vec![],
    }
}

#[test]
fn glb_keeps_parts_morph_targets_and_skins() {
    let model = rich();
    assert_eq!(there_and_back(&model, Format::Glb, &BINARY), model);
}

#[test]
fn obj_keeps_parts() {
    let mut model = rich();
    model.parts[1].name = "other".into();
    let back = there_and_back(&model, Format::Obj, &TEXT);
    assert_eq!(back.parts, model.parts);
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let notes = |model: &Model, format| {
        encode(&mut Vec::new(), model, format, &BINARY, &Progress::default()).unwrap().join("; ")
    };
    let solid = Model::from_mesh(box_grid([2, 2, 2], 0.1));
    assert!(notes(&solid, Format::Stl).contains("surface was written"));
    assert!(notes(&solid, Format::Stl).contains("rounded to single precision"));
    assert_eq!(notes(&solid, Format::Gmsh), "");
    assert!(notes(&rich(), Format::Ply).contains("no morph targets and skins"));
    assert!(notes(&rich(), Format::Ply).contains("names"));
    let mut huge = Model::from_mesh(torus(1.0, 0.1, 3, 3));
    huge.mesh.positions[0].x = 1e50;
    let failed = encode(&mut Vec::new(), &huge, Format::Glb, &BINARY, &Progress::default());
    assert!(failed.unwrap_err().to_string().contains("does not fit"));
}

#[test]
fn binary_off_refuses_what_overflows_single_precision() {
    let mut huge = Model::from_mesh(torus(1.0, 0.1, 3, 3));
    huge.mesh.positions[0].x = 1e50;
    assert!(encode(&mut Vec::new(), &huge, Format::Off, &BINARY, &Progress::new()).is_err());
    assert_eq!(there_and_back(&huge, Format::Off, &TEXT).mesh, huge.mesh);
}

#[test]
fn triangles_between_named_parts_stay_unnamed_in_obj() {
    let mut model = Model::from_mesh(torus(1.0, 0.1, 4, 4));
    model.parts = vec![
        Part { name: "a".into(), triangles: 2..5 },
        Part { name: "b".into(), triangles: 9..12 },
    ];
    let back = there_and_back(&model, Format::Obj, &TEXT);
    let named: Vec<_> = back.parts.into_iter().filter(|part| !part.name.is_empty()).collect();
    assert_eq!(named, model.parts);
}

#[test]
fn a_failed_write_of_two_files_replaces_neither() {
    let folder = tempfile::tempdir().unwrap();
    let [node, ele] =
        ["node", "ele"].map(|ending| folder.path().join("mesh").with_extension(ending));
    std::fs::create_dir(&node).unwrap();
    std::fs::write(&ele, b"precious").unwrap();
    let error = write(&ele, &Model::from_mesh(box_grid([1, 1, 1], 1.0)), &BINARY, &Progress::new());
    assert_eq!(error.unwrap_err().file, node);
    assert_eq!(std::fs::read(&ele).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn repair_carries_everything_along() {
    let mut model = rich();
    // Split a vertex, and turn a triangle into nothing.
    let copy = model.mesh.positions[5];
    model.mesh.positions.push(copy);
    let last = model.mesh.positions.len() as u32 - 1;
    model.mesh.triangles[0] = [5, last, 7];
    model.skeleton.as_mut().unwrap().bindings.push(Binding::default());
    let done = model
        .repair(&defcol_io::Repair { weld: Some(0.0), drop_degenerate: true, ..Default::default() })
        .unwrap();
    assert_eq!(done[0], "weld: 1 vertices merged into others");
    assert_eq!(done[1], "degenerate: 1 triangles and 0 tetrahedra dropped");
    let whole = rich();
    assert_eq!(model.mesh.positions, whole.mesh.positions);
    assert_eq!(model.skeleton, whole.skeleton);
    assert_eq!(model.morph_targets, whole.morph_targets);
    let half = whole.parts[0].triangles.end;
    assert_eq!(model.parts[0].triangles, 0..half - 1);
    assert_eq!(model.parts[1].triangles, half - 1..whole.parts[1].triangles.end - 1);
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.glb");
    std::fs::write(&path, b"precious").unwrap();
    let mut model = Model::from_mesh(torus(1.0, 0.1, 3, 3));
    model.mesh.positions[0].x = 1e50;
    assert!(write(&path, &model, &BINARY, &Progress::default()).is_err());
    let cancelled = Progress::default();
    cancelled.cancel();
    model.mesh.positions[0].x = 1.0;
    let error = write(&path, &model, &BINARY, &cancelled).unwrap_err();
    assert!(matches!(error.problem, defcol_io::WriteProblem::Cancelled));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    write(&path, &model, &BINARY, &Progress::default()).unwrap();
    assert_eq!(read(&path, &Progress::default()).unwrap().mesh.triangles, model.mesh.triangles);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn writing_through_a_link_keeps_the_link_and_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file.obj"), folder.path().join("link.obj"));
    std::fs::write(&file, b"old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    write(&link, &Model::from_mesh(torus(1.0, 0.1, 3, 3)), &TEXT, &Progress::default()).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(std::fs::read(&file).unwrap().starts_with(b"# OBJ"));
}

#[test]
fn reading_gives_the_same_bits_for_any_number_of_threads() {
    let model = Model::from_mesh(torus(2.0, 0.5, 700, 100));
    for (format, options, _) in SURFACES {
        let mut bytes = Vec::new();
        encode(&mut bytes, &model, *format, options, &Progress::default()).unwrap();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let model =
                pool.install(|| parse(&bytes, *format, None, &Progress::default())).unwrap();
            (bits(&model.mesh), model)
        };
        let (one, two, five) = (with(1), with(2), with(5));
        assert!(one == two && one == five, "{format}");
    }
}
