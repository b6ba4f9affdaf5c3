//! What a world does against what physics says.

use defcol::integrate::{Accuracy, Integrator};
use defcol::math::{Bounds, Matrix3};
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol::model::{ConstitutiveLaw, ElasticModuli, Joint, Moduli, ShapeParameters};
use defcol::response::{Collider, Field, FieldKind, Springs};
use defcol::state::{Binding, Collides};
use defcol::world::{BodyId, BodyKind, BodyOptions, Dragger, Response, World};
use defcol_scenes::catalogue::Scene;
use defcol_scenes::regular::{ball, box_grid, cylinder, icosphere, plane_patch};

use crate::support::QUICK;
use crate::support::worlds::{
    INTEGRATORS, V, centre, elements, lowest, responses, solid, steps, world,
};

fn volume(mesh: &TetMesh<f64>, places: &[V]) -> f64 {
    let of = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|v| places[v as usize]);
        (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
    };
    mesh.tetrahedra().iter().map(of).sum()
}

/// Momentum and angular momentum of all that moves.
fn momenta(world: &World<f64>) -> [V; 2] {
    let motion = world.motion();
    let mut sums = [V::zeros(); 2];
    for (v, place) in motion.positions.iter().enumerate() {
        let momentum = motion.velocities[v] * motion.masses[v];
        sums[0] += momentum;
        sums[1] += place.cross(&momentum);
    }
    sums
}

#[test]
fn a_free_body_keeps_its_momenta() {
    let cube = solid(box_grid([3, 3, 3], 0.1));
    let materials = [
        elements(1e4, 0.0),
        BodyKind::Elements(
            ElasticModuli { damping: 0.0, ..ElasticModuli::default() },
            ConstitutiveLaw::NeoHookean,
        ),
        BodyKind::Elements(
            ElasticModuli { damping: 0.0, ..ElasticModuli::default() },
            ConstitutiveLaw::Hencky,
        ),
        BodyKind::MassPoints(Moduli { area: 1e4, ..Moduli::default() }),
        BodyKind::Shape(ShapeParameters { damping: 0.0, ..ShapeParameters::default() }),
        BodyKind::Shape(ShapeParameters { clusters: 3, ..ShapeParameters::default() }),
    ];
    for (number, material) in materials.into_iter().enumerate() {
        for integrator in INTEGRATORS {
            let mut world = world(|p| {
                p.integrator = integrator;
                // Explicit Euler gains energy: it needs tiny steps to last.
                p.substeps = if integrator == Integrator::ExplicitEuler { 400 } else { 20 };
                p.gravity = V::zeros();
            });
            let id = world.add_solid(&cube, material, &BodyOptions::default()).unwrap();
            world.set_velocity(id, V::new(0.3, 0.1, -0.2), V::new(0.5, 1.0, 2.0)).unwrap();
            let before = momenta(&world);
            steps(&mut world, if integrator == Integrator::ExplicitEuler { 5 } else { 30 });
            let after = momenta(&world);
            let lost = (after[0] - before[0]).norm() / before[0].norm();
            // Implicit Euler as far as its equations are solved.
            assert!(lost < 1e-7, "model {number}, {integrator:?}: momentum {lost}");
            let lost = (after[1] - before[1]).norm() / before[1].norm();
            // Explicit Euler turns a body on the tangent; implicit Euler and shapes on the mean of clusters are first
            // order; all others keep it.
            let bound = match integrator {
                Integrator::SymplecticEuler | Integrator::Verlet | Integrator::RungeKutta4 => 1e-6,
                Integrator::Xpbd => 5e-3,
                _ => 3e-2,
            };
            assert!(lost < bound, "model {number}, {integrator:?}: angular momentum {lost}");
        }
    }
}

#[test]
fn energy_drifts_as_each_integrator_lets_it() {
    let cube = solid(box_grid([3, 3, 3], 0.1));
    let ratio = |integrator| {
        let mut world = world(|p| {
            p.integrator = integrator;
            p.substeps = if integrator == Integrator::ExplicitEuler { 200 } else { 20 };
            p.gravity = V::zeros();
        });
        let id = world.add_solid(&cube, elements(1e4, 0.0), &BodyOptions::default()).unwrap();
        // Stretched by a tenth along x, then let go.
        let stretched: Vec<V> =
            cube.positions().iter().map(|p| V::new(1.1 * p.x, p.y, p.z)).collect();
        world.set_positions(id, &stretched).unwrap();
        let before: f64 = world.energy().total();
        steps(&mut world, if integrator == Integrator::ExplicitEuler { 10 } else { 60 });
        world.energy().total() / before
    };
    let [explicit, symplectic, verlet, rk4, implicit, xpbd] = INTEGRATORS.map(ratio);
    assert!(explicit > 1.02, "explicit Euler gains: {explicit}");
    assert!((symplectic - 1.0).abs() < 0.05, "symplectic Euler: {symplectic}");
    assert!((verlet - 1.0).abs() < 0.01, "Verlet: {verlet}");
    assert!((rk4 - 1.0).abs() < 0.01, "Runge-Kutta: {rk4}");
    assert!(implicit < 1.0 && implicit > 0.0, "implicit Euler loses: {implicit}");
    assert!(xpbd < 1.0 && xpbd > 0.0, "XPBD loses: {xpbd}");
}

