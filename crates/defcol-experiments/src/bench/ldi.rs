//! Layered depth images: points in bodies, overlaps and self-overlaps of the papers' sizes.

use std::time::Duration;

use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, OverlapMeter, SampledPoints, SelfOverlap, Software, Start, View,
};
use defcol::error::DetectError;
use defcol::math::{Bounds, Vector3};
use defcol_scenes::models;

use super::{Body, Row};
use crate::timing::{on_threads, shortest};
use defcol_query::{OnStep, QueryError, with_steps};

const TASK: &str = "ldi";

const BUDGET: Duration = Duration::from_millis(1000);

/// WSCG04 table 2, software: triangles, points, milliseconds.
const DRAGONS: [(usize, usize, f64); 3] =
    [(50_000, 10_000, 37.1), (150_000, 30_000, 105.2), (520_000, 100_000, 398.7)];

/// TR395 table 1 and the text below it, with a graphics card: models, their triangles, and milliseconds with
/// little and much in common.
const PAIRS: [([&str; 2], [usize; 2], [f64; 2]); 4] = [
    (["knot", "rabbit"], [12_000, 50_000], [20.0, 57.0]),
    (["rabbit", "reptile"], [50_000, 110_000], [37.0, 49.0]),
    (["reptile", "santa"], [110_000, 150_000], [26.0, 115.0]),
    (["knot", "dragon"], [12_000, 520_000], [256.0, 256.0]),
];

/// WSCG04 table 3, software: resolution, milliseconds.
const HATS: [(u32, f64); 3] = [(32, 2.1), (64, 3.0), (128, 5.9)];

/// WSCG04 table 1, software, at 64 x 64: the shortest times of the hand with the phone and with itself.
const HAND_AND_PHONE_MS: f64 = 2.8;
const HAND_MS: f64 = 4.9;

/// A built-in model; `about` gives it the size one and moves it.
fn model(name: &str, triangles: usize, about: Option<Vector3<f64>>) -> Result<Body, QueryError> {
    let model = models::find(name).map_err(QueryError::computation)?;
    let mut mesh = model.surface(triangles).map_err(QueryError::computation)?;
    if let Some(place) = about {
        let bounds = Bounds::of(mesh.positions.iter().copied());
        let (centre, size) = (bounds.center(), bounds.extent().amax());
        mesh.positions.iter_mut().for_each(|p| *p = (*p - centre) / size + place);
    }
    Body::new(mesh)
}

/// The shortest time of work that may fail, on one thread, and its last answer.
fn time<T: Send>(
    mut work: impl FnMut() -> Result<T, DetectError> + Send,
) -> Result<(f64, T), QueryError> {
    let (milliseconds, answer) = on_threads(1, || {
        let mut answer = work();
        let milliseconds = shortest(BUDGET, || answer = work());
        (milliseconds, answer)
    })?;
    Ok((milliseconds, answer.map_err(QueryError::computation)?))
}

fn row(size: &str, ours: f64, peer: &str, theirs: f64, agree: Option<bool>) -> Row {
    Row {
        task: TASK,
        size: size.to_owned(),
        threads: 1,
        ours_ms: ours,
        peer: peer.to_owned(),
        peer_ms: theirs,
        ratio: theirs / ours,
        agree,
    }
}

pub fn run(quick: bool, on_step: OnStep) -> Result<Vec<Row>, QueryError> {
    let dragons = if quick { &DRAGONS[..1] } else { &DRAGONS[..] };
    let pairs = if quick { &PAIRS[..1] } else { &PAIRS[..] };
    let steps = dragons.len() + pairs.len() + 2;
    let mut rows = Vec::new();
    with_steps(on_step, steps as u32, "layered depth images", |bar| {
        let mut costs = Vec::new();
        for &dragon in dragons {
            points(dragon, &mut rows, &mut costs)?;
            bar.advance();
        }
        // Linear time: what a triangle or a fragment costs, compared with the smallest.
        if let [(first, of_first), .., (last, of_last)] = costs[..] {
            let size = format!("image of {last} triangles and fragments, one of them");
            rows.push(row(&size, of_last, &format!("one of {first}"), of_first, None));
        }
        for &pair in pairs {
            volumes(pair, &mut rows)?;
            bar.advance();
        }
        hats(&mut rows)?;
        bar.advance();
        hands(&mut rows)?;
        bar.advance();
        Ok::<(), QueryError>(())
    })?;
    Ok(rows)
}

