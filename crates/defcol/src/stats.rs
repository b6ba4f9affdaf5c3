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
