//! Surfaces that users have: filled, or refused with a reason; and fine surfaces carried by solids.

use defcol::math::{Matrix3, Vector3};
use defcol::mesh::{Place, RawMesh, TetMesh, inspect};
use defcol_meshing::embedding::Embedding;
use defcol_meshing::{DIHEDRAL_BOUNDS, Shape, SolidError, Stuffing, Target, dihedral_range};
use defcol_scenes::models::find;
use defcol_scenes::regular::{box_grid, icosphere, torus, torus_knot};

fn join(mut a: RawMesh<f64>, b: &RawMesh<f64>, offset: [f64; 3]) -> RawMesh<f64> {
    let first = a.positions.len() as u32;
    a.positions.extend(b.positions.iter().map(|p| p + Vector3::from(offset)));
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
    a
}

fn filled(mesh: &RawMesh<f64>, spacing: f64) -> RawMesh<f64> {
    let solid = Stuffing::graded(spacing).fill(&Shape::from_surface(mesh).unwrap()).unwrap();
    assert_eq!(inspect(&solid).defects, []);
    let [low, high] = dihedral_range(&solid);
    assert!(low >= DIHEDRAL_BOUNDS[0] && high <= DIHEDRAL_BOUNDS[1], "{low} to {high}");
    solid
}

fn volume(mesh: &RawMesh<f64>) -> f64 {
    inspect(mesh).volume.unwrap()
}

#[test]
fn signed_distance_of_a_sphere_and_a_torus() {
    let ball = Shape::from_surface(&icosphere(1.0, 5)).unwrap();
    let ring = Shape::from_surface(&torus(1.0, 0.3, 200, 100)).unwrap();
    for k in 0..500u32 {
        let p =
            Vector3::new(k * 37 % 101, k * 53 % 97, k * 71 % 89).map(|x| f64::from(x) / 50.0 - 1.0);
        assert!((ball.distance(p) - (p.norm() - 1.0)).abs() < 2e-3);
        let exact = (p.xy().norm() - 1.0).hypot(p.z) - 0.3;
        assert!((ring.distance(p) - exact).abs() < 2e-3);
    }
}

#[test]
fn closed_surfaces_are_filled() {
    for (mesh, spacing) in [
        (icosphere(1.0, 4), 0.1),
        (torus_knot([3, 5], [1.0, 0.4, 0.13], 600, 10), 0.06),
        (find("rabbit").unwrap().surface(8000).unwrap(), 0.06),
        // Many components.
        (
            (0..6).fold(RawMesh::default(), |all, k| {
                join(all, &icosphere(0.4, 3), [f64::from(k), 0.0, 0.0])
            }),
            0.06,
        ),
    ] {
        let solid = filled(&mesh, spacing);
        assert!((volume(&solid) / volume(&mesh) - 1.0).abs() < 0.03);
    }
}

#[test]
fn small_defects_do_no_harm() {
    let mut mesh = icosphere(1.0, 4);
    // A copy of a triangle, and its back: still closed in the sense of even edges.
    let copy = mesh.triangles[7];
    mesh.triangles.push(copy);
    mesh.triangles.push([copy[0], copy[2], copy[1]]);
    assert!((volume(&filled(&mesh, 0.1)) / 4.15 - 1.0).abs() < 0.02);
    // Parts that overlap count once.
    let overlapping = join(icosphere(1.0, 4), &icosphere(1.0, 4), [0.5, 0.0, 0.0]);
    let union = volume(&filled(&overlapping, 0.1));
    let exact = std::f64::consts::PI * (4.0 / 3.0 * 2.0 - (2.0 * 0.75 * 0.75 * (3.0 - 0.75)) / 3.0);
    assert!((union / exact - 1.0).abs() < 0.02, "{union} instead of {exact}");
}

#[test]
fn surfaces_without_an_inside_are_refused() {
    let mut open = icosphere(1.0, 2);
    open.triangles.remove(0);
    match Shape::from_surface(&open) {
        Err(SolidError::Open { count: 3, example: Place::Edge(_) }) => {}
        other => panic!("{:?}", other.err()),
    }
    let mut turned = icosphere(1.0, 2);
    turned.triangles[3].swap(0, 1);
    assert!(matches!(Shape::from_surface(&turned), Err(SolidError::NotOriented { count: 3, .. })));
    let mut inverted = icosphere(1.0, 2);
    inverted.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert!(matches!(Shape::from_surface(&inverted), Err(SolidError::InsideOut(v)) if v < 0.0));
    assert!(matches!(Shape::from_surface(&RawMesh::default()), Err(SolidError::Mesh(_))));
    let mut flat = icosphere(1.0, 2);
    flat.positions.iter_mut().for_each(|p| p.z = 0.0);
    assert!(matches!(Shape::from_surface(&flat), Err(SolidError::Flat)));
    let mut broken = icosphere(1.0, 2);
    broken.positions[5].x = f64::NAN;
    assert!(matches!(Shape::from_surface(&broken), Err(SolidError::Mesh(_))));
    let thin = Shape::block([0.0; 3], [1.0, 1.0, 0.001], 0.0);
    assert!(
        Stuffing::uniform(0.3).fill(&thin).is_err()
            || dihedral_range(&Stuffing::uniform(0.3).fill(&thin).unwrap())[0] > 10.0
    );
}

