//! How long the stages of a step take.

use std::time::Duration;

/// A part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Which primitives meet, or are near each other.
    Detect,
    /// How deep, how much, which way.
    Contact,
    /// Forces from afar and from contacts.
    Respond,
    /// Forces or corrections within bodies, and their next state.
    Integrate,
    /// Corrections of contacts.
    Resolve,
    /// Whether the new state is good.
    Check,
}

impl Stage {
    /// All of them, in the order of a step.
    pub const ALL: [Self; 6] =
        [Self::Detect, Self::Contact, Self::Respond, Self::Integrate, Self::Resolve, Self::Check];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Detect => "detect",
            Self::Contact => "contact",
            Self::Respond => "respond",
            Self::Integrate => "integrate",
            Self::Resolve => "resolve",
            Self::Check => "check",
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

    /// Sets all to zero.
    pub fn reset(&mut self) {
        self.times = Default::default();
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