/// A beam of length 1 held at one end: the deflection of its tip under gravity, over what Timoshenko's theory says.
fn deflection(cells: u32, young: f64, elasticity: ConstitutiveLaw) -> f64 {
    let across = 1.0 / f64::from(10 * cells);
    let mesh = solid(box_grid([10 * cells, cells, cells], across));
    let mut world = world(|p| {
        p.integrator = Integrator::ImplicitEuler(Accuracy { iterations: 20_000, tolerance: 1e-9 });
        p.substeps = 1;
        p.frame = 1e3;
    });
    let elastic = ElasticModuli { young, poisson: 0.3, damping: 0.0 };
    let id = world
        .add_solid(&mesh, BodyKind::Elements(elastic, elasticity), &BodyOptions::default())
        .unwrap();
    let held: Vec<u32> =
        (0u32..).zip(mesh.positions()).filter(|(_, p)| p.x == 0.0).map(|(v, _)| v).collect();
    world.pin(id, &held).unwrap();
    steps(&mut world, 4);
    let tip = (0..).zip(mesh.positions()).filter(|(_, p): &(usize, &V)| (p.x - 1.0).abs() < 1e-9);
    let fallen: Vec<f64> = tip.map(|(v, p)| p.y - world.positions(id).unwrap()[v].y).collect();
    let fallen = fallen.iter().sum::<f64>() / fallen.len() as f64;
    let (height, density) = (0.1f64, 100.0);
    let load = density * 9.81 * height * height;
    let bending = load / (8.0 * young * height.powi(4) / 12.0);
    let shear = load / (2.0 * 5.0 / 6.0 * young / 2.6 * height * height);
    fallen / (bending + shear)
}

#[test]
fn a_beam_bends_as_beam_theory_says() {
    // Falls by a hundredth of its length.
    let young = 1.5e6;
    let (cells, tolerance) = if QUICK { (6, 0.08) } else { (8, 0.05) };
    let [coarse, fine] =
        [2, cells].map(|cells| deflection(cells, young, ConstitutiveLaw::Corotational));
    assert!((fine - 1.0).abs() < tolerance, "{fine} of the theory on the fine mesh");
    assert!((coarse - 1.0).abs() > 2.0 * (fine - 1.0).abs(), "{coarse}, then {fine}");
    for law in [ConstitutiveLaw::NeoHookean, ConstitutiveLaw::Hencky] {
        let other = deflection(6, young, law);
        assert!((other - 1.0).abs() < 0.1, "{other} of the theory for the law {law:?}");
    }
}

/// A bar stretched along x and held at both ends: how much longer and how wide its middle is, as shares of what it was.
fn stretched_bar(elasticity: ConstitutiveLaw, poisson: f64, stretch: f64) -> [f64; 2] {
    let mesh = solid(box_grid([24, 6, 6], 0.05));
    let mut world = world(|p| {
        p.integrator = Integrator::ImplicitEuler(Accuracy { iterations: 5000, tolerance: 1e-8 });
        (p.substeps, p.frame, p.gravity) = (1, 1e3, V::zeros());
    });
    let elastic = ElasticModuli { young: 1e5, poisson, damping: 0.0 };
    let material = BodyKind::Elements(elastic, elasticity);
    let id = world.add_solid(&mesh, material, &BodyOptions::default()).unwrap();
    let stretched: Vec<V> =
        mesh.positions().iter().map(|p| V::new(stretch * p.x, p.y, p.z)).collect();
    world.set_positions(id, &stretched).unwrap();
    let ends = (0u32..).zip(mesh.positions()).filter(|(_, p)| p.x < 1e-9 || p.x > 1.2 - 1e-9);
    world.pin(id, &ends.map(|(v, _)| v).collect::<Vec<_>>()).unwrap();
    steps(&mut world, 12);
    let places = world.positions(id).unwrap();
    let plane = |x: f64| {
        let on = |p: &V| (p.x - x).abs() < 1e-9;
        let own = mesh.positions().iter().zip(places).filter(|(rest, _)| on(rest));
        own.map(|(_, place)| *place).collect::<Vec<V>>()
    };
    let mean = |places: &[V]| places.iter().map(|p| p.x).sum::<f64>() / places.len() as f64;
    [(mean(&plane(0.7)) - mean(&plane(0.5))) / 0.2, Bounds::of(plane(0.6)).extent().z / 0.3]
}

#[test]
fn a_stretched_bar_gets_thinner_by_its_poisson_ratio() {
    for (elasticity, poisson) in [
        (ConstitutiveLaw::Corotational, 0.3),
        (ConstitutiveLaw::NeoHookean, 0.3),
        (ConstitutiveLaw::Hencky, 0.3),
        (ConstitutiveLaw::Corotational, 0.45),
    ] {
        let [long, wide] = stretched_bar(elasticity, poisson, 1.01);
        let measured = (1.0 - wide) / (long - 1.0);
        assert!(
            (measured - poisson).abs() < 0.05 * poisson,
            "{elasticity:?} {poisson}: {measured}"
        );
    }
}

