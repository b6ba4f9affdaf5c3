//! Forces of all energies against finite differences, and what keeps them from being fooled.

use defcol::math::{Matrix3, Rotation, Vector3};
use defcol::mesh::TetMesh;
use defcol::model::{
    ConstitutiveLaw, ElasticModuli, Elements, MassPoints, Matching, Model, Moduli, ShapeMatching,
    ShapeParameters,
};
use defcol_scenes::regular::box_grid;

type V = Vector3<f64>;

/// Reproducible numbers from -1 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, amount: f64) -> V {
        V::from_fn(|_, _| self.next() * amount)
    }
}

struct Case {
    name: &'static str,
    model: Model<f64>,
}

fn mesh() -> TetMesh<f64> {
    TetMesh::new(box_grid([2, 2, 2], 0.1)).unwrap()
}

fn mass_points(mesh: &TetMesh<f64>, moduli: Moduli) -> Model<f64> {
    let surface = mesh.surface();
    let number = |v: u32| surface.vertices()[v as usize];
    let triangles: Vec<_> = surface.triangles().iter().map(|c| c.map(number)).collect();
    let edges = mesh.edges().ends();
    Model::MassPoints(MassPoints::new(
        mesh.positions(),
        edges,
        &triangles,
        mesh.tetrahedra(),
        moduli,
    ))
}

fn cases() -> Vec<Case> {
    let mesh = mesh();
    let none = Moduli { distance: 0.0, area: 0.0, volume: 0.0, damping: 0.0, ..Moduli::default() };
    let masses = vec![0.01; mesh.positions().len()];
    let elastic = ElasticModuli { damping: 0.0, ..ElasticModuli::default() };
    let elements =
        |law| Model::Elements(Elements::new(mesh.positions(), mesh.tetrahedra(), elastic, law));
    let shape = |matching, clusters| {
        let parameters =
            ShapeParameters { matching, clusters, damping: 0.0, ..ShapeParameters::default() };
        Model::Shape(ShapeMatching::new(mesh.positions(), &masses, parameters))
    };
    vec![
        Case { name: "distance", model: mass_points(&mesh, Moduli { distance: 1e4, ..none }) },
        Case { name: "area", model: mass_points(&mesh, Moduli { area: 1e4, ..none }) },
        Case { name: "volume", model: mass_points(&mesh, Moduli { volume: 1e4, ..none }) },
        Case { name: "corotational", model: elements(ConstitutiveLaw::Corotational) },
        Case { name: "neo-Hookean", model: elements(ConstitutiveLaw::NeoHookean) },
        Case { name: "Hencky", model: elements(ConstitutiveLaw::Hencky) },
        Case { name: "shape", model: shape(Matching::Rigid, 1) },
    ]
}

/// A state that is turned, sheared and shaken, with some elements inverted if the shaking is strong.
fn deformed(shake: f64, seed: u64) -> Vec<V> {
    let mut random = Random(seed);
    let turn = Rotation::identity().then(random.vector(0.8)).matrix();
    let shear = Matrix3::from_fn(|_, _| 0.3 * random.next()) + Matrix3::identity();
    let rest = mesh();
    rest.positions().iter().map(|p| turn * shear * p + random.vector(shake)).collect()
}

fn forces(model: &mut Model<f64>, positions: &[V], velocities: &[V]) -> Vec<V> {
    let mut forces = vec![V::zeros(); positions.len()];
    model.add_forces(positions, velocities, &mut forces);
    forces
}

#[test]
fn a_copy_of_a_model_does_what_the_model_does() {
    for Case { name, mut model } in cases() {
        let positions = deformed(0.02, 5);
        let still = vec![V::zeros(); positions.len()];
        let vector: Vec<V> = deformed(0.5, 6);
        let products = |model: &mut Model<f64>| {
            let mut product = vec![V::zeros(); positions.len()];
            model.add_stiffness_times(&vector, 0.5, &mut product);
            let mut diagonal = vec![0.0; positions.len()];
            model.add_diagonal(&mut diagonal);
            (product, diagonal)
        };
        // Before the first call for forces, too.
        assert_eq!(products(&mut model.clone()), products(&mut model), "{name}, at rest");
        forces(&mut model, &positions, &still);
        assert_eq!(products(&mut model.clone()), products(&mut model), "{name}");
        let mut copy = model.clone();
        let expected = forces(&mut model, &positions, &still);
        assert_eq!(forces(&mut copy, &positions, &still), expected, "{name}");
    }
}