#[test]
fn a_shape_that_is_too_thin_for_its_size_is_an_error_and_no_blow_up() {
    let needle = Shape::capsule([[0.0; 3], [1.0, 1.0, 1.0]], 1e-4);
    // A plate that is thinner than the tetrahedra asked for ends with a number that is possible.
    let plate = Shape::block([0.0; 3], [1.0, 1.0, 0.005], 0.0);
    assert!(Target::tetrahedra(1000).fill(&plate, |_| ()).is_err());
    // Ten seconds of work in the dev profile: only in the release tests of `cargo xtask ci`.
    if !cfg!(debug_assertions) {
        let error = Target::tetrahedra(5000).fill(&needle, |_| ()).unwrap_err();
        assert!(error.to_string().contains("too thin for its size"), "{error}");
    }
}

#[test]
fn sizes_beyond_all_bounds_are_an_error_and_no_blow_up() {
    let ball = Shape::sphere([0.0; 3], 1.0);
    assert!(Target::tetrahedra(2_000_000_000).fill(&ball, |_| ()).is_err());
    assert!(defcol_meshing::surface_mesh(&ball, 1e-9).is_err());
    for scale in [1e-60, 1e-25, 1e25, 1e55] {
        let mut sphere = icosphere(1.0, 3);
        sphere.positions.iter_mut().for_each(|p| *p *= scale);
        let solid =
            Target::tetrahedra(1000).fill(&Shape::from_surface(&sphere).unwrap(), |_| ()).unwrap();
        assert!(dihedral_range(&solid)[0] > DIHEDRAL_BOUNDS[0]);
    }
}

#[test]
fn a_target_that_cannot_be_met_is_an_error() {
    let ball = Shape::sphere([0.0; 3], 1.0);
    let solid = Target::tetrahedra(3000).fill(&ball, |_| ()).unwrap();
    assert!((2700..=3300).contains(&solid.tetrahedra.len()));
    let impossible = Target { vertices: Some(10), ..Target::tetrahedra(3000) };
    let error = impossible.fill(&ball, |_| ()).unwrap_err();
    assert!(error.to_string().starts_with("no spacing gives 3000"), "{error}");
}

#[test]
fn an_embedded_surface_follows_affine_deformations_exactly() {
    let surface = find("teddy").unwrap().surface(3000).unwrap();
    let shape = Shape::from_surface(&surface).unwrap();
    let solid = TetMesh::new(Target::tetrahedra(900).fill(&shape, |_| ()).unwrap()).unwrap();
    let embedding = Embedding::attach(&solid, &surface.positions);
    let linear = Matrix3::new(1.3, 0.2, -0.1, 0.0, 0.8, 0.4, -0.3, 0.1, 1.1);
    let shift = Vector3::new(3.0, -2.0, 0.5);
    let deform = |p: &Vector3<f64>| linear * p + shift;
    let moved: Vec<_> = solid.positions().iter().map(deform).collect();
    let mut points = vec![];
    embedding.follow(&solid, &moved, &mut points);
    for (point, rest) in points.iter().zip(&surface.positions) {
        assert!((point - deform(rest)).norm() < 1e-12);
    }
    let single = TetMesh::new(
        RawMesh {
            positions: solid.positions().to_vec(),
            triangles: vec![],
            tetrahedra: solid.tetrahedra().to_vec(),
        }
        .cast::<f32>(),
    )
    .unwrap();
    let rest: Vec<Vector3<f32>> = surface.positions.iter().map(|p| p.map(|x| x as f32)).collect();
    let mut back = vec![];
    Embedding::attach(&single, &rest).follow(&single, single.positions(), &mut back);
    assert!(back.iter().zip(&rest).all(|(a, b)| (a - b).norm() < 2e-5));
}

#[test]
fn points_hang_on_the_tetrahedron_that_contains_them_or_the_nearest() {
    let solid = TetMesh::new(box_grid([4, 3, 2], 0.5)).unwrap();
    let inside: Vec<Vector3<f64>> = (0..200u32)
        .map(|k| {
            Vector3::new(
                f64::from(k * 37 % 199) / 100.0,
                f64::from(k * 53 % 149) / 100.0,
                f64::from(k * 71 % 99) / 100.0,
            )
        })
        .collect();
    let embedding = Embedding::attach(&solid, &inside);
    for weights in &embedding.weights {
        assert!(
            weights.iter().all(|w| *w >= -1e-12)
                && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12
        );
    }
    // Outside: brute force over all tetrahedra finds none that is nearer.
    let outside =
        [[-1.0, 0.2, 0.3], [3.0, 2.0, 1.5], [1.0, 0.7, 9.0], [1.0, -0.01, 0.5]].map(Vector3::from);
    let embedding = Embedding::attach(&solid, &outside);
    for (point, &index) in outside.iter().zip(&embedding.tetrahedra) {
        let box_distance = {
            let clamped = Vector3::new(
                point.x.clamp(0.0, 2.0),
                point.y.clamp(0.0, 1.5),
                point.z.clamp(0.0, 1.0),
            );
            (point - clamped).norm()
        };
        let corners = solid.tetrahedra()[index as usize].map(|v| solid.positions()[v as usize]);
        let nearest_sample = (0..=20)
            .flat_map(|i| (0..=20 - i).flat_map(move |j| (0..=20 - i - j).map(move |k| [i, j, k])))
            .map(|w| w.map(|x| f64::from(x) / 20.0))
            .map(|[a, b, c]| {
                corners[0] * a + corners[1] * b + corners[2] * c + corners[3] * (1.0 - a - b - c)
            })
            .map(|p| (p - point).norm())
            .fold(f64::MAX, f64::min);
        assert!(nearest_sample < box_distance + 0.05, "{nearest_sample} instead of {box_distance}");
    }
}