#[test]
fn hencky_s_law_is_linear_in_logarithms() {
    for stretch in [0.8, 1.25] {
        let [long, wide] = stretched_bar(ConstitutiveLaw::Hencky, 0.3, stretch);
        let measured = -wide.ln() / long.ln();
        assert!((measured - 0.3).abs() < 0.015, "stretched to {long}: {measured}");
        let [long, wide] = stretched_bar(ConstitutiveLaw::Corotational, 0.3, stretch);
        let other = -wide.ln() / long.ln();
        assert!((other - 0.3).abs() > 0.02, "the test tells nothing: {other} at {long}");
    }
}

#[test]
fn what_falls_falls_as_galilei_found() {
    for integrator in INTEGRATORS {
        let mut world = world(|p| (p.integrator, p.substeps) = (integrator, 100));
        let cube = solid(box_grid([2, 2, 2], 0.1));
        let bodies = [
            world.add_solid(&cube, elements(1e4, 0.0), &BodyOptions::default()).unwrap(),
            world.add_solid(&cube, BodyKind::Rigid, &BodyOptions::default()).unwrap(),
            world.add_particles(&[V::zeros()], &BodyOptions::default()).unwrap(),
        ];
        for id in bodies {
            world.set_collides(id, Collides { enabled: false, ..Collides::default() }).unwrap();
        }
        let starts = bodies.map(|id| centre(&world, id).y);
        steps(&mut world, 30);
        for (id, start) in bodies.into_iter().zip(starts) {
            let fallen = start - centre(&world, id).y;
            assert!(
                (fallen / (0.5 * 9.81 * 0.25) - 1.0).abs() < 1e-3 + 1.0 / 3000.0,
                "{integrator:?}: {fallen}"
            );
        }
    }
}

#[test]
fn balls_bounce_to_the_height_that_restitution_says() {
    for restitution in [0.0, 0.5, 0.8] {
        let mut world = world(|p| {
            p.contact.restitution = restitution;
            p.substeps = 16;
        });
        world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
        let above = BodyOptions { position: V::new(0.0, 1.0, 0.0), ..BodyOptions::default() };
        let sphere = TriangleMesh::new(icosphere(0.1, 2)).unwrap();
        let particle = world.add_particles(&[V::new(1.0, 0.0, 0.0)], &above).unwrap();
        let ball = world.add_surface(&sphere, BodyKind::Rigid, &above).unwrap();
        let mut heights = [vec![], vec![]];
        for _ in 0..70 {
            world.step().unwrap();
            heights[0].push(centre(&world, particle).y - 0.005);
            heights[1].push(centre(&world, ball).y - 0.105);
        }
        for (number, heights) in heights.iter().enumerate() {
            let landed = heights.iter().position(|&y| y < 0.05).unwrap();
            let highest = heights[landed + 2..].iter().copied().fold(f64::MIN, f64::max);
            let expected = restitution * restitution * 0.9;
            assert!(
                (highest - expected).abs() < 0.08,
                "{number} {restitution}: {highest} {expected}"
            );
        }
    }
}

/// How far a cube slides in two seconds on ground that is tilted by this angle.
fn slide(material: BodyKind, response: Response, integrator: Integrator, degrees: f64) -> f64 {
    let mut world = world(|p| {
        let (sine, cosine) = defcol::math::sin_cos(degrees.to_radians());
        p.gravity = V::new(9.81 * sine, -9.81 * cosine, 0.0);
        p.contact.friction = 0.5;
        (p.response, p.integrator) = (response, integrator);
    });
    world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
    let cube = solid(box_grid([2, 2, 2], 0.1));
    let above = BodyOptions { position: V::new(0.0, 0.006, 0.0), ..BodyOptions::default() };
    let id = world.add_solid(&cube, material, &above).unwrap();
    steps(&mut world, 30);
    let start = centre(&world, id).x;
    steps(&mut world, 90);
    centre(&world, id).x - start
}

#[test]
fn things_slide_beyond_the_friction_angle_only() {
    // The coefficient 0.5 is an angle of 26.6 degrees.
    for material in [BodyKind::Rigid, elements(1e5, 0.01)] {
        let layer = Response::default();
        assert!(slide(material, layer, Integrator::Xpbd, 24.0).abs() < 0.01, "{material:?}");
        let slid = slide(material, layer, Integrator::Xpbd, 32.0);
        let (sine, cosine) = defcol::math::sin_cos(32f64.to_radians());
        // Already moving when it is first looked at, after half a second.
        let acceleration = 9.81 * (sine - 0.5 * cosine);
        let expected = 0.5 * acceleration * (4.0 - 0.25);
        assert!((slid / expected - 1.0).abs() < 0.1, "{material:?}: {slid} {expected}");
    }
    let springs = Response::Penalty(Springs { frequency: 30.0, damping: 0.7 });
    let implicit = Integrator::ImplicitEuler(Accuracy::default());
    // Where things stick, penalties are dampers: they creep.
    let crept = slide(BodyKind::Rigid, springs, implicit, 20.0);
    assert!(crept < 0.2, "{crept}");
    let slid = slide(BodyKind::Rigid, springs, implicit, 35.0);
    assert!(slid > 5.0 * crept.max(0.2), "{slid}");
}

