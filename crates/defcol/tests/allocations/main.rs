//! Once a detector has seen a scene, a call allocates nothing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "an allocator that counts must implement GlobalAlloc")]

#[path = "../support/scenes.rs"]
#[allow(dead_code, reason = "used by others too")]
mod scenes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use defcol::broad::BroadPhase;
use defcol::contact::depth::{ConsistentDepth, NearestDepth};
use defcol::contact::volume::VolumeContact;
use defcol::contact::{CollidingPoints, Contacts};
use defcol::detect::bvh::{
    Collider, FrontTracker, Group, ImpactFinder, PairFinder, Placement, Split, Update,
};
use defcol::detect::hash::SpatialHash;
use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, OverlapMeter, SampledPoints, SelfOverlap, Shell, Software, Start,
    View,
};
use defcol::detect::{Detector, Hits, Questions, SelfPairs};
use defcol::integrate::{Accuracy, Integrator};
use defcol::math::{Matrix3, Vector3};
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol::model::{ConstitutiveLaw, ElasticModuli, Moduli, ShapeParameters};
use defcol::response::{Collider as Obstacle, Field, FieldKind, Pressure, Springs};
use defcol::state::{Bodies, Collides};
use defcol::world::{
    BodyKind, BodyOptions, Detection, Dragger, Response, SimulationParameters, World,
};
use defcol_scenes::catalogue::{SCENES, Scene as Catalogued};
use defcol_scenes::dolphin::dolphin;
use defcol_scenes::heap::{Heap, rods};
use defcol_scenes::regular::{box_grid, icosphere};
use scenes::{Kind, Scene, scene};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Frames of a round: a multiple of every period in what the scenes do.
const ROUND: usize = 24;

/// Runs two rounds of frames, then wants one that allocates nothing.
///
/// With one thread that is the very next. Several threads share work differently in every call, and memory that belongs
/// to a thread grows when it first gets much of it: one of eight rounds shows that nothing has to be allocated.
fn settles(what: &str, step: impl FnMut(usize)) {
    settles_within(if rayon::current_num_threads() == 1 { 1 } else { 8 }, what, step);
}

/// The same for what does not repeat itself: its lists grow once in a while.
fn settles_within(rounds: usize, what: &str, mut step: impl FnMut(usize)) {
    (0..2 * ROUND).for_each(&mut step);
    let threads = rayon::current_num_threads();
    let mut least = usize::MAX;
    for round in 0..rounds {
        let before = COUNT.load(Ordering::Relaxed);
        (0..ROUND).for_each(|frame| step((2 + round) * ROUND + frame));
        least = least.min(COUNT.load(Ordering::Relaxed) - before);
        if least == 0 {
            return;
        }
    }
    panic!("{what}: {least} allocations in {ROUND} frames with {threads} threads");
}

/// One test: other tests in this program would be counted too.
#[test]
fn nothing_is_allocated_after_warm_up() {
    // Two threads only in the release tests of `cargo xtask ci`.
    let most = if cfg!(debug_assertions) { 1 } else { 2 };
    for threads in 1..=most {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let Heap { bodies, positions } = rods(4);
            moving_scene(&bodies, positions, "rods");
            for kind in [Kind::Soup, Kind::Sizes, Kind::Giant] {
                let Scene { bodies, positions } = scene::<f64>(kind, 4, 100);
                moving_scene(&bodies, positions, &format!("{kind:?}"));
            }
            moving_balls();
            depths();
            volumes();
            deforming_trees();
            swimming_dolphins();
            worlds();
            scenes_of_the_catalogue();
            overlaps_from_one_image();
        });
    }
}

fn moving_scene(bodies: &Bodies, mut positions: Vec<Vector3<f64>>, what: &str) {
    let mut hash = SpatialHash::default();
    let mut hits = Hits::default();
    let mut broad = BroadPhase::default();
    settles(what, |frame| {
        // To and fro, then at rest.
        let shift = [0.01, 0.0, -0.01, 0.0, 0.0, 0.0, 0.0, 0.0][frame % 8];
        positions.iter_mut().for_each(|p| p.x += shift);
        broad.update(bodies, &positions);
        hash.detect(bodies, &positions, Questions::default(), &mut hits).unwrap();
    });
    assert!(!hits.points.is_empty() || !hits.edges.is_empty());
}

