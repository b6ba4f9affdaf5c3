//! Copies of the state of a world.

use super::World;
use super::scene::{Scene, State};
use crate::math::Real;

/// Everything that later frames of a [`World`] depend on, at one moment: for undo, scrubbing, and continuing from a frame.
///
/// Meshes and rest shapes are shared with the world. Copied are the motion of all vertices, rotation and strain of elements,
/// rest lengths and stiffnesses of mass points, clusters of shape matching, the Jacobian of skins on joints, impulses, and the
/// candidate pairs of surfaces close to each other.
#[derive(Debug, Clone)]
pub struct Snapshot<R: Real> {
    scene: Scene<R>,
    state: State<R>,
}

impl<R: Real> Snapshot<R> {
    /// Number of frames simulated before the snapshot.
    pub fn frame(&self) -> u64 {
        self.state.frame
    }

    /// Simulated time, in s.
    pub fn time(&self) -> f64 {
        self.state.time
    }
}

impl<R: Real> World<R> {
    /// Copies everything that later frames depend on: bodies with their motion and plastic strain, colliders, magnets,
    /// draggers, parameters, and what the solver carries from step to step.
    ///
    /// Continuing after [`World::restore`] gives bitwise the same states as never stopping.
    ///
    /// ```
    /// use defcol::mesh::TetMesh;
    /// use defcol::world::{BodyKind, BodyOptions, World};
    /// use defcol_scenes::regular::ball;
    ///
    /// let mut world = World::<f64>::default();
    /// let ball = TetMesh::new(ball(0.1))?;
    /// world.add_solid(&ball, BodyKind::default(), &BodyOptions::default())?;
    /// world.step()?;
    /// let snapshot = world.snapshot();
    /// world.step()?;
    /// let hash = world.hash();
    /// world.restore(&snapshot);
    /// assert_eq!(world.frame(), 1);
    /// world.step()?;
    /// assert_eq!(world.hash(), hash);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot<R> {
        Snapshot { scene: self.scene.clone(), state: self.state.clone() }
    }

    /// Goes back, or forward, to a snapshot, of this world or of another. Bodies, colliders, magnets and draggers that were
    /// added or removed since then are gone or back, and their handles with them. The results of the last step, such as
    /// [`World::contacts`], are empty until the next one.
    ///
    /// Numbers of handles are still never given twice: what is added after a restore gets other numbers than what was added
    /// after the snapshot the first time.
    pub fn restore(&mut self, snapshot: &Snapshot<R>) {
        let mut scene = snapshot.scene.clone();
        scene.keep_numbers_unique(&self.scene);
        self.scene = scene;
        self.state.restore(&snapshot.state);
        self.scratch.clear_results();
    }
}
