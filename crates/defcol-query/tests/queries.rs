//! Queries on meshes with known answers, and methods against each other.

use defcol::math::Vector3;
use defcol_io::Model;
use defcol_query::{
    CollideMethod, CollideOptions, ContainsMethod, ContainsOptions, DepthMethod, DepthOptions,
    NamedMesh, OpenSurface, QueryError, TetrahedralizeOptions, VolumeOptions, collide, contains,
    depth, inspect, tetrahedralize, volume,
};
use defcol_scenes::models;
use defcol_scenes::regular::{box_grid, icosphere};

fn named(name: &str, model: Model) -> NamedMesh {
    NamedMesh::new(name, model)
}

fn builtin(name: &str, triangles: usize) -> NamedMesh {
    named(name, models::find(name).unwrap().rigged(triangles).unwrap())
}

/// A cube of side 1 as a closed surface, moved.
fn cube(name: &str, shift: [f64; 3]) -> NamedMesh {
    let solid = defcol::mesh::TetMesh::new(box_grid([4, 4, 4], 0.25)).unwrap();
    let surface = solid.surface().mesh();
    let shift = Vector3::from(shift);
    let mesh = defcol::mesh::RawMesh {
        positions: surface.positions().iter().map(|p| p + shift).collect(),
        triangles: surface.triangles().to_vec(),
        tetrahedra: vec![],
    };
    named(name, Model::from_mesh(mesh))
}

fn ignore(_: defcol_query::Step) {}

#[test]
fn all_methods_that_count_primitives_agree() {
    let names = ["mouse", "worn-hat", "torus", "cow", "sphere", "knot"];
    let meshes: Vec<NamedMesh> = names.iter().map(|name| builtin(name, 1500)).collect();
    let count = |method| {
        let options = CollideOptions { method, self_collision: true, ..Default::default() };
        let found = collide(&meshes, &options, &ignore).unwrap().report;
        assert_eq!(found.colliding, !found.pairs.is_empty());
        let key = |pair: &defcol_query::PairReport| {
            (pair.a.clone(), pair.b.clone(), pair.self_collision, pair.primitives)
        };
        let mut pairs: Vec<_> = found.pairs.iter().map(key).collect();
        // Hierarchies also report bodies of which only triangles that share a vertex intersect.
        pairs.retain(|(.., primitives)| primitives.is_some_and(|count| count > 0));
        pairs.sort();
        pairs
    };
    let expected = count(CollideMethod::Brute);
    assert!(expected.len() >= 3, "{expected:?}");
    assert_eq!(count(CollideMethod::Hash), expected);
    assert_eq!(count(CollideMethod::Bvh), expected);
}

#[test]
fn overlapping_cubes_have_their_exact_volume() {
    for shift in [[0.5, 0.0, 0.0], [0.3, 0.6, 0.1], [-0.9, 0.2, 0.7]] {
        let (a, b) = (cube("a", [0.0; 3]), cube("b", shift));
        let exact: f64 = shift.iter().map(|s: &f64| 1.0 - s.abs()).product();
        let options =
            VolumeOptions { gradient: Some(2.0), overlap_mesh: true, ..Default::default() };
        let found = volume(&a, &b, &options).unwrap();
        let report = &found.report;
        assert!((report.volume - exact).abs() <= report.error.max(1e-9), "{report:?}");
        let patches = report.patches.as_ref().unwrap();
        assert_eq!(patches.len(), 1);
        assert!((patches[0].volume - exact).abs() < 0.02 * exact);
        // The gradient sums to zero: moving both cubes together changes nothing.
        let gradient = found.gradient.as_ref().unwrap();
        let sum: Vector3<f64> = gradient.rows.iter().map(|row| row.gradient).sum();
        assert!(sum.norm() < 1e-9, "{sum}");
        assert_eq!(gradient.csv().lines().count(), gradient.rows.len() + 1);
        assert!(found.overlap_mesh.unwrap().regions >= 1);
        // The methods of `collide` find the same.
        let options = CollideOptions { method: CollideMethod::Ldi, ..Default::default() };
        let pair = &collide(&[a, b], &options, &ignore).unwrap().report.pairs[0];
        assert!((pair.volume.unwrap() - exact).abs() < 0.02 * exact);
    }
    let (a, b) = (cube("a", [0.0; 3]), cube("b", [1.5, 0.0, 0.0]));
    let apart = volume(&a, &b, &VolumeOptions::default()).unwrap().report;
    assert_eq!((apart.volume, apart.net_force_direction), (0.0, None));
}