#[test]
fn a_stack_of_ten_membranes_rests() {
    let mut scene = Scene::<f64>::build("membranes", 0).unwrap();
    for _ in 0..300 {
        scene.step().unwrap();
    }
    let before = scene.world.motion().positions.clone();
    let mass: f64 = scene.world.motion().masses.iter().sum();
    let mut liveliest = 0.0f64;
    for _ in 0..60 {
        scene.step().unwrap();
        let motion = scene.world.motion();
        let parts = motion.velocities.iter().zip(&motion.masses);
        let energy: f64 = parts.map(|(v, m)| m * v.norm_squared() / 2.0).sum();
        liveliest = liveliest.max(energy / mass);
    }
    let pairs = before.iter().zip(&scene.world.motion().positions);
    let moved = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    // In a second no vertex moves by more than 3 mm, 3 thousandths of their width.
    assert!(moved < 0.003 && liveliest < 1e-6, "moved by {moved}, {liveliest} J/kg");
    // Nothing is in anything by more than a fiftieth of their thickness.
    assert!(scene.world.deepest() < 0.001, "{}", scene.world.deepest());
}

/// In single precision a position has seven digits; the speed of what lies still must not be made of the eighth.
#[test]
fn a_heap_of_balls_is_still_in_single_precision() {
    let mut scene = Scene::<f32>::build("balls", 0).unwrap();
    for _ in 0..300 {
        scene.step().unwrap();
    }
    let motion = scene.world.motion();
    let fastest = motion.velocities.iter().map(|v| v.norm()).fold(0.0, f32::max);
    let parts = motion.velocities.iter().zip(&motion.masses);
    let energy: f32 = parts.map(|(v, m)| m * v.norm_squared() / 2.0).sum();
    let energy = energy / motion.masses.iter().sum::<f32>();
    // Differences of positions would make 1e-8 J/kg of rounding alone; without the impulses of the last step the heap
    // creeps with 1e-6.
    assert!(energy < 5e-9 && fastest < 3e-3, "{energy} J/kg, {fastest} m/s");
    assert!(scene.world.deepest() < 1e-3, "{}", scene.world.deepest());
}

#[test]
fn soft_things_keep_their_volume() {
    let cube = solid(box_grid([4, 4, 4], 0.1));
    let nearly =
        |law| BodyKind::Elements(ElasticModuli { young: 1e4, poisson: 0.49, damping: 0.02 }, law);
    let points = BodyKind::MassPoints(Moduli { volume: 1e6, damping: 0.01, ..Moduli::default() });
    let implicit = Integrator::ImplicitEuler(Accuracy::default());
    // XPBD solves each element once a step, and is softer than its material: fewer than 8 steps a frame more so.
    for (material, integrator, bound) in [
        (nearly(ConstitutiveLaw::NeoHookean), implicit, 0.01),
        (nearly(ConstitutiveLaw::Corotational), implicit, 0.01),
        (nearly(ConstitutiveLaw::Hencky), implicit, 0.01),
        (nearly(ConstitutiveLaw::NeoHookean), Integrator::Xpbd, 0.02),
        (nearly(ConstitutiveLaw::Hencky), Integrator::Xpbd, 0.02),
        (nearly(ConstitutiveLaw::Corotational), Integrator::Xpbd, 0.02),
        (points, Integrator::Xpbd, 0.02),
    ] {
        let mut world = world(|p| p.integrator = integrator);
        world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
        let above = BodyOptions { position: V::new(0.0, 0.01, 0.0), ..BodyOptions::default() };
        let id = world.add_solid(&cube, material, &above).unwrap();
        steps(&mut world, 120);
        let kept = volume(&cube, world.positions(id).unwrap()) / cube.volume();
        let height = Bounds::of(world.positions(id).unwrap().iter().copied()).extent().y;
        assert!((kept - 1.0).abs() < bound, "{material:?} {integrator:?}: {kept}");
        assert!(height < 0.3995, "{material:?}: it did not even give way: {height}");
    }
}

#[test]
fn elements_recover_from_inversion() {
    let cube = solid(box_grid([3, 3, 3], 0.1));
    let laws =
        [ConstitutiveLaw::Corotational, ConstitutiveLaw::NeoHookean, ConstitutiveLaw::Hencky];
    let integrators = [
        Integrator::Xpbd,
        Integrator::SymplecticEuler,
        Integrator::ImplicitEuler(Accuracy::default()),
    ];
    for (number, law) in laws.into_iter().enumerate() {
        for integrator in integrators {
            if QUICK && integrator != integrators[number] {
                continue;
            }
            let mut world = world(|p| {
                (p.integrator, p.gravity) = (integrator, V::zeros());
                p.substeps = 40;
            });
            let elastic = ElasticModuli { young: 1e4, poisson: 0.3, damping: 0.02 };
            let id = world
                .add_solid(&cube, BodyKind::Elements(elastic, law), &BodyOptions::default())
                .unwrap();
            // One corner is pushed through to the other side.
            let mut places = cube.positions().to_vec();
            places[0] = V::new(0.25, 0.22, 0.2);
            world.set_positions(id, &places).unwrap();
            let inverted = |places: &[V]| {
                let one = |t: &&[u32; 4]| {
                    let [a, b, c, d] = t.map(|v| places[v as usize]);
                    (b - a).cross(&(c - a)).dot(&(d - a)) <= 0.0
                };
                cube.tetrahedra().iter().filter(one).count()
            };
            assert!(inverted(&places) > 0);
            steps(&mut world, 240);
            let after = world.positions(id).unwrap();
            assert_eq!(inverted(after), 0, "{law:?} {integrator:?}");
            let kept = volume(&cube, after) / cube.volume();
            assert!((kept - 1.0).abs() < 0.02, "{law:?} {integrator:?}: {kept}");
        }
    }
}

