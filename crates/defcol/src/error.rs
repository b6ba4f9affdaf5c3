//! Errors of meshes, detectors and worlds.

use crate::stats::Stage;

/// What makes arrays unusable as a mesh. Everything else that may be wrong with a mesh (open,
/// non-manifold, inverted, ...) is a [`Defect`](crate::mesh::Defect): reported, not refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A mesh without primitives has no surface and no volume.
    #[error("the mesh has no {0}; there is nothing to collide with")]
    Empty(&'static str),
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has the coordinate {value}; every coordinate must be finite")]
    NonFinite {
        /// Index of the first such vertex.
        vertex: u32,
        /// The coordinate.
        value: f64,
    },
    /// A coordinate is so large that volumes and moments of inertia would overflow.
    #[error(
        "vertex {vertex} has the coordinate {value:e}, beyond ±{limit:e}; choose a larger unit of length"
    )]
    OutOfRange {
        /// Index of the first such vertex.
        vertex: u32,
        /// The coordinate.
        value: f64,
        /// The largest magnitude allowed, [`Real::MAX_COORDINATE`](crate::math::Real::MAX_COORDINATE).
        limit: f64,
    },
    /// A primitive names a vertex that does not exist.
    #[error("{primitive} {index} names vertex {vertex}, but there are only {vertices} vertices")]
    IndexOutOfRange {
        /// "triangle" or "tetrahedron".
        primitive: &'static str,
        /// Which one.
        index: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A primitive names the same vertex twice.
    #[error(
        "{primitive} {index} names vertex {vertex} more than once; drop degenerate primitives first"
    )]
    RepeatedVertex {
        /// "triangle" or "tetrahedron".
        primitive: &'static str,
        /// Which one.
        index: usize,
        /// The vertex it names twice.
        vertex: u32,
    },
    /// Indices into the mesh would not fit 32 bits.
    #[error("{count} {what} are more than the {limit} that 32-bit indices allow; split the mesh")]
    TooLarge {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// A welding distance that is negative or not finite.
    #[error("the tolerance {0} is not a distance; give a finite number that is not negative")]
    Tolerance(f64),
}