/// Two balls that move through each other: images, volumes, points, self-overlap.
fn moving_balls() {
    let ball = icosphere(1.0, 5);
    let points: Vec<Vector3<f64>> =
        ball.positions.iter().map(|p| p * 0.9 + Vector3::new(0.6, 0.0, 0.0)).collect();
    let mut moved = ball.positions.clone();
    let mut meter = OverlapMeter::<Software>::default();
    let (mut generator, mut ldi) = (Software::default(), Ldi::default());
    let (mut sampled, mut exact) = (SampledPoints::default(), ExactPoints::default());
    let (mut overlap, mut inside) = (SelfOverlap::default(), Vec::new());
    let mut found = 0;
    settles("balls", |frame| {
        let shift = [0.1, 0.1, -0.1, -0.1][frame % 4];
        moved.iter_mut().for_each(|p| p.x += shift);
        let a = Shell::new(&ball.positions, &ball.triangles).unwrap();
        let b = Shell::new(&moved, &ball.triangles).unwrap();
        found += usize::from(meter.three_axes(&a, &b, 64).unwrap().volume.value > 0.0);
        let view = View::new(b.bounds(), frame % 3, 64).unwrap();
        generator.generate(&[b], &view, Start::Near, &mut ldi).unwrap();
        sampled.contains(&ldi, &points, &mut inside);
        exact.contains(&b, &points, &mut inside).unwrap();
        overlap.find(&ldi);
    });
    assert!(found > 0 && inside.contains(&true) && inside.contains(&false));
}

/// Depths of rods in each other.
fn depths() {
    let Heap { bodies, mut positions } = rods(4);
    let (mut hash, mut hits) = (SpatialHash::default(), Hits::default());
    let (mut points, mut contacts) = (CollidingPoints::default(), Contacts::default());
    let mut consistent = ConsistentDepth::default();
    settles("consistent depth", |frame| {
        let shift = [0.01, -0.01][frame % 2];
        positions.iter_mut().for_each(|p| p.x += shift);
        hash.detect(&bodies, &positions, Questions::default(), &mut hits).unwrap();
        points.collect_hits(&bodies, &hits);
        consistent.find(&bodies, &positions, &points, &mut contacts).unwrap();
        assert!(!contacts.is_empty());
    });
}

/// The volume that two balls share, and the depths of their vertices.
fn volumes() {
    let ball = TriangleMesh::new(icosphere(1.0, 4)).unwrap();
    let mut bodies = Bodies::default();
    bodies.add_surface(&ball, Collides::default());
    bodies.add_surface(&ball, Collides::default());
    let moved = ball.positions().iter().map(|p| p + Vector3::new(1.1, 0.1, 0.0));
    let mut positions: Vec<_> = ball.positions().iter().copied().chain(moved).collect();
    let (mut meter, mut nearest) = (VolumeContact::<Software>::default(), NearestDepth::default());
    let (mut points, mut contacts) = (CollidingPoints::default(), Contacts::default());
    let mut forces = vec![Vector3::<f64>::zeros(); positions.len()];
    settles("volume contact", |frame| {
        let shift = [0.01, -0.01][frame % 2];
        positions[..ball.positions().len()].iter_mut().for_each(|p| p.x += shift);
        meter.pair(&bodies, &positions, [0, 1], 64).unwrap();
        meter.add_forces(1.0, &mut forces);
        meter.contacts(&bodies, &positions, &mut contacts);
        points.collect(&bodies, &positions, &Hits::default()).unwrap();
        nearest.find(&bodies, &positions, &points, &mut contacts).unwrap();
        assert!(!contacts.is_empty());
    });
}

fn deforming_trees() {
    let ball = TriangleMesh::new(icosphere(1.0, 1)).unwrap();
    let [mut still, mut body] =
        [(); 2].map(|()| Collider::<f64>::deforming(&ball, Split::default()));
    let mut moved = ball.positions().to_vec();
    let (mut finder, mut pairs, mut own) =
        (PairFinder::default(), Vec::new(), SelfPairs::default());
    let (mut front, mut impacts, mut found) = (FrontTracker::default(), Vec::new(), Vec::new());
    let mut search = ImpactFinder::default();
    settles("trees", |frame| {
        let shift = [0.1, 0.1, -0.1, -0.1][frame % 4];
        body.set_positions(&moved, [Update::Full, Update::Hybrid][frame / 4 % 2]).unwrap();
        moved.iter_mut().for_each(|p| p.x += shift);
        finder.all(&mut still, &mut body, &mut pairs);
        front.all(&mut still, &mut body, &mut found);
        finder.self_pairs(&mut body, &mut own);
        assert_eq!(pairs, found);
        body.set_motion(&moved).unwrap();
        search.all(&mut still, &mut body, &mut impacts);
    });
    assert!(!pairs.is_empty() && !impacts.is_empty());
}

fn swimming_dolphins() {
    let poses: Vec<_> = (0..3).map(|pose| dolphin(pose, 1).positions).collect();
    let mesh = TriangleMesh::new(dolphin(0, 1)).unwrap();
    let one: Collider<f64> = Collider::morphing(&mesh, &poses, 0, Split::default()).unwrap();
    let mut group = Group::new(vec![one; 5]);
    let mut found = 0;
    settles("dolphins", |frame| {
        for (number, body) in group.bodies().enumerate() {
            let share = 0.25 * ((frame + number) % 4) as f64;
            body.set_weights(&[share, 1.0 - share, 0.0]).unwrap();
            let shift = Vector3::new(0.0, 0.3 * number as f64, 0.1 * (frame % 3) as f64);
            body.set_placement(Placement::new(Matrix3::identity(), shift).unwrap()).unwrap();
        }
        found += group.all().map(|(_, pairs)| pairs.len()).sum::<usize>();
        found += group.first().count();
    });
    assert!(found > 0);
}