#[test]
fn what_is_strained_too_far_stays_deformed() {
    let bar = solid(box_grid([6, 2, 2], 0.05));
    for yielding in [false, true] {
        let strain = if yielding { 0.02 } else { f64::INFINITY };
        let materials = [
            BodyKind::MassPoints(Moduli { yield_strain: strain, ..Moduli::default() }),
            BodyKind::Shape(ShapeParameters { yield_strain: strain, ..ShapeParameters::default() }),
        ];
        for material in materials {
            let mut world = world(|p| p.gravity = V::zeros());
            let id = world.add_solid(&bar, material, &BodyOptions::default()).unwrap();
            let stretched: Vec<V> =
                bar.positions().iter().map(|p| V::new(1.3 * p.x, p.y, p.z)).collect();
            world.set_positions(id, &stretched).unwrap();
            let ends =
                (0u32..).zip(bar.positions()).filter(|(_, p)| p.x < 1e-9 || p.x > 0.3 - 1e-9);
            let ends: Vec<u32> = ends.map(|(v, _)| v).collect();
            world.pin(id, &ends).unwrap();
            steps(&mut world, 60);
            world.unpin(id, &ends).unwrap();
            steps(&mut world, 120);
            let length = Bounds::of(world.positions(id).unwrap().iter().copied()).extent().x / 0.3;
            assert_eq!(length > 1.08, yielding, "{material:?}: {length}");
        }
    }
}

#[test]
fn a_rigid_body_spins_on() {
    for integrator in INTEGRATORS {
        let mut world =
            world(|p| (p.gravity, p.integrator, p.substeps) = (V::zeros(), integrator, 20));
        let brick = solid(box_grid([4, 2, 1], 0.1));
        let id = world.add_solid(&brick, BodyKind::Rigid, &BodyOptions::default()).unwrap();
        world.set_velocity(id, V::new(0.1, 0.0, 0.0), V::new(0.3, 2.0, 0.1)).unwrap();
        let solid = brick.mass_properties();
        let angular = |world: &World<f64>| {
            // From its vertices: the pose, and the velocities around the centre.
            let places = world.positions(id).unwrap();
            let rest = brick.positions();
            let edge = |places: &[V], k: usize| places[k] - places[0];
            let ends = [4usize, 10, 15].map(|k| (edge(places, k), edge(rest, k)));
            let now = Matrix3::from_columns(&ends.map(|e| e.0));
            let then = Matrix3::from_columns(&ends.map(|e| e.1));
            let turn = now * then.try_inverse().unwrap();
            let velocities = world.velocities(id).unwrap();
            let rates =
                Matrix3::from_columns(&[4usize, 10, 15].map(|k| velocities[k] - velocities[0]));
            let spin = rates * now.try_inverse().unwrap();
            let spin = V::new(spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]);
            turn * (solid.inertia * 100.0) * turn.transpose() * spin
        };
        let before = angular(&world);
        steps(&mut world, 120);
        let lost = (angular(&world) - before).norm() / before.norm();
        let bound = if integrator == Integrator::ExplicitEuler { 0.1 } else { 0.02 };
        assert!(lost < bound, "{integrator:?}: {lost}");
        assert!(
            (world.velocities(id).unwrap().iter().sum::<V>() / 30.0 - V::new(0.1, 0.0, 0.0)).norm()
                < 0.3
        );
    }
}

#[test]
fn springs_hold_what_hangs_on_them() {
    for integrator in INTEGRATORS {
        let mut world = world(|p| (p.integrator, p.substeps) = (integrator, 40));
        let drop = world
            .add_particles(
                &[V::zeros()],
                &BodyOptions { particle_mass: 0.2, ..BodyOptions::default() },
            )
            .unwrap();
        let cube = solid(box_grid([1, 1, 1], 0.1));
        let brick = world
            .add_solid(
                &cube,
                BodyKind::Rigid,
                &BodyOptions { position: V::new(3.0, 0.0, 0.0), ..BodyOptions::default() },
            )
            .unwrap();
        let hook = Dragger::new(drop, 0, V::new(0.0, 1.0, 0.0), 50.0, 2.0);
        let id = world.add_dragger(hook).unwrap();
        let middle = Dragger {
            vertices: [0, 3, 5, 6],
            weights: [0.25; 4],
            ..Dragger::new(brick, 0, V::new(3.05, 1.0, 0.05), 50.0, 2.0)
        };
        world.add_dragger(middle).unwrap();
        steps(&mut world, 300);
        let hangs = 1.0 - world.positions(drop).unwrap()[0].y;
        assert!((hangs / (0.2 * 9.81 / 50.0) - 1.0).abs() < 0.02, "{integrator:?}: {hangs}");
        let hangs = 1.0 - centre(&world, brick).y;
        assert!((hangs / (0.1 * 9.81 / 50.0) - 1.0).abs() < 0.05, "{integrator:?}: {hangs}");
        world.remove_dragger(id).unwrap();
        steps(&mut world, 30);
        assert!(world.positions(drop).unwrap()[0].y < 0.0);
    }
}

