//! How long things take.

use std::time::{Duration, Instant};

use defcol::contact::{CollidingPoints, Contacts, depth};
use defcol::detect::hash::{HashParameters, HashStatistics, SpatialHash};
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::Vector3;
use defcol::state::Bodies;
use defcol_scenes::heap::Heap;

use defcol_query::QueryError;

/// What is timed: which vertices are in which tetrahedra.
pub(crate) const POINTS: Questions =
    Questions { points_in_tetrahedra: true, edges_through_triangles: false };

/// The shortest of several times, in milliseconds: at least three, more within the budget.
pub(crate) fn shortest(budget: Duration, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut runs = 0;
    while runs < 3 || (start.elapsed() < budget && runs < 1000) {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed());
        runs += 1;
    }
    1e3 * best.as_secs_f64()
}

/// Does work on so many threads.
pub(crate) fn on_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, QueryError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| QueryError::computation(format!("cannot start threads: {error}")))?;
    Ok(pool.install(work))
}

/// Spatial hashing of vertices against tetrahedra.
pub(crate) struct Hashed {
    pub milliseconds: f64,
    pub hits: Hits<f32>,
    pub statistics: HashStatistics,
}

/// Times spatial hashing. A first call, which chooses cells and allocates, is not counted.
pub(crate) fn hash(
    bodies: &Bodies,
    positions: &[Vector3<f32>],
    parameters: HashParameters,
    threads: usize,
    budget: Duration,
) -> Result<Hashed, QueryError> {
    on_threads(threads, || {
        let mut hash = SpatialHash::with(parameters);
        let mut hits = Hits::default();
        let mut failed = None;
        let mut detect = || {
            failed = failed.take().or(hash.detect(bodies, positions, POINTS, &mut hits).err());
        };
        detect();
        let milliseconds = shortest(budget, detect);
        let statistics = *hash.statistics();
        failed.map_or(Ok(Hashed { milliseconds, hits, statistics }), |error| {
            Err(QueryError::computation(error))
        })
    })?
}

/// Times stages two to four of the consistent depth on one thread, for colliding points that are known: milliseconds.
pub(crate) fn consistent_depth(
    heap: &Heap,
    budget: Duration,
) -> Result<(depth::DepthStatistics, f64), QueryError> {
    let positions: Vec<Vector3<f32>> = heap.positions.iter().map(|p| p.map(|x| x as f32)).collect();
    let mut hits = Hits::default();
    SpatialHash::default()
        .detect(&heap.bodies, &positions, POINTS, &mut hits)
        .map_err(QueryError::computation)?;
    let (mut points, mut contacts) = (CollidingPoints::default(), Contacts::default());
    points.collect_hits(&heap.bodies, &hits);
    let mut consistent = depth::ConsistentDepth::default();
    let mut failed = None;
    let milliseconds = on_threads(1, || {
        shortest(budget, || {
            let found = consistent.find(&heap.bodies, &positions, &points, &mut contacts);
            failed = failed.take().or(found.err());
        })
    })?;
    let statistics = *consistent.statistics();
    failed.map_or(Ok((statistics, milliseconds)), |error| Err(QueryError::computation(error)))
}