/// Whole frames, with every response and the integrators that go with it.
fn worlds() {
    let implicit = Integrator::ImplicitEuler(Accuracy::default());
    let pressure = Pressure { stiffness: 1e6, viscosity: 50.0 };
    let penalty = Response::Penalty(Springs::default());
    for (integrator, response, substeps) in [
        (Integrator::Xpbd, Response::default(), 8),
        (implicit, Response::default(), 4),
        (implicit, penalty, 4),
        (Integrator::SymplecticEuler, penalty, 40),
        (implicit, Response::Pressure { pressure, resolution: 16 }, 4),
        (Integrator::Xpbd, Response::Volume { resolution: 16 }, 8),
    ] {
        let mut world = World::<f64>::default();
        let parameters = SimulationParameters {
            integrator,
            response,
            substeps,
            ..SimulationParameters::default()
        };
        world.set_parameters(parameters).unwrap();
        world.add_collider(Obstacle::half_space(Vector3::y(), 0.0)).unwrap();
        let cube = TetMesh::new(box_grid([2, 2, 2], 0.1)).unwrap();
        let foam = BodyKind::Elements(
            ElasticModuli { young: 3e4, poisson: 0.3, damping: 0.005 },
            ConstitutiveLaw::Corotational,
        );
        for (number, material) in [foam, BodyKind::Rigid, foam].into_iter().enumerate() {
            let position = Vector3::new(0.03 * number as f64, 0.01 + 0.21 * number as f64, 0.0);
            world
                .add_solid(&cube, material, &BodyOptions { position, ..BodyOptions::default() })
                .unwrap();
        }
        let mut most = 0;
        for _ in 0..80 {
            world.step().unwrap();
            most = most.max(world.contact_counts().between_bodies);
        }
        let what = format!("{integrator:?} {response:?}");
        settles(&what, |_| {
            world.step().unwrap();
            black_box(world.contacts().len());
        });
        let middle = |body: &[Vector3<f64>]| body.iter().sum::<Vector3<f64>>() / 27.0;
        let places: Vec<_> = world.motion().positions.chunks(27).map(middle).collect();
        assert!(most > 0, "{what}: nothing touched, bodies are at {places:?}");
    }
}

/// Large bodies, self-contact, joints and particles.
fn scenes_of_the_catalogue() {
    for entry in SCENES {
        // Heaps have to lie before lists stop growing; large ones take too long for that here.
        if ["balls", "rods"].contains(&entry.name) {
            continue;
        }
        let mut scene = Catalogued::<f32>::build(entry.name, 0).unwrap();
        let parameters =
            SimulationParameters { largest_move: Some(1.0), ..scene.world.parameters().clone() };
        scene.world.set_parameters(parameters).unwrap();
        (0..100).for_each(|_| scene.step().unwrap());
        settles_within(8, entry.name, |_| scene.step().unwrap());
    }
}

/// Pairs that one image of all shows to share volume; things that pull and push.
fn overlaps_from_one_image() {
    let mut world = World::<f64>::default();
    let parameters = SimulationParameters {
        response: Response::Volume { resolution: 16 },
        detection: Detection::LdiOnePass,
        ..SimulationParameters::default()
    };
    world.set_parameters(parameters).unwrap();
    world.add_collider(Obstacle::half_space(Vector3::y(), 0.0)).unwrap();
    let cube = TetMesh::new(box_grid([2, 2, 2], 0.1)).unwrap();
    let materials = [
        BodyKind::Shape(ShapeParameters::default()),
        BodyKind::MassPoints(Moduli::default()),
        BodyKind::Rigid,
    ];
    let ids = [0, 1, 2].map(|number: usize| {
        let position = Vector3::new(0.03 * number as f64, 0.01 + 0.19 * number as f64, 0.0);
        let options = BodyOptions { position, ..BodyOptions::default() };
        world.add_solid(&cube, materials[number], &options).unwrap()
    });
    world.add_dragger(Dragger::new(ids[0], 0, Vector3::zeros(), 10.0, 1.0)).unwrap();
    let kind = FieldKind::Vortex { point: Vector3::zeros(), direction: Vector3::y() };
    world.add_magnet(Field { kind, strength: 0.1, half_distance: 1.0, power: 2.0 }).unwrap();
    let mut most = 0;
    for _ in 0..60 {
        world.step().unwrap();
        most = most.max(world.contact_counts().between_bodies);
    }
    assert!(most > 0);
    settles("one image of all", |_| world.step().unwrap());
}