#[test]
fn magnets_pull_turn_and_fade() {
    let at = |kind, strength, place: V| {
        Field { kind, strength, half_distance: 1.0, power: 2.0 }.at(place)
    };
    let point = FieldKind::Point { centre: V::zeros() };
    let near = at(point, 5.0, V::new(1.0, 0.0, 0.0));
    assert!((near.x + 2.5).abs() < 0.05 && near.y == 0.0, "{near}");
    assert!(at(point, 5.0, V::new(3.0, 0.0, 0.0)).norm() < 0.6);
    assert_eq!(at(point, 5.0, V::zeros()), V::zeros());
    let line = FieldKind::Line { point: V::zeros(), direction: V::new(0.0, 2.0, 0.0) };
    let pulled = at(line, 5.0, V::new(1.0, 7.0, 0.0));
    assert!(pulled.x < -2.4 && pulled.y == 0.0);
    let vortex = FieldKind::Vortex { point: V::zeros(), direction: V::y() };
    let turned = at(vortex, 5.0, V::new(1.0, 0.0, 0.0));
    assert!(turned.z.abs() > 2.4 && turned.x == 0.0, "{turned}");
    let uniform = FieldKind::Uniform { direction: V::new(0.0, 3.0, 0.0) };
    let mut world = world(|p| p.gravity = V::new(0.0, -9.81, 0.0));
    let id = world.add_particles(&[V::zeros()], &BodyOptions::default()).unwrap();
    world
        .add_magnet(Field {
            kind: uniform,
            strength: 9.81,
            half_distance: f64::INFINITY,
            power: 1.0,
        })
        .unwrap();
    steps(&mut world, 60);
    assert!(world.positions(id).unwrap()[0].norm() < 1e-9);
}

#[test]
fn wind_carries_sheets_along() {
    let sheet = TriangleMesh::new(plane_patch([4, 4], 0.1)).unwrap();
    let mut world = world(|p| {
        p.gravity = V::zeros();
        (p.air.wind, p.air.drag) = (V::new(0.0, 0.0, 2.0), 1.0);
    });
    let options = BodyOptions { area_density: 0.2, ..BodyOptions::default() };
    let id = world.add_surface(&sheet, BodyKind::MassPoints(Moduli::default()), &options).unwrap();
    steps(&mut world, 120);
    let velocity = world.velocities(id).unwrap().iter().sum::<V>() / 25.0;
    // Two seconds are ten times as long as it takes to catch up.
    assert!((velocity.z - 2.0).abs() < 0.05 && velocity.xy().norm() < 1e-6, "{velocity}");
}

#[test]
fn joints_follow_motors_and_stay_within_limits() {
    let skin = TriangleMesh::new(cylinder(0.05, 0.5, 10, 8)).unwrap();
    let bindings: Vec<Binding<f64>> = skin
        .positions()
        .iter()
        .map(|p| Binding {
            joints: [0, 1, 0, 0],
            weights: [f64::from(p.z < 0.0), f64::from(p.z >= 0.0), 0.0, 0.0],
        })
        .collect();
    let motor = [50.0, 5.0];
    let joints = vec![
        Joint { motor, limits: [-1.0, 1.0], ..Joint::new(None, V::new(0.0, 0.0, -0.5), V::x()) },
        Joint { motor, limits: [-0.5, 0.5], ..Joint::new(Some(0), V::zeros(), V::x()) },
    ];
    for integrator in INTEGRATORS {
        let mut world = world(|p| (p.gravity, p.integrator) = (V::zeros(), integrator));
        let options = BodyOptions { area_density: 5.0, ..BodyOptions::default() };
        let id = world.add_articulated(&skin, bindings.clone(), joints.clone(), &options).unwrap();
        world.set_joint_target(id, 0, 0.6).unwrap();
        world.set_joint_target(id, 1, 3.0).unwrap();
        for _ in 0..200 {
            world.step().unwrap();
            assert!(world.joint_angle(id, 1).unwrap() <= 0.5 + 1e-12);
        }
        let [a, b] = [0, 1].map(|joint| world.joint_angle(id, joint).unwrap());
        assert!((a - 0.6).abs() < 0.01 && (b - 0.5).abs() < 0.01, "{integrator:?}: {a} {b}");
        // The end of the arm is where both angles put it.
        let tip =
            skin.positions().iter().position(|p| p.z > 0.499 && p.xy().norm() < 1e-9).unwrap();
        let turned = |angle: f64, length: f64| {
            let (sine, cosine) = defcol::math::sin_cos(angle);
            V::new(0.0, -sine, cosine) * length
        };
        let expected = V::new(0.0, 0.0, -0.5) + turned(a, 0.5) + turned(a + b, 0.5);
        assert!((world.positions(id).unwrap()[tip] - expected).norm() < 1e-6);
        // Limits that are changed hold from the next step on, for what is there and for what is wanted.
        world.set_joint_limits(id, 1, [-0.5, 0.45]).unwrap();
        for _ in 0..60 {
            world.step().unwrap();
            assert!(world.joint_angle(id, 1).unwrap() <= 0.45 + 1e-12, "{integrator:?}");
        }
        assert!((world.joint_angle(id, 1).unwrap() - 0.45).abs() < 0.01, "{integrator:?}");
        assert!(world.set_joint_limits(id, 1, [0.5, 0.4]).is_err());
        assert!(world.set_joint_limits(id, 2, [0.0, 1.0]).is_err());
        assert!(world.set_joint_limits(id, 0, [f64::NAN, 1.0]).is_err());
    }
}

