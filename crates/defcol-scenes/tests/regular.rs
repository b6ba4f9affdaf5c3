//! Regular bodies have the counts of the papers, no defects, and the volume they should.

use defcol::mesh::{Inspection, RawMesh, inspect};
use defcol_scenes::regular::{
    ball, box_grid, capsule, cylinder, icosphere, plane_patch, torus, torus_knot,
};
use std::f64::consts::PI;

fn sound(mesh: &RawMesh<f64>) -> Inspection {
    let facts = inspect(mesh);
    assert_eq!(facts.defects, [], "f64");
    assert!(facts.closed && facts.oriented && facts.components == 1);
    assert_eq!(inspect(&mesh.cast::<f32>()).defects, [], "f32");
    facts
}

#[test]
fn counts_of_the_papers() {
    for (mesh, vertices, tetrahedra) in [
        (ball(1.0), 13, 20),
        (box_grid([10, 10, 1], 0.1), 242, 500),
        (box_grid([100, 2, 2], 0.1), 909, 2000),
        (box_grid([5, 5, 5], 0.1), 216, 625),
    ] {
        let facts = sound(&mesh);
        assert_eq!((facts.vertices, facts.tetrahedra), (vertices, tetrahedra));
    }
}

#[test]
fn volumes() {
    let close = |mesh: &RawMesh<f64>, expected: f64, tolerance: f64| {
        let volume = sound(mesh).volume.expect("closed");
        assert!((volume / expected - 1.0).abs() < tolerance, "{volume} instead of {expected}");
    };
    close(&box_grid([3, 4, 5], 0.5), 60.0 * 0.125, 1e-14);
    // Icosahedron of circumradius 1.
    close(&ball(2.0), 8.0 * 2.536_150_71, 1e-8);
    close(&icosphere(1.0, 5), 4.0 / 3.0 * PI, 2e-3);
    close(&torus(2.0, 0.5, 200, 100), 2.0 * PI * PI * 2.0 * 0.25, 1e-3);
    close(&cylinder(0.5, 1.5, 7, 300), 0.25 * PI * 3.0, 1e-3);
    close(&capsule(0.5, 1.0, 60, 200), 0.25 * PI * 2.0 + 4.0 / 3.0 * PI * 0.125, 1e-3);
    let knot = torus_knot([3, 5], [1.0, 0.4, 0.1], 600, 10);
    assert_eq!(knot.triangles.len(), 12_000);
    assert!(sound(&knot).volume.expect("closed") > 0.5);
}

#[test]
fn a_plane_patch_is_open_and_faces_up() {
    let facts = inspect(&plane_patch([4, 3], 0.5));
    assert!(!facts.closed && facts.oriented && facts.components == 1);
    assert_eq!((facts.triangles, facts.vertices), (24, 20));
    assert!((facts.area - 3.0).abs() < 1e-12);
    let patch = plane_patch([1, 1], 1.0);
    let [a, b, c] = patch.triangles[0].map(|v| patch.positions[v as usize]);
    assert!((b - a).cross(&(c - a)).z > 0.0);
}
