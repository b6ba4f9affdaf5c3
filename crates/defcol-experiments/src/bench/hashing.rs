//! Vertices in tetrahedra in a heap of rods, self-collision included.

use std::time::Duration;

use defcol::detect::brute::BruteForce;
use defcol::detect::hash::HashParameters;
use defcol::detect::{Detector, Hits};
use defcol::math::Vector3;
use defcol_scenes::heap::{Heap, rods};

use super::Row;
use crate::timing::{self, Hashed, POINTS, on_threads, shortest};
use defcol_query::{OnStep, QueryError, with_steps};

/// Rods of 2,000 tetrahedra each.
const SIZES: [usize; 5] = [1, 4, 10, 100, 1000];

/// What the thesis needed for the four rods of its MultiRod scene at the time of maximum impact.
const THESIS_MULTIROD_MS: f64 = 17.7;

const TASK: &str = "hashing";

pub fn run(quick: bool, on_step: OnStep) -> Result<Vec<Row>, QueryError> {
    let sizes = if quick { &SIZES[..3] } else { &SIZES[..] };
    let cores = rayon::current_num_threads();
    let mut rows = Vec::new();
    with_steps(on_step, sizes.len() as u32, "heaps of rods", |bar| {
        for &size in sizes {
            measure(size, cores, &mut rows)?;
            bar.advance();
        }
        Ok::<(), QueryError>(())
    })?;
    // Linear time: what one rod costs, compared with the heap of ten.
    let of_one_rod = |rows: &[Row], rods: usize| {
        let row = rows.iter().find(|row| row.size == name(rods))?;
        Some(row.peer_ms / rods as f64)
    };
    for &size in sizes.iter().filter(|&&size| size > 10) {
        if let (Some(ours), Some(peer)) = (of_one_rod(&rows, size), of_one_rod(&rows, 10)) {
            let among = format!("one rod among {}, against one among {}", size, 10);
            rows.push(row(size, 1, ours, &among, peer, None));
        }
    }
    Ok(rows)
}

fn name(rods: usize) -> String {
    format!("{} tetrahedra", 2000 * rods)
}

fn row(
    size: usize,
    threads: usize,
    ours: f64,
    peer: &str,
    theirs: f64,
    agree: Option<bool>,
) -> Row {
    Row {
        task: TASK,
        size: name(size),
        threads,
        ours_ms: ours,
        peer: peer.to_owned(),
        peer_ms: theirs,
        ratio: theirs / ours,
        agree,
    }
}

fn measure(size: usize, cores: usize, rows: &mut Vec<Row>) -> Result<(), QueryError> {
    let Heap { bodies, positions } = rods(size);
    let positions: Vec<Vector3<f32>> = positions.iter().map(|p| p.map(|x| x as f32)).collect();
    let budget = Duration::from_millis(1000);
    let parameters = HashParameters { keep_resting: false, ..HashParameters::default() };
    let ours = |threads| timing::hash(&bodies, &positions, parameters, threads, budget);
    let Hashed { milliseconds: single, hits, .. } = ours(1)?;
    let pairs: Vec<[u32; 2]> =
        hits.points.iter().map(|hit| [hit.tetrahedron, hit.vertex]).collect();
    let all = ours(cores)?;
    rows.push(row(size, cores, all.milliseconds, "one thread", single, Some(all.hits == hits)));
    if size == 4 {
        rows.push(row(size, 1, single, "thesis, Pentium 4", THESIS_MULTIROD_MS, None));
    }
    if size <= 4 {
        let mut expected = Hits::default();
        let time = on_threads(1, || {
            shortest(Duration::ZERO, || {
                // Positions were accepted above.
                let _ = BruteForce.detect(&bodies, &positions, POINTS, &mut expected);
            })
        })?;
        rows.push(row(size, 1, single, "brute force", time, Some(expected == hits)));
    }
    #[cfg(feature = "peers")]
    for (update, peer) in [
        (super::parry::Update::Rebuild, "parry3d tree, rebuilt"),
        (super::parry::Update::Refit, "parry3d tree, refitted"),
    ] {
        let mut tree = super::parry::ParryTree::new(&bodies, &positions, update);
        let time = on_threads(1, || shortest(budget, || tree.detect(&positions)))?;
        rows.push(row(size, 1, single, peer, time, Some(tree.pairs == pairs)));
    }
    #[cfg(not(feature = "peers"))]
    drop(pairs);
    Ok(())
}
