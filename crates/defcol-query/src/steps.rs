//! Progress of long computations.

use std::sync::atomic::{AtomicU32, Ordering};

/// Progress of a long computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// Steps done.
    pub done: u32,
    /// Steps in total, an upper bound.
    pub total: u32,
    /// What is being computed.
    pub label: &'a str,
}

/// Callback that receives progress; `&|_| ()` ignores it.
pub type OnStep<'a> = &'a (dyn Fn(Step) + Sync);

/// Counts the steps of a computation and reports each of them.
pub struct Steps<'a> {
    on_step: OnStep<'a>,
    done: AtomicU32,
    total: u32,
    label: &'a str,
}

impl<'a> Steps<'a> {
    /// Reports the start of a computation of `total` steps.
    pub fn begin(on_step: OnStep<'a>, total: u32, label: &'a str) -> Self {
        on_step(Step { done: 0, total, label });
        Self { on_step, done: AtomicU32::new(0), total, label }
    }

    /// Reports that one more step is done.
    pub fn advance(&self) {
        self.advance_as(self.label);
    }

    /// Reports that one more step is done, with another label.
    pub fn advance_as(&self, label: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.on_step)(Step { done, total: self.total, label });
    }
}

/// Runs a computation of up to `total` steps, which calls [`Steps::advance`] after each of them.
pub fn with_steps<T>(
    on_step: OnStep,
    total: u32,
    label: &str,
    work: impl FnOnce(&Steps) -> T,
) -> T {
    work(&Steps::begin(on_step, total, label))
}
