//! Instantiates the generic code of this crate for `f32` and `f64`, in builds with debug assertions.
//!
//! rustc compiles generic code in the crate that uses it. At optimization level 1, that of the dev profile, a crate
//! instead links an instance that an upstream crate already contains. Test programs, examples and the command line all use
//! the same instances: compiled here once, they take a third of the time (docs/decisions/0012-build-time.md). Release
//! builds do not share instances, so there this module is empty.

use std::hint::black_box;

use crate::broad::SweepAndPrune;
use crate::contact::depth::{ConsistentDepth, EdgeDepth, NearestDepth, WayOut};
use crate::contact::surface::ContactSurface;
use crate::contact::volume::VolumeContact;
use crate::contact::{CollidingPoints, Contacts};
use crate::detect::brute::{BruteForce, triangle_pairs};
use crate::detect::bvh::{
    BoundingBox, Collider, FrontTracker, ImpactFinder, NearestSearch, PairFinder, PrimitiveTree,
    TreeDetector,
};
use crate::detect::hash::SpatialHash;
use crate::detect::ldi::{
    ExactPoints, Generator, OverlapMeter, SampledPoints, SelfOverlap, Shell, Software,
};
use crate::detect::proximity::ProximityPairs;
use crate::detect::{Detector, primitive};
use crate::math::Real;
use crate::mesh::{TetMesh, TriangleMesh, inspect, repair};
use crate::state::Bodies;
use crate::world::World;

/// Makes the compiler generate code for functions.
macro_rules! generate {
    ($($function:expr),* $(,)?) => { $( black_box($function as *const ()); )* };
}

/// Names the functions whose instances other crates link.
#[doc(hidden)]
pub fn instances() {
    for_real::<f32>();
    for_real::<f64>();
    generate!(ExactPoints::contains::<f32, f64>, ExactPoints::contains::<f64, f32>);
}

fn for_real<R: Real>() {
    meshes::<R>();
    detectors::<R>();
    hierarchies::<R>();
    layered_depth_images::<R>();
    contacts::<R>();
    worlds::<R>();
}

fn meshes<R: Real>() {
    generate!(
        TetMesh::<R>::new,
        TetMesh::<R>::surface,
        TetMesh::<R>::volume,
        TetMesh::<R>::vertex_tetrahedra,
        TetMesh::<R>::vertex_neighbours,
        TetMesh::<R>::mass_properties,
        TriangleMesh::<R>::new,
        TriangleMesh::<R>::edges,
        TriangleMesh::<R>::vertex_triangles,
        TriangleMesh::<R>::vertex_normals,
        TriangleMesh::<R>::mass_properties,
        inspect::<R>,
        repair::weld::<R>,
        repair::drop_degenerate::<R>,
        repair::flip_inverted::<R>,
        repair::orient_outward::<R>,
        Bodies::add_solid::<R>,
        Bodies::add_surface::<R>,
        Bodies::replace_with_solid::<R>,
        Bodies::bounds::<R>,
        SweepAndPrune::<R>::update,
    );
}

fn detectors<R: Real>() {
    generate!(
        <BruteForce as Detector<R>>::detect,
        <SpatialHash<R> as Detector<R>>::detect,
        <TreeDetector<R> as Detector<R>>::detect,
        triangle_pairs::<R>,
        primitive::triangles_meet::<R>,
        primitive::point_in_tetrahedron::<R>,
    );
}

fn hierarchies<R: Real>() {
    generate!(
        Collider::<R>::deforming,
        Collider::<R>::morphing,
        Collider::<R>::skinned,
        Collider::<R>::set_positions,
        Collider::<R>::set_motion,
        Collider::<R>::set_weights,
        Collider::<R>::set_joints,
        Collider::<R>::set_placement,
        Collider::<R>::bounds,
        Collider::<R>::validate,
        PairFinder::<R>::all,
        PairFinder::<R>::first,
        PairFinder::<R>::self_pairs,
        ImpactFinder::<R>::all,
        ImpactFinder::<R>::earliest,
        ImpactFinder::<R>::self_impacts,
        FrontTracker::all::<R, BoundingBox<R>, 8>,
        PrimitiveTree::<R, 3>::new,
        PrimitiveTree::<R, 3>::refit,
        NearestSearch::<R>::find,
    );
}

fn layered_depth_images<R: Real>() {
    generate!(
        Shell::<R>::check_closed,
        <Software as Generator<R>>::generate,
        OverlapMeter::<Software>::one_axis::<R>,
        OverlapMeter::<Software>::three_axes::<R>,
        OverlapMeter::<Software>::adaptive::<R>,
        ExactPoints::contains::<R, R>,
        ExactPoints::windings::<R, R>,
        ExactPoints::uncertain::<R, R>,
        SampledPoints::contains::<R>,
        SelfOverlap::vertices::<R>,
    );
}

fn contacts<R: Real>() {
    generate!(
        CollidingPoints::<R>::collect_hits,
        CollidingPoints::<R>::collect,
        Contacts::<R>::push,
        Contacts::<R>::merge,
        ConsistentDepth::<R>::find,
        EdgeDepth::<R>::find,
        NearestDepth::<R>::find,
        WayOut::<R>::find,
        ContactSurface::<R>::find,
        ProximityPairs::<R>::update,
        Contacts::<R>::add_proximity_pairs,
        VolumeContact::<Software>::pair::<R>,
        VolumeContact::<Software>::own::<R>,
        VolumeContact::<Software>::contacts::<R>,
        VolumeContact::<Software>::add_friction::<R>,
        VolumeContact::<Software>::add_stiffness_times::<R>,
        VolumeContact::<Software>::pressures::<R>,
    );
}

fn worlds<R: Real>() {
    generate!(
        World::<R>::step,
        World::<R>::contacts,
        World::<R>::energy,
        World::<R>::hash,
        World::<R>::set_parameters,
        World::<R>::set_detection,
        World::<R>::add_solid,
        World::<R>::replace_solid,
        World::<R>::add_surface,
        World::<R>::add_particles,
        World::<R>::add_articulated,
        World::<R>::add_morphed,
        World::<R>::add_embedded,
        World::<R>::remove_body,
        World::<R>::attach,
        World::<R>::set_positions,
        World::<R>::set_velocity,
        World::<R>::set_velocities,
        World::<R>::set_weights,
        World::<R>::pin,
        World::<R>::unpin,
        World::<R>::snapshot,
        World::<R>::restore,
        World::<R>::set_elastic,
        World::<R>::set_moduli,
        World::<R>::set_shape,
        World::<R>::set_joint_target,
        World::<R>::set_joint_motor,
        World::<R>::set_joint_limits,
    );
}
