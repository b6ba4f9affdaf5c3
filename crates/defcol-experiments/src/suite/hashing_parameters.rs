//! THESIS figures 4.5 and 4.6: how table size, hash function and cell size influence spatial hashing.

use std::time::Duration;

use defcol::detect::hash::{CellSize, HashFunction, HashParameters, HashStatistics, TableSize};
use defcol::math::Vector3;
use defcol_scenes::heap::{Heap, random_tetrahedra, rods};

use super::SuiteOptions;
use super::plot::{Plot, Scale};
use super::{Experiment, Finding};
use crate::timing;
use defcol_query::{OnStep, QueryError, with_steps};

/// Cells from a quarter of the mean extent to four times it, in steps of a quarter octave.
const CELLS: i32 = 8;

struct Scene {
    name: &'static str,
    heap: Heap,
    positions: Vec<Vector3<f32>>,
}

pub fn run(options: &SuiteOptions, on_step: OnStep) -> Result<Experiment, QueryError> {
    let (tetrahedra, count) = if options.quick { (4_000, 2) } else { (50_000, 20) };
    let scenes =
        [("random tetrahedra", random_tetrahedra(tetrahedra)), ("heap of rods", rods(count))].map(
            |(name, heap)| {
                let positions = heap.positions.iter().map(|p| p.map(|x| x as f32)).collect();
                Scene { name, heap, positions }
            },
        );
    let sizes: Vec<u32> = (6..=22).step_by(if options.quick { 4 } else { 1 }).collect();
    let steps: Vec<i32> = (-CELLS..=CELLS).step_by(if options.quick { 4 } else { 1 }).collect();
    let total = scenes.len() * (2 * sizes.len() + 2 + steps.len());
    with_steps(on_step, total as u32, "hashing parameters", |bar| {
        let paper =
            "THESIS 4.2, figures 4.5 and 4.6; one thread, one level of cells, as in the thesis";
        let mut all = Experiment::new("hashing-parameters", paper, 1.0);
        for scene in &scenes {
            table_size(scene, &sizes, &mut all, || bar.advance())?;
            cell_size(scene, &steps, &mut all, || bar.advance())?;
        }
        // The best cell for random tetrahedra, which the thesis used.
        if let Some(best) = all.findings.iter().find(|finding| finding.published.is_some()) {
            (all.measured, all.ratio) = (best.measured, best.ratio);
        }
        Ok(all)
    })
}

/// Figure 4.5: time against the number of slots.
fn table_size(
    scene: &Scene,
    sizes: &[u32],
    all: &mut Experiment,
    step: impl Fn(),
) -> Result<(), QueryError> {
    let mut curves = Vec::new();
    let mut best = f64::INFINITY;
    for (function, name) in
        [(HashFunction::Rows, "rows (ours)"), (HashFunction::Thesis, "primes (thesis)")]
    {
        let mut points = Vec::new();
        for &bits in sizes {
            let parameters =
                HashParameters { function, table: TableSize::Slots(1 << bits), ..one_level() };
            let (time, _) = measure(scene, parameters)?;
            points.push([f64::from(1u32 << bits), time]);
            step();
        }
        let (slots, time) = lowest(&points);
        let primitives = scene.heap.bodies.tetrahedra().len() as f64;
        all.findings.push(Finding {
            what: format!("{}: fastest table, slots per tetrahedron, {name}", scene.name),
            published: None,
            measured: slots / primitives,
            ratio: None,
        });
        best = best.min(time);
        curves.push((name.to_owned(), points));
    }
    let (automatic, _) = measure(scene, one_level())?;
    step();
    all.findings.push(Finding {
        what: format!("{}: automatic table, time against the fastest fixed one", scene.name),
        published: None,
        measured: automatic / best,
        ratio: None,
    });
    let ends = [1u32 << sizes[0], 1 << sizes[sizes.len() - 1]];
    curves.push(("automatic (default)".into(), ends.map(|x| [f64::from(x), automatic]).into()));
    let title = format!("Table size, {} (figure 4.5)", scene.name);
    all.add(Plot { title, x: "slots", scale: Scale::Logarithmic, y: "milliseconds", curves });
    Ok(())
}

