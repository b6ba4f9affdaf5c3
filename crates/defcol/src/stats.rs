//! How long the stages of a step take.

use std::time::Duration;

/// A stage of a step. Tables, recordings and error messages use [`Stage::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Number of substeps.
    Plan,
    /// Vertices inside bodies.
    Detect,
    /// Depths and directions of these vertices, overlapping volumes.
    Contact,
    /// Surfaces closer to each other than the contact thickness.
    Proximity,
    /// Forces from outside, and contacts as springs.
    Respond,
    /// Forces or constraints within bodies, and their next state.
    Integrate,
    /// Contacts as constraints.
    Resolve,
    /// Divergence check.
    Check,
    /// Plastic deformation.
    Creep,
}

impl Stage {
    /// All stages, in the order of a step.
    pub const ALL: [Self; 9] = [
        Self::Plan,
        Self::Detect,
        Self::Contact,
        Self::Proximity,
        Self::Respond,
        Self::Integrate,
        Self::Resolve,
        Self::Check,
        Self::Creep,
    ];

    /// Name in lower case, for example `detect`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Detect => "detect",
            Self::Contact => "contact",
            Self::Proximity => "proximity",
            Self::Respond => "respond",
            Self::Integrate => "integrate",
            Self::Resolve => "resolve",
            Self::Check => "check",
            Self::Creep => "creep",
        }
    }
}

/// Times of all stages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    times: [Duration; Stage::ALL.len()],
}

impl Clock {
    /// Does work and adds the time it takes to a stage.
    pub fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        // There is no clock in a browser.
        #[cfg(target_arch = "wasm32")]
        {
            let _ = stage;
            work()
        }
        #[cfg(not(target_arch = "wasm32"))]
        {
            let start = std::time::Instant::now();
            let result = work();
            self.times[stage as usize] += start.elapsed();
            result
        }
    }

    /// The time of a stage so far.
    pub fn of(&self, stage: Stage) -> Duration {
        self.times[stage as usize]
    }
}

/// Mean, median and 99th percentile of a list of times, in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeSummary {
    /// Arithmetic mean; 0 for an empty list.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl TimeSummary {
    /// Summarizes times.
    pub fn of(times: &[f64]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let percentile = |fraction: f64| {
            let index = (sorted.len().max(1) - 1) as f64 * fraction;
            sorted.get(index.round() as usize).copied().unwrap_or(0.0)
        };
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        Self { mean, p50: percentile(0.5), p99: percentile(0.99) }
    }
}
