//! Typed handles and the maps from handles to values.

use crate::error::{HandleKind, WorldError};

/// A handle of one kind: a number that is never reused within a world.
pub(super) trait Handle: Copy + Ord {
    /// What it refers to.
    const KIND: HandleKind;
    /// The handle with a number.
    fn from_number(number: u32) -> Self;
    /// Its number.
    fn to_number(self) -> u32;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident => $kind:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The number of this handle: ascending in the order of creation, never reused within a world. Recordings
            /// and error messages use it.
            pub fn number(self) -> u32 {
                self.0
            }
        }

        impl Handle for $name {
            const KIND: HandleKind = HandleKind::$kind;

            fn from_number(number: u32) -> Self {
                Self(number)
            }

            fn to_number(self) -> u32 {
                self.0
            }
        }
    )* };
}

handles! {
    /// Handle of a body in a [`World`](super::World).
    ///
    /// Handles of different kinds do not mix:
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{ColliderId, World};
    /// fn remove(world: &mut World<f64>, collider: ColliderId) {
    ///     let _ = world.remove_body(collider);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{MagnetId, World};
    /// fn remove(world: &mut World<f64>, magnet: MagnetId) {
    ///     let _ = world.remove_body(magnet);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{DraggerId, World};
    /// fn remove(world: &mut World<f64>, dragger: DraggerId) {
    ///     let _ = world.remove_body(dragger);
    /// }
    /// ```
    BodyId => Body,
    /// Handle of a static collider in a [`World`](super::World).
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{BodyId, World};
    /// fn remove(world: &mut World<f64>, body: BodyId) {
    ///     let _ = world.remove_collider(body);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{MagnetId, World};
    /// fn remove(world: &mut World<f64>, magnet: MagnetId) {
    ///     let _ = world.remove_collider(magnet);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{DraggerId, World};
    /// fn remove(world: &mut World<f64>, dragger: DraggerId) {
    ///     let _ = world.remove_collider(dragger);
    /// }
    /// ```
    ColliderId => Collider,
    /// Handle of a magnet in a [`World`](super::World).
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{BodyId, World};
    /// fn remove(world: &mut World<f64>, body: BodyId) {
    ///     let _ = world.remove_magnet(body);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{ColliderId, World};
    /// fn remove(world: &mut World<f64>, collider: ColliderId) {
    ///     let _ = world.remove_magnet(collider);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{DraggerId, World};
    /// fn remove(world: &mut World<f64>, dragger: DraggerId) {
    ///     let _ = world.remove_magnet(dragger);
    /// }
    /// ```
    MagnetId => Magnet,
    /// Handle of a dragger in a [`World`](super::World).
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{BodyId, World};
    /// fn remove(world: &mut World<f64>, body: BodyId) {
    ///     let _ = world.remove_dragger(body);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{ColliderId, World};
    /// fn remove(world: &mut World<f64>, collider: ColliderId) {
    ///     let _ = world.remove_dragger(collider);
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use defcol::world::{MagnetId, World};
    /// fn remove(world: &mut World<f64>, magnet: MagnetId) {
    ///     let _ = world.remove_dragger(magnet);
    /// }
    /// ```
    DraggerId => Dragger,
}

/// Values with their handles, in ascending order of the handles.
#[derive(Debug, Clone)]
pub(super) struct IdMap<H, T> {
    handles: Vec<H>,
    values: Vec<T>,
    next: u32,
}

impl<H, T> Default for IdMap<H, T> {
    fn default() -> Self {
        Self { handles: vec![], values: vec![], next: 0 }
    }
}

impl<H: Handle, T> IdMap<H, T> {
    /// Appends a value and returns its new handle.
    pub fn insert(&mut self, value: T) -> H {
        let handle = H::from_number(self.next);
        self.next += 1;
        self.handles.push(handle);
        self.values.push(value);
        handle
    }

    /// Index of a handle in the list.
    pub fn index(&self, handle: H) -> Result<usize, WorldError> {
        let found = self.handles.binary_search(&handle);
        found.map_err(|_| WorldError::StaleHandle { kind: H::KIND, number: handle.to_number() })
    }

    pub fn get_mut(&mut self, handle: H) -> Result<&mut T, WorldError> {
        let index = self.index(handle)?;
        Ok(&mut self.values[index])
    }

    pub fn remove(&mut self, handle: H) -> Result<T, WorldError> {
        let index = self.index(handle)?;
        self.handles.remove(index);
        Ok(self.values.remove(index))
    }

    /// Removes the values that do not pass.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        let mut index = 0;
        let values = &self.values;
        self.handles.retain(|_| {
            index += 1;
            keep(&values[index - 1])
        });
        self.values.retain(keep);
    }

    /// Makes sure that new handles get numbers that another map has not given before.
    pub fn skip_numbers_of(&mut self, other: &Self) {
        self.next = self.next.max(other.next);
    }

    pub fn values(&self) -> &[T] {
        &self.values
    }

    pub fn handles(&self) -> &[H] {
        &self.handles
    }
}