/// Figure 4.6: time, tests and cells against the size of a cell.
fn cell_size(
    scene: &Scene,
    steps: &[i32],
    all: &mut Experiment,
    step: impl Fn(),
) -> Result<(), QueryError> {
    let (mut times, mut tests, mut entries, mut cells) = (vec![], vec![], vec![], vec![]);
    for &quarter in steps {
        let cell = 2f64.powf(f64::from(quarter) / 4.0);
        let parameters = HashParameters { cell: CellSize::TimesMeanExtent(cell), ..one_level() };
        let (time, statistics) = measure(scene, parameters)?;
        let per_query = |count: u64| count as f64 / statistics.queries as f64;
        times.push([cell, time]);
        tests.push([cell, per_query(statistics.tests)]);
        entries.push([cell, per_query(statistics.entries)]);
        cells.push([cell, cells_covered(scene, statistics.cell)]);
        step();
    }
    let (best, time) = lowest(&times);
    let at_one = times.iter().find(|[cell, _]| *cell == 1.0).map_or(time, |[_, time]| *time);
    all.findings.push(Finding {
        what: format!("{}: best cell, in mean extents", scene.name),
        published: Some(1.0),
        measured: best,
        ratio: Some(best),
    });
    all.findings.push(Finding {
        what: format!("{}: time at one mean extent against the best", scene.name),
        published: None,
        measured: at_one / time,
        ratio: None,
    });
    let (automatic, _) =
        measure(scene, HashParameters { cell: CellSize::Automatic, ..one_level() })?;
    step();
    all.findings.push(Finding {
        what: format!("{}: time with the default cell against the best", scene.name),
        published: None,
        measured: automatic / time,
        ratio: None,
    });
    let x = "cell size in mean extents";
    let title = format!("Cell size, {} (figure 4.6)", scene.name);
    all.add(Plot {
        title: title.clone(),
        x,
        scale: Scale::Logarithmic,
        y: "milliseconds",
        curves: vec![("time".into(), times)],
    });
    let curves = vec![
        ("tests of primitives".into(), tests),
        ("entries read".into(), entries),
        ("cells covered".into(), cells),
    ];
    all.add(Plot { title, x, scale: Scale::Logarithmic, y: "per tetrahedron", curves });
    Ok(())
}

/// The mean number of cells that the box of a tetrahedron covers.
fn cells_covered(scene: &Scene, cell: f64) -> f64 {
    let tetrahedra = scene.heap.bodies.tetrahedra();
    let covered = tetrahedra.iter().map(|corners| {
        let corners = corners.map(|corner| scene.positions[corner as usize]);
        let along = |axis: usize| {
            let cells = corners.map(|corner| (f64::from(corner[axis]) / cell).floor());
            let highest = cells.into_iter().fold(f64::NEG_INFINITY, f64::max);
            highest - cells.into_iter().fold(f64::INFINITY, f64::min) + 1.0
        };
        along(0) * along(1) * along(2)
    });
    covered.sum::<f64>() / tetrahedra.len() as f64
}

/// As in the thesis, apart from what is varied.
fn one_level() -> HashParameters {
    HashParameters { levels: false, keep_resting: false, ..HashParameters::default() }
}

fn lowest(points: &[[f64; 2]]) -> (f64, f64) {
    let [x, y] =
        points.iter().copied().reduce(|a, b| if b[1] < a[1] { b } else { a }).unwrap_or([1.0; 2]);
    (x, y)
}

/// Milliseconds on one thread, and what was done in them.
fn measure(scene: &Scene, parameters: HashParameters) -> Result<(f64, HashStatistics), QueryError> {
    let budget = Duration::from_millis(400);
    let hashed = timing::hash(&scene.heap.bodies, &scene.positions, parameters, 1, budget)?;
    Ok((hashed.milliseconds, hashed.statistics))
}