#[test]
fn a_pushed_arm_gives_way() {
    // A weight falls on an arm that a weak motor holds.
    let skin = TriangleMesh::new(cylinder(0.05, 0.5, 20, 8)).unwrap();
    let bindings =
        vec![Binding { joints: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] }; skin.positions().len()];
    let joint = Joint { motor: [20.0, 2.0], ..Joint::new(None, V::new(0.0, 0.0, -0.5), V::x()) };
    let mut world = world(|p| p.integrator = Integrator::ImplicitEuler(Accuracy::default()));
    let options = BodyOptions { area_density: 2.0, ..BodyOptions::default() };
    let arm = world.add_articulated(&skin, bindings, vec![joint], &options).unwrap();
    steps(&mut world, 120);
    let alone = world.joint_angle(arm, 0).unwrap();
    let weight = solid(box_grid([2, 2, 2], 0.05));
    let above =
        BodyOptions { density: 500.0, position: V::new(-0.05, 0.1, 0.2), ..BodyOptions::default() };
    world.add_solid(&weight, BodyKind::Rigid, &above).unwrap();
    let mut lowest = alone;
    for _ in 0..60 {
        world.step().unwrap();
        lowest = lowest.max(world.joint_angle(arm, 0).unwrap());
    }
    assert!(lowest > alone + 0.02, "{alone} {lowest}");
}

#[test]
fn an_arm_comes_to_rest_on_the_ground() {
    let skin = TriangleMesh::new(cylinder(0.05, 1.0, 40, 12)).unwrap();
    let bindings =
        vec![Binding { joints: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] }; skin.positions().len()];
    let joint = Joint { motor: [0.0, 0.2], ..Joint::new(None, V::new(0.0, 0.0, -0.5), V::x()) };
    for integrator in INTEGRATORS {
        let mut world = world(|p| p.integrator = integrator);
        world.add_collider(Collider::half_space(V::y(), -0.3)).unwrap();
        let options = BodyOptions { area_density: 2.0, ..BodyOptions::default() };
        let bindings = bindings.clone();
        let arm = world.add_articulated(&skin, bindings, vec![joint], &options).unwrap();
        let lowest = |world: &World<f64>| {
            world.positions(arm).unwrap().iter().fold(f64::MAX, |low, p| low.min(p.y))
        };
        for frame in 0..240 {
            world.step().unwrap();
            // Springs are as stiff as the few vertices that touch are heavy.
            let dive = if integrator == Integrator::Xpbd { 0.01 } else { 0.15 };
            assert!(lowest(&world) > -0.3 - dive, "{integrator:?} {frame}: {}", lowest(&world));
        }
        let low = lowest(&world);
        let sag = if integrator == Integrator::Xpbd { 0.006 } else { 0.03 };
        assert!((low + 0.3).abs() < sag, "{integrator:?}: {low}");
        let fastest = world.velocities(arm).unwrap().iter().fold(0.0f64, |m, v| m.max(v.norm()));
        assert!(fastest < 0.02, "{integrator:?}: {fastest}");
    }
}

#[test]
fn morphed_bodies_reach_their_shapes_and_push() {
    let sphere = TriangleMesh::new(icosphere(0.2, 2)).unwrap();
    let larger: Vec<V> = sphere.positions().iter().map(|p| p * 1.5).collect();
    let mut world = world(|p| p.gravity = V::zeros());
    let id = world.add_morphed(&sphere, &[larger], &BodyOptions::default()).unwrap();
    let soft = solid(ball(0.1));
    let beside = BodyOptions { position: V::new(0.32, 0.0, 0.0), ..BodyOptions::default() };
    let pushed = world.add_solid(&soft, elements(1e4, 0.02), &beside).unwrap();
    for frame in 1..=30 {
        world.set_weights(id, &[f64::from(frame) / 30.0]).unwrap();
        world.step().unwrap();
    }
    let radius = world.positions(id).unwrap().iter().map(|p| p.norm()).fold(0.0, f64::max);
    assert!((radius - 0.3).abs() < 1e-9, "{radius}");
    let nearest =
        world.positions(pushed).unwrap().iter().map(|p| p.norm()).fold(f64::MAX, f64::min);
    assert!(nearest > 0.29, "{nearest}");
}