#[test]
fn points_are_inside_a_cube_where_their_coordinates_say_so() {
    let mesh = cube("cube", [0.0; 3]);
    let points: Vec<Vector3<f64>> = (0..2000)
        .map(|k| {
            let t = k as f64;
            Vector3::new((t * 0.754).fract(), (t * 0.569).fract(), (t * 0.429).fract()) * 1.6
                - Vector3::repeat(0.3)
        })
        .collect();
    let inside = |p: &Vector3<f64>| p.iter().all(|x| (0.0..=1.0).contains(x));
    let exact = ContainsOptions { method: ContainsMethod::Exact, resolution: 128 };
    let found = contains(&mesh, &points, &exact).unwrap();
    assert!(found.inside.iter().zip(&points).all(|(found, p)| *found == inside(p)));
    assert_eq!(found.report.inside, points.iter().filter(|p| inside(p)).count());
    let sampled = ContainsOptions { method: ContainsMethod::Ldi, resolution: 128 };
    let sampled = contains(&mesh, &points, &sampled).unwrap();
    let wrong = sampled.inside.iter().zip(&found.inside).filter(|(a, b)| a != b).count();
    assert!(wrong <= sampled.report.uncertain, "{wrong} {}", sampled.report.uncertain);
    assert_eq!(found.csv(&points).lines().count(), points.len() + 1);
}

#[test]
fn the_depth_of_cubes_is_that_of_their_overlap() {
    let (a, b) = (cube("a", [0.0; 3]), cube("b", [0.8, 0.0, 0.0]));
    for method in [DepthMethod::Consistent, DepthMethod::Nearest] {
        let options = DepthOptions { method, ..Default::default() };
        let found = depth(&a, &b, &options).unwrap();
        let deepest = found.report.max_depth.unwrap();
        assert!((deepest - 0.2).abs() < 1e-9, "{method:?}: {deepest}");
        assert_eq!(found.csv().lines().count(), found.contacts.len() + 1);
        let depths = found.vertex_depths();
        assert_eq!(depths.iter().copied().fold(0.0, f64::max), deepest);
    }
    let wrong = DepthOptions { method: DepthMethod::Nearest, smooth: true, ..Default::default() };
    assert!(matches!(depth(&a, &b, &wrong), Err(QueryError::Request(_))));
}

#[test]
fn open_surfaces_are_refused_or_measured() {
    let mut open = icosphere(1.0, 3);
    open.triangles.truncate(open.triangles.len() - 20);
    let (open, ball) = (named("open", Model::from_mesh(open)), cube("cube", [0.0; 3]));
    let refused = volume(&open, &ball, &VolumeOptions::default());
    assert!(matches!(&refused, Err(QueryError::Input(text)) if text.starts_with("open: ")));
    let options =
        VolumeOptions { open: OpenSurface::Measure, resolution: Some(64), ..Default::default() };
    let measured = volume(&open, &ball, &options).unwrap().report;
    assert!(measured.unbalanced_rays > 0 && measured.volume > 0.0);
    let gradient = VolumeOptions { gradient: Some(1.0), ..options };
    assert!(matches!(volume(&open, &ball, &gradient), Err(QueryError::Request(_))));
    assert!(!inspect(&open).closed && inspect(&ball).closed);
    let both = depth(&open, &open, &DepthOptions::default());
    assert!(matches!(both, Err(QueryError::Input(_))));
    let one = depth(&open, &ball, &DepthOptions::default()).unwrap();
    assert_eq!(one.open_surfaces, ["open"]);
}

#[test]
fn one_mesh_needs_self_collision_and_morphs_need_hierarchies() {
    let mesh = [cube("cube", [0.0; 3])];
    let alone = collide(&mesh, &CollideOptions::default(), &ignore);
    assert!(matches!(alone, Err(QueryError::Request(_))));
    let posed = CollideOptions { posed: true, self_collision: true, ..Default::default() };
    assert!(matches!(collide(&mesh, &posed, &ignore), Err(QueryError::Request(_))));
    let weights = CollideOptions {
        method: CollideMethod::Bvh,
        weights: vec![vec![0.5]],
        self_collision: true,
        ..Default::default()
    };
    assert!(matches!(collide(&mesh, &weights, &ignore), Err(QueryError::Request(_))));
}

#[test]
fn a_ball_is_filled_and_embedded_with_progress() {
    let ball = named("ball", Model::from_mesh(icosphere(1.0, 3)));
    let seen = std::sync::atomic::AtomicU32::new(0);
    let options = TetrahedralizeOptions { cells: 800, uniform: false, embed: true };
    let filled = tetrahedralize(&ball, &options, &|step| {
        assert!(step.done <= step.total);
        seen.fetch_max(step.done, std::sync::atomic::Ordering::Relaxed);
    })
    .unwrap();
    assert!(seen.into_inner() > 0);
    let report = &filled.report;
    assert!((720..=880).contains(&report.tetrahedra), "{report:?}");
    assert_eq!(report.vertices, filled.mesh.positions.len());
    assert!(
        report.volume <= report.surface_volume * 1.001
            && report.volume > 0.8 * report.surface_volume
    );
    let lines = filled.embedding_csv().unwrap().lines().count();
    assert_eq!(lines, ball.model.mesh.positions.len() + 1);
}