#[test]
fn forces_are_the_negative_gradients_of_energies() {
    for shake in [0.005, 0.04] {
        for Case { name, mut model } in cases() {
            let mut positions = deformed(shake, 3);
            let still = vec![V::zeros(); positions.len()];
            let exact = forces(&mut model, &positions, &still);
            let scale = exact.iter().map(|f| f.norm()).fold(0.0, f64::max);
            assert!(scale > 0.0, "{name}: no force at all");
            let step = 1e-6;
            for vertex in 0..positions.len() {
                for axis in 0..3 {
                    let place = positions[vertex][axis];
                    positions[vertex][axis] = place + step;
                    let above = model.energy(&positions);
                    positions[vertex][axis] = place - step;
                    let below = model.energy(&positions);
                    positions[vertex][axis] = place;
                    let force = -(above - below) / (2.0 * step);
                    let error = (force - exact[vertex][axis]).abs();
                    assert!(
                        error < 2e-5 * scale,
                        "{name}, shake {shake}: {force} {}",
                        exact[vertex][axis]
                    );
                }
            }
        }
    }
}

#[test]
fn the_stiffness_is_the_derivative_of_forces_where_it_says_so() {
    for Case { name, mut model } in cases() {
        // Shape matching holds its goals. All others but the neo-Hookean law leave out what vanishes at rest.
        if name == "shape" {
            continue;
        }
        let positions =
            if name == "neo-Hookean" { deformed(0.01, 5) } else { mesh().positions().to_vec() };
        let still = vec![V::zeros(); positions.len()];
        forces(&mut model, &positions, &still);
        let mut random = Random(9);
        let way: Vec<V> = positions.iter().map(|_| random.vector(1.0)).collect();
        let mut product = vec![V::zeros(); positions.len()];
        model.add_stiffness_times(&way, 1.0, &mut product);
        let step = 1e-6;
        let at = |sign: f64| -> Vec<V> {
            positions.iter().zip(&way).map(|(p, w)| p + w * (sign * step)).collect()
        };
        let above = forces(&mut model, &at(1.0), &still);
        let below = forces(&mut model, &at(-1.0), &still);
        let scale: f64 = product.iter().map(|p| p.norm_squared()).sum::<f64>().sqrt();
        let wrong: f64 = (0..positions.len())
            .map(|v| ((above[v] - below[v]) / (2.0 * step) - product[v]).norm_squared())
            .sum::<f64>()
            .sqrt();
        assert!(wrong < 1e-5 * scale, "{name}: {wrong} of {scale}");
    }
}

#[test]
fn nothing_pulls_at_rest_or_on_what_is_moved_and_turned() {
    let turn =
        Rotation::identity().then(V::new(0.5, -0.2, 0.3)).then(V::new(0.7, 0.1, -0.4)).matrix();
    for Case { name, mut model } in cases() {
        let moved: Vec<V> =
            mesh().positions().iter().map(|p| turn * p + V::new(3.0, -2.0, 1.0)).collect();
        let still = vec![V::zeros(); moved.len()];
        let largest =
            forces(&mut model, &moved, &still).iter().map(|f| f.norm()).fold(0.0, f64::max);
        assert!(largest < 1e-8, "{name}: {largest}");
    }
}

#[test]
fn inner_forces_have_no_sum_and_no_torque_and_damping_takes_energy() {
    let mesh = mesh();
    let masses = vec![0.01; mesh.positions().len()];
    let elastic = ElasticModuli { damping: 0.05, ..ElasticModuli::default() };
    let elements =
        |law| Model::Elements(Elements::new(mesh.positions(), mesh.tetrahedra(), elastic, law));
    let models = [
        mass_points(&mesh, Moduli { area: 1e4, ..Moduli::default() }),
        elements(ConstitutiveLaw::Corotational),
        elements(ConstitutiveLaw::NeoHookean),
        elements(ConstitutiveLaw::Hencky),
        Model::Shape(ShapeMatching::new(mesh.positions(), &masses, ShapeParameters::default())),
    ];
    for (number, mut model) in models.into_iter().enumerate() {
        let positions = deformed(0.01, 11);
        let mut random = Random(2);
        let velocities: Vec<V> = positions.iter().map(|_| random.vector(1.0)).collect();
        let still = vec![V::zeros(); positions.len()];
        let elastic = forces(&mut model, &positions, &still);
        let all = forces(&mut model, &positions, &velocities);
        let scale: f64 = all.iter().map(|f| f.norm()).sum();
        let sum: V = all.iter().sum();
        assert!(sum.norm() < 1e-10 * scale, "model {number}: {sum}");
        let torque: V = positions.iter().zip(&elastic).map(|(p, f)| p.cross(f)).sum();
        assert!(torque.norm() < 1e-9 * scale, "model {number}: {torque}");
        let power: f64 = (0..all.len()).map(|v| (all[v] - elastic[v]).dot(&velocities[v])).sum();
        assert!(power < 0.0, "model {number}: damping gives {power} W");
    }
}