#[test]
fn what_is_carried_follows_and_may_collide_for_its_carrier() {
    let cube = solid(box_grid([2, 2, 2], 0.1));
    let mut world = world(|_| {});
    world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
    let mute = Collides { enabled: false, ..Collides::default() };
    let above =
        BodyOptions { position: V::new(0.0, 0.3, 0.0), collides: mute, ..BodyOptions::default() };
    let carrier = world.add_solid(&cube, elements(1e4, 0.02), &above).unwrap();
    // A fine sphere around the cube, carried by its nearest tetrahedra.
    let sphere = TriangleMesh::new(icosphere(0.2, 2)).unwrap();
    let middle = V::repeat(0.1);
    let places: Vec<V> = sphere.positions().iter().map(|p| p + middle).collect();
    let embedding = defcol_meshing::embedding::Embedding::attach(&cube, &places);
    let anchors = embedding.tetrahedra.iter().zip(&embedding.weights);
    let anchors = anchors.map(|(&t, &w)| (cube.tetrahedra()[t as usize], w)).collect();
    let skin = world.add_embedded(&sphere, carrier, anchors, &BodyOptions::default()).unwrap();
    let follows = |world: &World<f64>| (centre(world, skin) - centre(world, carrier)).norm();
    assert!(follows(&world) < 0.01);
    steps(&mut world, 150);
    let lowest = |id| lowest(&world, id);
    // The sphere is wider than the cube: it touches the ground, and the cube hangs in it.
    assert!(lowest(skin) > -0.003 && lowest(skin) < 0.03, "{}", lowest(skin));
    assert!(lowest(carrier) > 0.01, "{}", lowest(carrier));
    assert!(follows(&world) < 0.02);
    assert!(world.remove_body(carrier).is_err());
}

#[test]
fn overlaps_are_pushed_out_by_every_response() {
    let cube = solid(box_grid([3, 3, 3], 0.1));
    for response in responses(32) {
        for integrator in [
            Integrator::Xpbd,
            Integrator::SymplecticEuler,
            Integrator::ImplicitEuler(Accuracy::default()),
        ] {
            for material in [BodyKind::Rigid, elements(3e4, 0.01)] {
                if QUICK && integrator == Integrator::SymplecticEuler && material == BodyKind::Rigid
                {
                    continue;
                }
                let mut world = world(|p| {
                    (p.response, p.integrator, p.gravity) = (response, integrator, V::zeros());
                    // Explicit integrators need small steps.
                    p.substeps = if integrator == Integrator::SymplecticEuler { 60 } else { 16 };
                });
                let first = world.add_solid(&cube, material, &BodyOptions::default()).unwrap();
                let position = V::new(0.27, 0.02, -0.01);
                let beside = BodyOptions { position, ..BodyOptions::default() };
                let second = world.add_solid(&cube, material, &beside).unwrap();
                steps(&mut world, 60);
                let apart = centre(&world, second).x - centre(&world, first).x;
                assert!(apart > 0.295, "{response:?} {integrator:?} {material:?}: {apart}");
                // They part, they do not explode.
                assert!(apart < 4.0, "{response:?} {integrator:?} {material:?}: {apart}");
                let sum: V = momenta_of(&world, &[first, second]);
                assert!(sum.norm() < 5e-4, "{response:?} {integrator:?} {material:?}: {sum}");
            }
        }
    }
}

#[test]
fn a_box_rests_upright_on_soft_ground() {
    let slab = solid(box_grid([10, 3, 10], 0.06));
    let cube = solid(box_grid([4, 4, 4], 0.075));
    let [layer, _, pressure, volume] = responses(32);
    for response in [volume, layer, pressure] {
        for integrator in [Integrator::Xpbd, Integrator::ImplicitEuler(Accuracy::default())] {
            if QUICK && integrator != Integrator::Xpbd {
                continue;
            }
            let mut world = world(|p| (p.response, p.integrator) = (response, integrator));
            let ground =
                world.add_solid(&slab, elements(3e4, 0.02), &BodyOptions::default()).unwrap();
            let held = (0u32..).zip(slab.positions()).filter(|(_, place)| place.y == 0.0);
            let held: Vec<u32> = held.map(|(vertex, _)| vertex).collect();
            world.pin(ground, &held).unwrap();
            let position = V::new(0.16, 0.2, 0.14);
            let above = BodyOptions { density: 400.0, position, ..BodyOptions::default() };
            let id = world.add_solid(&cube, BodyKind::Rigid, &above).unwrap();
            let start = centre(&world, id);
            steps(&mut world, 180);
            let end = centre(&world, id);
            let places = world.positions(id).unwrap();
            let top = cube.positions().iter().zip(places).filter(|(rest, _)| rest.y == 0.3);
            let heights: Vec<f64> = top.map(|(_, place)| place.y).collect();
            let (low, high) = heights
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(*y), high.max(*y)));
            let what = format!("{response:?} {integrator:?} {start} {end} {low} {high}");
            println!("{what}");
            assert!(high - low < 0.02, "{what}");
            assert!((end - start).xz().norm() < 0.03, "{what}");
            // 2 cm of fall but for the layer, and the ground gives way by 4 mm.
            assert!(start.y - end.y > 0.015 && start.y - end.y < 0.04, "{what}");
        }
    }
}

/// The momentum of a few bodies. Vertices of rigid cubes lie around the centre of mass, and share the mass alike.
fn momenta_of(world: &World<f64>, ids: &[BodyId]) -> V {
    let list: Vec<BodyId> = world.body_ids().collect();
    let one = |id: &BodyId| -> V {
        let index = list.iter().position(|other| other == id).unwrap();
        let own = world.bodies().list()[index].vertices.clone();
        let masses = world.motion().masses[own.clone()].iter();
        masses.zip(&world.motion().velocities[own]).map(|(mass, velocity)| velocity * *mass).sum()
    };
    ids.iter().map(one).sum()
}
