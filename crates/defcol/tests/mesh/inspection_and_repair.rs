//! Each kind of defect is told from the others, and repairs mend what they say.

use defcol::error::MeshError;
use defcol::math::Vector3;
use defcol::mesh::{Defect, DefectKind, Place, RawMesh, inspect, repair};
use defcol_scenes::regular::{box_grid, icosphere, torus};
use proptest::prelude::*;

fn surface_of(solid: &RawMesh<f64>) -> RawMesh<f64> {
    let surface = defcol::mesh::TetMesh::new(solid.clone()).unwrap().surface().mesh().clone();
    RawMesh {
        positions: surface.positions().to_vec(),
        triangles: surface.triangles().to_vec(),
        tetrahedra: vec![],
    }
}

fn cube(size: f64, low: f64) -> RawMesh<f64> {
    let mut mesh = surface_of(&box_grid([1, 1, 1], size));
    mesh.positions.iter_mut().for_each(|p| *p += Vector3::repeat(low));
    mesh
}

fn join(mut a: RawMesh<f64>, b: RawMesh<f64>) -> RawMesh<f64> {
    let offset = a.positions.len() as u32;
    a.positions.extend(b.positions);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + offset)));
    a
}

fn turned(mut mesh: RawMesh<f64>) -> RawMesh<f64> {
    mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    mesh
}

fn kinds(mesh: &RawMesh<f64>) -> Vec<(DefectKind, usize)> {
    inspect(mesh).defects.iter().map(|d| (d.kind, d.count)).collect()
}

#[test]
fn closed_open_inverted_and_non_manifold_are_told_apart() {
    let closed = inspect(&cube(1.0, 0.0));
    assert!(closed.closed && closed.oriented && closed.defects.is_empty());
    assert!((closed.volume.unwrap() - 1.0).abs() < 1e-15 && (closed.area - 6.0).abs() < 1e-15);

    let mut open = cube(1.0, 0.0);
    open.triangles.pop();
    let facts = inspect(&open);
    assert!(!facts.closed && facts.oriented && facts.volume.is_none());
    assert_eq!(kinds(&open), [(DefectKind::OpenEdge, 3)]);

    let inverted = turned(cube(1.0, 0.0));
    let facts = inspect(&inverted);
    assert!(facts.closed && facts.oriented);
    assert!((facts.volume.unwrap() + 1.0).abs() < 1e-15);
    assert_eq!(
        facts.defects,
        [Defect { kind: DefectKind::InsideOutComponent, count: 1, example: Place::ComponentOf(0) }]
    );

    let mut one_turned = cube(1.0, 0.0);
    one_turned.triangles[3].swap(0, 1);
    let facts = inspect(&one_turned);
    assert!(facts.closed && !facts.oriented && facts.volume.is_none());
    assert_eq!(kinds(&one_turned), [(DefectKind::InconsistentOrientation, 3)]);

    // Two cubes that share the edge along z at (1, 1).
    let mut touching = join(cube(1.0, 0.0), {
        let mut other = cube(1.0, 1.0);
        other.positions.iter_mut().for_each(|p| p.z -= 1.0);
        other
    });
    repair::weld(&mut touching, 0.0).unwrap();
    let facts = inspect(&touching);
    assert!(facts.closed && facts.oriented && facts.components == 1);
    assert_eq!(facts.count(DefectKind::NonManifoldEdge), 1);

    // Two cubes that share one corner.
    let mut touching = join(cube(1.0, 0.0), cube(1.0, 1.0));
    assert_eq!(kinds(&touching), [(DefectKind::CoincidentVertex, 1)]);
    repair::weld(&mut touching, 0.0).unwrap();
    assert_eq!(kinds(&touching), [(DefectKind::NonManifoldVertex, 1)]);

    // A wall between the two halves of a box: three triangles at its rim.
    let mut wall = surface_of(&box_grid([2, 1, 1], 1.0));
    let middle: Vec<u32> = (0..12).filter(|&v| wall.positions[v as usize].x == 1.0).collect();
    wall.triangles.extend([[middle[0], middle[1], middle[3]], [middle[0], middle[3], middle[2]]]);
    let facts = inspect(&wall);
    assert!(!facts.closed, "an odd number of triangles meets at the rim");
    assert_eq!(facts.count(DefectKind::NonManifoldEdge), 4);
}

#[test]
fn a_cavity_is_not_inside_out() {
    let shell = join(cube(3.0, 0.0), turned(cube(1.0, 1.0)));
    let facts = inspect(&shell);
    assert_eq!(facts.defects, []);
    assert_eq!(facts.components, 2);
    assert!((facts.volume.unwrap() - 26.0).abs() < 1e-13);
    let beside = join(cube(3.0, 0.0), turned(cube(1.0, 5.0)));
    assert_eq!(
        inspect(&beside).defects,
        [Defect { kind: DefectKind::InsideOutComponent, count: 1, example: Place::ComponentOf(8) }]
    );
}