/// Why collisions could not be looked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DetectError {
    /// There is not one position for each vertex.
    #[error(
        "{positions} positions were given for {vertices} vertices; give one for each vertex of each body"
    )]
    PositionCount {
        /// How many were given.
        positions: usize,
        /// How many vertices all bodies have.
        vertices: usize,
    },
    /// A coordinate is NaN, infinite or beyond what can be computed with.
    #[error(
        "vertex {vertex} of body {body} has the coordinate {value:e}; it must be finite and within ±{limit:e}"
    )]
    BadPosition {
        /// The body.
        body: usize,
        /// The vertex within the body.
        vertex: usize,
        /// The coordinate.
        value: f64,
        /// The largest magnitude allowed, [`Real::MAX_COORDINATE`](crate::math::Real::MAX_COORDINATE).
        limit: f64,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {vertices} vertices")]
    NoSuchVertex {
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A raster that is too coarse or too fine.
    #[error("the resolution {resolution} is not between 2 and {limit} pixels along a side")]
    Resolution {
        /// The resolution that was asked for.
        resolution: u32,
        /// The largest allowed.
        limit: u32,
    },
    /// An image would take too much memory.
    #[error("the image has more than {limit} fragments; choose a lower resolution")]
    TooManyFragments {
        /// How many are allowed.
        limit: usize,
    },
    /// A view that is tiny beside the surface.
    #[error("the surface is more than four billion times as large as the box it is looked at in")]
    TooFarApart,
    /// Two surfaces without end.
    #[error("both surfaces are half-infinite; their overlap has no end, so at most one may be")]
    TwoHalfInfinite,
    /// Images that do not fit together.
    #[error("the images were made for different views; make all of them for the same one")]
    DifferentViews,
    /// A surface without an inside.
    #[error(
        "{edges} edges are not run through equally often in both directions, one of them from vertex {} to \
         {}: the surface is open, or its triangles are not oriented alike; it has no volume",
        .example[0], .example[1]
    )]
    OpenSurface {
        /// How many.
        edges: usize,
        /// The two vertices of one of them.
        example: [u32; 2],
    },
    /// A placement that cannot be undone.
    #[error(
        "the placement cannot be undone: its numbers must be finite, and its matrix must not flatten or stretch one \
         direction ten thousand times as much as another"
    )]
    BadPlacement,
    /// Weights that would take vertices out of what the reference meshes span.
    #[error(
        "the weights must be one for each of the {references} reference meshes, none negative, with the sum 1; \
         {found}"
    )]
    Weights {
        /// How many there are.
        references: usize,
        /// What is wrong with those that were given.
        found: String,
    },
    /// A body that would be placed too far away.
    #[error(
        "the placement takes the body to {reach:e}, beyond ±{limit:e}; choose a larger unit of length"
    )]
    PlacedTooFar {
        /// How far.
        reach: f64,
        /// The largest magnitude of a coordinate, [`Real::MAX_COORDINATE`](crate::math::Real::MAX_COORDINATE).
        limit: f64,
    },
    /// Weights of morph targets that would take vertices out of what the targets span.
    #[error(
        "the weights must be one for each of the {targets} morph targets, none negative, with a sum of 1 at the \
         most; {found}"
    )]
    TargetWeights {
        /// How many there are.
        targets: usize,
        /// What is wrong with those that were given.
        found: String,
    },
    /// Meshes that are not poses of one another.
    #[error("reference mesh {reference} has {vertices} vertices, but the first one has {expected}")]
    DifferentReferences {
        /// Which one.
        reference: usize,
        /// How many vertices it has.
        vertices: usize,
        /// How many it should have.
        expected: usize,
    },
    /// Something was set that this kind of body does not follow.
    #[error("the body follows {follows}, so {given} cannot be set")]
    OtherKind {
        /// What it follows.
        follows: &'static str,
        /// What was given.
        given: &'static str,
    },
    /// Nothing to build a tree of.
    #[error("there are no triangles to build a tree of")]
    NoTriangles,
    /// A vertex that follows its joints in no way.
    #[error(
        "the weights of the joints of vertex {vertex} are {weights:?}; none may be negative or infinite"
    )]
    BindingWeights {
        /// The vertex.
        vertex: usize,
        /// Its weights.
        weights: [f64; 4],
    },
    /// A skin that does not fit.
    #[error("vertex {vertex} follows joint {joint}, but there are only {joints} joints")]
    NoSuchJoint {
        /// The vertex.
        vertex: usize,
        /// The joint.
        joint: u32,
        /// How many there are.
        joints: usize,
    },
    /// A joint that would take vertices to nowhere.
    #[error("the transform of joint {0} has a number that is not finite or is too large")]
    BadJoint(usize),
    /// A body that there is not.
    #[error("there is no body {body}; there are {bodies}, counted from 0")]
    NoSuchBody {
        /// The number that was given.
        body: u32,
        /// How many there are.
        bodies: usize,
    },
    /// A colliding point that the bodies do not have.
    #[error(
        "a point says that vertex {vertex} is in body {body}, which do not both exist; find the points of these bodies \
         anew"
    )]
    NoSuchPoint {
        /// The vertex.
        vertex: u32,
        /// The body.
        body: u32,
    },
    /// A compliance that is none.
    #[error("the compliance of body {body} is {value}; it must be finite and not negative")]
    Compliance {
        /// The body.
        body: usize,
        /// Its compliance.
        value: f64,
    },
    /// The nearest surface of a body to a vertex of the same body.
    #[error(
        "vertex {vertex} is in its own body {body}: the nearest point of its surface is the vertex itself; use the \
         consistent depth"
    )]
    OwnSurface {
        /// The body.
        body: usize,
        /// The vertex, in the numbering of all bodies.
        vertex: u32,
    },
    /// Not one transform for each joint, or not one binding for each vertex.
    #[error("{given} {what} were given, but {expected} are needed")]
    Count {
        /// What.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many are needed.
        expected: usize,
    },
}

/// What a handle of a world refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandleKind {
    /// A [`BodyId`](crate::world::BodyId).
    Body,
    /// A [`ColliderId`](crate::world::ColliderId).
    Collider,
    /// A [`MagnetId`](crate::world::MagnetId).
    Magnet,
    /// A [`DraggerId`](crate::world::DraggerId).
    Dragger,
}

impl std::fmt::Display for HandleKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Body => "body",
            Self::Collider => "collider",
            Self::Magnet => "magnet",
            Self::Dragger => "dragger",
        })
    }
}

