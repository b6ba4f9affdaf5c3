use std::ops::{Deref, DerefMut};

/// Buffers that carry nothing from one call to the next: they are only there to reuse their allocations. A clone starts with
/// empty ones, so that cloning a solver or a model copies its state and nothing else.
#[derive(Debug, Default)]
pub(crate) struct Scratch<T>(pub T);

impl<T: Default> Clone for Scratch<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> Deref for Scratch<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