#[test]
fn an_inside_out_component_is_seen_beside_an_open_one() {
    let mut mesh = join(turned(cube(1.0, 0.0)), cube(1.0, 5.0));
    mesh.triangles.pop();
    assert_eq!(kinds(&mesh), [(DefectKind::OpenEdge, 3), (DefectKind::InsideOutComponent, 1)]);
}

#[test]
fn many_components_are_inspected_and_nested_ones_oriented_quickly() {
    // A row of cubes, every other one inside out, and shells within shells.
    let row = (0..3000).fold(RawMesh::default(), |mesh, k| {
        let cube = cube(0.5, f64::from(k));
        join(mesh, if k % 2 == 0 { cube } else { turned(cube) })
    });
    assert_eq!(inspect(&row).count(DefectKind::InsideOutComponent), 1500);
    let shells = (1..800)
        .fold(RawMesh::default(), |mesh, k| join(mesh, cube(2.0 * f64::from(k), -f64::from(k))));
    let mut oriented = shells.clone();
    repair::orient_outward(&mut oriented).unwrap();
    // The largest faces outwards, the next inwards, and so on.
    for (k, (now, then)) in oriented.triangles.iter().zip(&shells.triangles).enumerate() {
        let depth = 798 - k / 12;
        assert_eq!(now == then, depth % 2 == 0);
    }
}

#[test]
fn broken_arrays_are_reported_and_do_not_stop_the_rest() {
    let mut mesh = cube(1.0, 0.0);
    mesh.positions.push(Vector3::new(0.0, f64::NAN, 0.0));
    mesh.positions.push(Vector3::new(0.0, 0.0, 1e70));
    mesh.triangles.push([0, 1, 99]);
    mesh.triangles.push([0, 0, 1]);
    let first = mesh.triangles[0];
    mesh.triangles.push(first);
    mesh.tetrahedra.push([0, 1, 2, 77]);
    mesh.tetrahedra.push([0, 1, 1, 2]);
    let facts = inspect(&mesh);
    let expected = [
        (DefectKind::NonFiniteCoordinate, 1, Place::Vertex(8)),
        (DefectKind::OutOfRangeCoordinate, 1, Place::Vertex(9)),
        (DefectKind::IndexOutOfRange, 2, Place::Triangle(12)),
        (DefectKind::DegenerateTriangle, 1, Place::Triangle(13)),
        (DefectKind::DuplicateTriangle, 1, Place::Triangle(14)),
        (DefectKind::FlatTetrahedron, 1, Place::Tetrahedron(1)),
        (DefectKind::OpenEdge, 3, facts.defects[6].example),
        (DefectKind::NonManifoldEdge, 3, facts.defects[7].example),
        (DefectKind::UnreferencedVertex, 2, Place::Vertex(8)),
    ];
    let found: Vec<_> = facts.defects.iter().map(|d| (d.kind, d.count, d.example)).collect();
    assert_eq!(found, expected);
    assert_eq!(facts.bounds.unwrap().max.z, 1e70);
}

#[test]
fn tetrahedra_flat_inverted_duplicate_and_sharing_a_face() {
    let mut mesh = RawMesh {
        positions: [
            [0., 0., 0.],
            [1., 0., 0.],
            [0., 1., 0.],
            [0., 0., 1.],
            [1., 1., 0.],
            [0., 0., -1.],
            [0., 0., 2.],
        ]
        .map(Vector3::<f64>::from)
        .to_vec(),
        triangles: vec![],
        tetrahedra: vec![[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5], [1, 0, 2, 3]],
    };
    let counts = kinds(&mesh);
    assert_eq!(counts[0], (DefectKind::FlatTetrahedron, 1));
    assert_eq!(counts[1], (DefectKind::InvertedTetrahedron, 2));
    assert_eq!(counts[2], (DefectKind::DuplicateTetrahedron, 1));
    assert!(counts.contains(&(DefectKind::NonManifoldFace, 1)));
    assert_eq!(repair::flip_inverted(&mut mesh), Ok(2));
    assert_eq!(inspect(&mesh).count(DefectKind::InvertedTetrahedron), 0);
    // Now the last is an exact copy of the first.
    let dropped = repair::drop_degenerate(&mut mesh).unwrap();
    assert_eq!((dropped.triangles, dropped.tetrahedra), (0, 1));
    assert_eq!(mesh.tetrahedra.len(), 3);
}