/// Why a world could not be changed or stepped. A refused change leaves the world as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// A value that is not allowed.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// The value given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A handle whose body, collider, dragger or magnet does not exist or was removed.
    #[error("there is no {kind} with the number {number}; it may have been removed")]
    StaleHandle {
        /// What the handle refers to.
        kind: HandleKind,
        /// Its number.
        number: u32,
    },
    /// A vertex that a body does not have.
    #[error("body {body} has no vertex {vertex}; it has {vertices}, counted from 0")]
    NoSuchVertex {
        /// Number of the body's handle.
        body: u32,
        /// The vertex.
        vertex: u32,
        /// Number of vertices of the body.
        vertices: usize,
    },
    /// An array of the wrong length.
    #[error("{given} {what} were given, but {expected} are needed")]
    Count {
        /// What the array holds.
        what: &'static str,
        /// Its length.
        given: usize,
        /// The length needed.
        expected: usize,
    },
    /// A joint that a body does not have.
    #[error("body {body} has no joint {joint}; it has {joints}, counted from 0")]
    NoSuchJoint {
        /// Number of the body's handle.
        body: u32,
        /// The joint.
        joint: usize,
        /// Number of joints of the body; 0 unless it is articulated.
        joints: usize,
    },
    /// A request that does not fit the body or object.
    #[error(transparent)]
    Invalid(#[from] InvalidRequest),
    /// Another body is embedded in this one, so it cannot be removed or replaced.
    #[error("body {carried} is embedded in body {carrier}; remove body {carried} first")]
    Carries {
        /// Number of the host's handle.
        carrier: u32,
        /// Number of the embedded body's handle.
        carried: u32,
    },
    /// Contacts could not be found.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// The step diverged. All motion is that of the beginning of the frame; to get back exactly what was there, take a
    /// [`Snapshot`](crate::world::Snapshot) before.
    #[error(
        "vertex {vertex} of body {body} {what} in the stage `{}`; positions and velocities are those before the \
         step. Take more substeps, or softer materials and contacts",
        .stage.name()
    )]
    Diverged {
        /// Number of the body's handle.
        body: u32,
        /// The vertex, counted from the first of the body.
        vertex: usize,
        /// The stage after which it was noticed.
        stage: Stage,
        /// What went wrong.
        what: Divergence,
    },
}

/// How a step diverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Divergence {
    /// A position is not finite, or beyond what can be computed with.
    Position,
    /// A velocity of a vertex, a rigid body or a joint is not finite.
    Velocity,
    /// A vertex is much too fast: ten times the extent of the scene in a frame.
    TooFast,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Position => "got a position that is not finite or too far away",
            Self::Velocity => "got a velocity that is not finite",
            Self::TooFast => "was thrown far away",
        })
    }
}

/// A request to a world that does not fit the body or object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRequest {
    /// Numbers of a dragger.
    #[error(
        "a dragger needs finite weights and a finite goal, and a stiffness and damping that are finite and not negative"
    )]
    Dragger,
    /// Numbers of a collider.
    #[error(
        "a collider needs finite numbers, a positive extent, unit axes, and a friction coefficient that is not negative"
    )]
    Collider,
    /// Numbers of a magnet.
    #[error(
        "a magnet needs finite numbers, a direction that is not zero and a positive half distance"
    )]
    Magnet,
    /// A surface of finite elements.
    #[error("finite elements need tetrahedra; tetrahedralize the surface, or choose mass points")]
    ElementsNeedTetrahedra,
    /// A rigid body without volume.
    #[error(
        "a rigid body needs a volume: a closed surface with its triangles facing outward, or tetrahedra"
    )]
    RigidNeedsVolume,
    /// Joints of a skin.
    #[error(
        "each joint needs an axis, limits in order and a parent before it, bindings must name joints that exist, and \
         there may be no more joints than vertices, or 256"
    )]
    Joints,
    /// A host whose vertices do not move freely.
    #[error("a surface can be embedded only in a body whose vertices move freely")]
    Host,
    /// Weights of embedded vertices.
    #[error("the weights of embedded vertices must be finite")]
    EmbeddingWeights,
    /// A body attached to itself.
    #[error("a body cannot be attached to itself")]
    AttachedToItself,
    /// Vertices that follow something else.
    #[error(
        "the vertices of this body do not move freely: it is rigid, articulated, driven or embedded"
    )]
    VerticesNotFree,
    /// A velocity that is not free.
    #[error("the velocity of this body follows from its joints, its goal or its host")]
    VelocityNotFree,
    /// Weights of a body that is not morphed.
    #[error("only morphed bodies have weights")]
    NotMorphed,
    /// Weights of morph targets.
    #[error("the weights of morph targets must be finite")]
    MorphWeights,
    /// Angle of a joint.
    #[error("the angle of a joint must be finite")]
    JointAngle,
    /// Motor of a joint.
    #[error("the stiffness and the damping of a motor must be finite and not negative")]
    JointMotor,
    /// Limits of a joint.
    #[error("the limits of a joint must be finite, the lower one first")]
    JointLimits,
    /// Elastic moduli of a body without finite elements.
    #[error("this body has no finite elements")]
    NotElements,
    /// Moduli of a body without mass points.
    #[error("this body is not made of mass points")]
    NotMassPoints,
    /// A stiffness that is zero.
    #[error("a modulus that is zero cannot be raised; replace the body instead")]
    ModulusWasZero,
    /// Shape-matching parameters of another body.
    #[error("this body is not kept in shape by shape matching")]
    NotShapeMatching,
    /// Parameters of shape matching that are fixed.
    #[error("clusters and matching are chosen when a body is made; replace the body instead")]
    FixedAtCreation,
}