/// (a) Random points in the box of a dragon, at 64 x 64.
fn points(
    (triangles, count, published): (usize, usize, f64),
    rows: &mut Vec<Row>,
    costs: &mut Vec<(usize, f64)>,
) -> Result<(), QueryError> {
    let dragon = model("dragon", triangles, None)?;
    let bounds = dragon.shell().map_err(QueryError::computation)?.bounds();
    let points = random_points(&bounds, count);
    let mut generator = Software::default();
    let mut ldi = Ldi::default();
    let (build, ()) = time(|| {
        let shell = dragon.shell()?;
        let view = View::new(shell.bounds(), shell.bounds().extent().imin(), 64)?;
        generator.generate(&[shell], &view, Start::Near, &mut ldi)
    })?;
    let work = triangles + ldi.fragments().len();
    costs.push((work, build / work as f64));
    let (mut sampled, mut rough) = (SampledPoints::default(), Vec::new());
    let (sampling, ()) = time(|| {
        let shell = dragon.shell()?;
        let view = View::new(shell.bounds(), shell.bounds().extent().imin(), 64)?;
        generator.generate(&[shell], &view, Start::Near, &mut ldi)?;
        sampled.contains(&ldi, &points, &mut rough);
        Ok(())
    })?;
    let (mut exact, mut inside) = (ExactPoints::default(), Vec::new());
    let (exactly, ()) = time(|| exact.contains(&dragon.shell()?, &points, &mut inside))?;
    let name = |how: &str| format!("{count} points in {triangles} triangles, {how}");
    rows.push(row(&name("sampled"), sampling, "WSCG04 software, Pentium 4", published, None));
    rows.push(row(&name("exact"), exactly, "WSCG04 software, Pentium 4", published, None));
    #[cfg(feature = "peers")]
    {
        let mut theirs = Vec::new();
        let (tree, ()) = time(|| {
            theirs = super::parry::contains(&dragon.positions, dragon.bodies.triangles(), &points);
            Ok(())
        })?;
        // Single precision may label a point on an edge wrongly.
        let differ = inside.iter().zip(&theirs).filter(|(a, b)| a != b).count();
        rows.push(row(&name("sampled"), sampling, "parry3d tree, built", tree, None));
        let agree = Some(differ * 10_000 <= count);
        rows.push(row(&name("exact"), exactly, "parry3d tree, built", tree, agree));
    }
    Ok(())
}

fn random_points(bounds: &Bounds<f64>, count: usize) -> Vec<Vector3<f32>> {
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut point = || Vector3::from_fn(|_, _| unit()).component_mul(&bounds.extent());
    (0..count).map(|_| (bounds.min + point()).map(|x| x as f32)).collect()
}

/// (b) The overlap of two models at 128 x 128, and with an error of one per cent.
fn volumes(
    ([first, second], [few, many], published): ([&str; 2], [usize; 2], [f64; 2]),
    rows: &mut Vec<Row>,
) -> Result<(), QueryError> {
    let a = model(first, few, Some(Vector3::zeros()))?;
    for (place, published) in [(0.35, published[0]), (0.05, published[1])] {
        let b = model(second, many, Some(Vector3::new(place, 0.4 * place, 0.1)))?;
        let mut meter = OverlapMeter::<Software>::default();
        let (once, _) = time(|| meter.one_axis(&a.shell()?, &b.shell()?, 128))?;
        let deep = if place < 0.1 { "deep" } else { "shallow" };
        let name = |how: &str| format!("{first} {few}, {second} {many}, {deep}, {how}");
        rows.push(row(&name("128 x 128"), once, "TR395, GeForce 4", published, None));
        #[cfg(feature = "peers")]
        {
            let (boolean, exact) = time(|| Ok(super::manifold::common_volume([&a, &b])))?;
            // The coarsest raster that is right to one per cent.
            for resolution in [16, 32, 64, 128, 256] {
                let (ours, overlap) =
                    time(|| meter.one_axis(&a.shell()?, &b.shell()?, resolution))?;
                let off = (overlap.volume.value - exact).abs() / exact;
                if off < 0.01 {
                    let how = format!("{resolution} x {resolution}, {:.2} % off", 100.0 * off);
                    rows.push(row(&name(&how), ours, "manifold boolean", boolean, Some(true)));
                    break;
                }
            }
        }
    }
    Ok(())
}

/// (c) A mouse and its hat.
fn hats(rows: &mut Vec<Row>) -> Result<(), QueryError> {
    let (mouse, hat) = (model("mouse", 15_000, None)?, model("worn-hat", 1_500, None)?);
    let mut meter = OverlapMeter::<Software>::default();
    for (resolution, published) in HATS {
        let (ours, _) = time(|| meter.one_axis(&mouse.shell()?, &hat.shell()?, resolution))?;
        let name = format!("mouse 15000, hat 1500, {resolution} x {resolution}");
        rows.push(row(&name, ours, "WSCG04 software, Pentium 4", published, None));
    }
    Ok(())
}

/// (d) A hand that holds a phone, and the hand with itself.
fn hands(rows: &mut Vec<Row>) -> Result<(), QueryError> {
    let (hand, phone) = (model("grip", 4_800, None)?, model("phone", 900, None)?);
    let mut meter = OverlapMeter::<Software>::default();
    let (ours, _) = time(|| meter.one_axis(&hand.shell()?, &phone.shell()?, 64))?;
    let peer = "WSCG04 software, Pentium 4";
    rows.push(row("hand 4800, phone 900, 64 x 64", ours, peer, HAND_AND_PHONE_MS, None));
    let (mut generator, mut ldi, mut overlap) =
        (Software::default(), Ldi::default(), SelfOverlap::default());
    let (ours, ()) = time(|| {
        let shell = hand.shell()?;
        let view = View::new(shell.bounds(), shell.bounds().extent().imin(), 64)?;
        generator.generate(&[shell], &view, Start::Near, &mut ldi)?;
        overlap.find(&ldi);
        Ok(())
    })?;
    rows.push(row("hand 4800 with itself, 64 x 64", ours, peer, HAND_MS, None));
    Ok(())
}