#[test]
fn empty_mesh_has_no_facts_and_no_defects() {
    let facts = inspect(&RawMesh::<f32>::default());
    assert!(!facts.closed && facts.volume.is_none() && facts.bounds.is_none());
    assert_eq!((facts.area, facts.defects.len()), (0.0, 0));
}

#[test]
fn welding_makes_a_soup_whole() {
    let whole = torus(2.0, 0.5, 40, 20);
    let mut soup = RawMesh {
        positions: whole.triangles.iter().flatten().map(|&v| whole.positions[v as usize]).collect(),
        triangles: (0..whole.triangles.len() as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect(),
        tetrahedra: vec![],
    };
    assert_eq!(inspect(&soup).count(DefectKind::OpenEdge), 3 * 1600);
    let welded = repair::weld(&mut soup, 0.0).unwrap();
    assert_eq!((welded.merged, soup.positions.len()), (4000, 800));
    assert_eq!(inspect(&soup).defects, []);
    assert!(soup.positions.iter().zip(&welded.kept).all(|(p, &old)| {
        *p == whole.positions[whole.triangles[old as usize / 3][old as usize % 3] as usize]
    }));
    for tolerance in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(repair::weld(&mut soup, tolerance), Err(MeshError::Tolerance(_))));
    }
}

#[test]
fn welding_too_far_collapses_triangles_that_are_then_dropped() {
    let mut mesh = icosphere(1.0, 3);
    let before = mesh.triangles.len();
    repair::weld(&mut mesh, 0.2).unwrap();
    let degenerate = inspect(&mesh).count(DefectKind::DegenerateTriangle);
    assert!(degenerate > 0);
    let dropped = repair::drop_degenerate(&mut mesh).unwrap();
    assert!(dropped.triangles >= degenerate);
    assert_eq!(dropped.kept_triangles.len() + dropped.triangles, before);
    assert_eq!(inspect(&mesh).count(DefectKind::DegenerateTriangle), 0);
}

#[test]
fn a_sheet_of_two_opposite_triangles_is_not_a_copy() {
    let mut mesh = cube(1.0, 0.0);
    mesh.triangles = vec![[0, 1, 2], [0, 2, 1], [1, 2, 0]];
    let dropped = repair::drop_degenerate(&mut mesh).unwrap();
    assert_eq!((dropped.triangles, mesh.triangles), (1, vec![[0, 1, 2], [0, 2, 1]]));
}

proptest! {
    #[test]
    fn orienting_undoes_any_flips(flips in prop::collection::vec(any::<bool>(), 36)) {
        // A cube, a cavity in it, a cube in the cavity.
        let sound = join(join(cube(5.0, 0.0), turned(cube(3.0, 1.0))), cube(1.0, 2.0));
        let mut mesh = sound.clone();
        for (triangle, flip) in mesh.triangles.iter_mut().zip(&flips) {
            if *flip {
                triangle.swap(1, 2);
            }
        }
        let oriented = repair::orient_outward(&mut mesh).unwrap();
        prop_assert_eq!(oriented.flipped, flips.iter().filter(|f| **f).count());
        prop_assert_eq!(oriented.unorientable, 0);
        prop_assert_eq!(mesh, sound);
    }
}

#[test]
fn an_open_patch_keeps_the_orientation_of_the_majority() {
    let mut mesh = cube(1.0, 0.0);
    mesh.triangles.truncate(9);
    let sound = turned(mesh);
    let mut mesh = sound.clone();
    mesh.triangles[2].swap(1, 2);
    mesh.triangles[7].swap(1, 2);
    assert_eq!(repair::orient_outward(&mut mesh).unwrap().flipped, 2);
    assert_eq!(mesh, sound);
}

#[test]
fn a_moebius_strip_cannot_be_oriented() {
    let strip = 7u32;
    let vertex = |segment: u32, side: u32| {
        if segment == strip { 1 - side } else { 2 * segment + side }
    };
    let mut mesh = RawMesh::<f64>::default();
    for segment in 0..strip {
        let angle = f64::from(segment) * std::f64::consts::TAU / f64::from(strip);
        for side in [-1.0, 1.0] {
            let width = 0.3 * side * (angle / 2.0).cos();
            let height = 0.3 * side * (angle / 2.0).sin();
            let radius = 1.0 + width;
            mesh.positions.push(Vector3::new(radius * angle.cos(), radius * angle.sin(), height));
        }
        let [a, b] = [vertex(segment, 0), vertex(segment, 1)];
        let [c, d] = [vertex(segment + 1, 0), vertex(segment + 1, 1)];
        mesh.triangles.extend([[a, c, b], [b, c, d]]);
    }
    assert_eq!(repair::orient_outward(&mut mesh).unwrap().unorientable, 1);
    assert_eq!(repair::orient_outward(&mut cube(1.0, 0.0)).unwrap().unorientable, 0);
}