#[test]
fn shapes_that_may_bend_fit_bent_bodies_better() {
    let mesh = TetMesh::new(box_grid([8, 2, 2], 0.05)).unwrap();
    let masses = vec![0.01; mesh.positions().len()];
    // A parabola along the body.
    let bent: Vec<V> = mesh
        .positions()
        .iter()
        .map(|p| V::new(p.x, p.y + 2.0 * (p.x - 0.2) * (p.x - 0.2), p.z))
        .collect();
    let residual = |matching| {
        let parameters = ShapeParameters { matching, ..ShapeParameters::default() };
        let mut model = ShapeMatching::new(mesh.positions(), &masses, parameters);
        let goals = model.goals(&bent).to_vec();
        goals.iter().zip(&bent).map(|(g, p)| (g - p).norm_squared()).sum::<f64>()
    };
    let [rigid, linear, quadratic] =
        [Matching::Rigid, Matching::Linear(1.0), Matching::Quadratic(1.0)].map(residual);
    assert!(linear < 1.01 * rigid, "{linear} {rigid}");
    assert!(quadratic < 1e-3 * linear, "{quadratic} {linear}");
}

#[test]
fn linear_shapes_follow_stretches_that_keep_the_volume() {
    let mesh = mesh();
    let masses = vec![0.01; mesh.positions().len()];
    let off = |matching, stretch: V| {
        let parameters = ShapeParameters { matching, ..ShapeParameters::default() };
        let mut model = ShapeMatching::new(mesh.positions(), &masses, parameters);
        let stretched: Vec<V> =
            mesh.positions().iter().map(|p| p.component_mul(&stretch)).collect();
        let goals = model.goals(&stretched).iter().zip(&stretched);
        goals.map(|(goal, place)| (goal - place).norm()).fold(0.0, f64::max)
    };
    let keeps_volume = V::new(1.25, 0.8, 1.0);
    assert!(off(Matching::Linear(1.0), keeps_volume) < 1e-9);
    assert!(off(Matching::Rigid, keeps_volume) > 0.01);
    // Half linear is half of the way.
    let half = off(Matching::Linear(0.5), keeps_volume) / off(Matching::Rigid, keeps_volume);
    assert!((half - 0.5).abs() < 0.05, "{half}");
    // What is larger all over is as wrong for both.
    let larger = V::repeat(1.3);
    let [linear, rigid] = [Matching::Linear(1.0), Matching::Rigid].map(|m| off(m, larger));
    assert!(linear > 0.01 && (linear / rigid - 1.0).abs() < 1e-6, "{linear} {rigid}");
}

#[test]
fn clusters_cover_every_vertex_and_follow_local_turns() {
    let mesh = TetMesh::new(box_grid([12, 2, 2], 0.05)).unwrap();
    let masses = vec![0.01; mesh.positions().len()];
    // Bent into a quarter of a circle.
    let bent: Vec<V> = mesh
        .positions()
        .iter()
        .map(|p| {
            let (sine, cosine) = defcol::math::sin_cos(p.x / 0.6 * 1.5);
            let radius = 0.4 - p.y;
            V::new(radius * sine, 0.4 - radius * cosine, p.z)
        })
        .collect();
    let residual = |clusters| {
        let parameters = ShapeParameters { clusters, ..ShapeParameters::default() };
        let mut model = ShapeMatching::new(mesh.positions(), &masses, parameters);
        let goals = model.goals(&bent).to_vec();
        goals.iter().zip(&bent).map(|(g, p)| (g - p).norm_squared()).sum::<f64>()
    };
    assert!(residual(6) < 0.1 * residual(1), "{} {}", residual(6), residual(1));
}

#[test]
fn rotations_are_found_from_far_away_and_for_flat_matrices() {
    let mut random = Random(4);
    for _ in 0..200 {
        let turn = Rotation::identity().then(random.vector(2.0)).then(random.vector(2.0));
        let stretch = Matrix3::from_fn(|r, c| if r == c { 1.0 } else { 0.2 * random.next() });
        let stretch = (stretch + stretch.transpose()) * 0.5;
        let found = Rotation::nearest_to(&(turn.matrix() * stretch), Rotation::identity());
        assert!((found.matrix() - turn.matrix()).norm() < 1e-6, "{found:?} {turn:?}");
    }
    for axis in [
        V::x(),
        V::y(),
        V::z(),
        V::new(1.0, 1.0, 0.0).normalize(),
        V::new(0.0, -0.38, 0.92).normalize(),
    ] {
        // Half a turn: exactly as far away in both directions.
        let half = axis * axis.transpose() * 2.0 - Matrix3::identity();
        let found = Rotation::nearest_to(&half, Rotation::identity()).matrix();
        assert!((found - half).norm() < 1e-6, "{axis}");
    }
    for flat in [Matrix3::zeros(), Matrix3::from_diagonal(&V::new(1.0, 1.0, 0.0))] {
        let found = Rotation::nearest_to(&flat, Rotation::identity()).matrix();
        assert!((found - Matrix3::identity()).norm() < 1e-9);
    }
}
