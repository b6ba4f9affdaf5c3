//! One frame, stage by stage.

use super::finder::ContactFinder;
use super::parameters::Layer;
use super::scene::{Scene, State, Workspace};
use super::{BodyId, DragGoal, Dragger, Response, SimulationParameters, World};
use crate::contact::Anchor;
use crate::detect::proximity::{ProximityPairs, ProximityParameters};
use crate::error::{DetectError, Divergence, WorldError};
use crate::integrate::{ContactInput, Integrator, Interval, System};
use crate::math::{Bounds, Real, Vector3};
use crate::response::{AppliedForces, Goal, PenaltyContacts, Pull, Springs};
use crate::state::Motion;
use crate::stats::{Clock, Stage};

/// A vertex that moves this many times the extent of everything within a frame has diverged.
const DIVERGED: f64 = 10.0;

/// Substeps of XPBD for which proximity candidates are searched ahead, and a little more.
const HORIZON: f64 = 6.1;

impl<R: Real> World<R> {
    /// Advances by one frame of [`SimulationParameters::frame`](super::SimulationParameters::frame) seconds. After an error
    /// all motion is that of the beginning of the frame.
    ///
    /// # Errors
    /// If a vertex gets a position or velocity that is not finite or moves too far, or if contacts cannot be found.
    pub fn step(&mut self) -> Result<(), WorldError> {
        let mut clock = Clock::default();
        self.scratch.start.copy_from(&self.state.system.motion);
        self.scratch.recycle_contacts();
        self.scratch.kept_apart = self.scene.parameters.keeps_apart();
        // One entry into the thread pool, not one for each stage.
        let done = rayon::scope(|_| self.advance(&mut clock));
        self.scratch.clock = clock;
        done.map_err(|error| {
            self.roll_back();
            self.name_body(error)
        })
    }

    fn advance(&mut self, clock: &mut Clock) -> Result<(), WorldError> {
        let frame = self.scene.parameters.frame;
        let substeps =
            clock.time(Stage::Plan, || self.scratch.plan_substeps(&self.scene, &self.state));
        for (number, time) in substeps.intervals(frame).enumerate() {
            self.substep(time, number == 0, clock)?;
        }
        clock.time(Stage::Creep, || self.state.creep(R::nearest(frame)));
        self.state.frame += 1;
        self.state.time += frame;
        Ok(())
    }

    fn substep(
        &mut self,
        time: Interval<R>,
        first: bool,
        clock: &mut Clock,
    ) -> Result<(), WorldError> {
        let Self { scene, state: State { system, proximity, xpbd, .. }, scratch } = self;
        let Workspace { finder, pulls, penalties, integrators, constraint, start, .. } = scratch;
        let (integrator, response) = (scene.parameters.integrator, scene.parameters.response);
        let (layer, properties) = (scene.parameters.layer(), scene.parameters.contact.cast());
        let keep_apart = scene.parameters.keeps_apart();

        finder.begin(scene, first);
        // Constraints push vertices slowly out of bodies: to look for them once a frame is enough.
        if first || layer != Layer::Constraints {
            clock.time(Stage::Detect, || finder.find_points(scene, system))?;
            clock.time(Stage::Contact, || finder.find_contacts(scene, system))?;
        }
        if layer == Layer::Springs {
            clock.time(Stage::Proximity, || find_proximity(scene, system, proximity, time))?;
            clock.time(Stage::Contact, || finder.add_proximity_pairs(proximity, system));
        }
        let forces =
            clock.time(Stage::Respond, || collect_forces(scene, system, finder, pulls, penalties));
        if integrator == Integrator::Xpbd {
            clock.time(Stage::Integrate, || {
                xpbd.move_freely(system, &forces, scene.revision, time);
            });
            if keep_apart {
                clock.time(Stage::Proximity, || find_proximity(scene, system, proximity, time))?;
            }
            let contacts = ContactInput {
                colliders: scene.colliders.values(),
                properties,
                pulls: forces.pulls,
                deep: (layer == Layer::Constraints).then(|| finder.contacts()),
                proximity: keep_apart.then_some(&*proximity),
            };
            clock.time(Stage::Resolve, || xpbd.solve_contacts(system, &contacts, time.step));
            clock.time(Stage::Integrate, || xpbd.finish(system, &properties, time.step));
        } else {
            clock.time(Stage::Integrate, || {
                integrators.advance(integrator, system, &forces, time);
            });
        }
        clock.time(Stage::Check, || scene.check(system, start, Stage::Integrate))?;
        if matches!(response, Response::Volume { .. }) {
            let volumes = finder.volumes();
            clock.time(Stage::Resolve, || {
                constraint.apply(system, volumes, &properties, time.step);
            });
            clock.time(Stage::Check, || scene.check(system, start, Stage::Resolve))?;
        }
        Ok(())
    }
}

impl<R: Real> World<R> {
    fn roll_back(&mut self) {
        self.state.system.motion.copy_from(&self.scratch.start);
        self.state.system.place();
        self.restart_solver();
    }

    /// A bad position that a detector came across is a divergence like any other.
    fn name_body(&self, error: WorldError) -> WorldError {
        match error {
            WorldError::Detect(DetectError::BadPosition { body, vertex, .. }) => {
                WorldError::Diverged {
                    body: self.scene.bodies.handles()[body].number(),
                    vertex,
                    stage: Stage::Integrate,
                    what: Divergence::Position,
                }
            }
            other => other,
        }
    }
}

impl<R: Real> State<R> {
    /// Lets materials that are strained beyond their yield limit deform plastically, once the frame is known to be good.
    fn creep(&mut self, frame: R) {
        let System { bodies, models, motion, .. } = &mut self.system;
        for (body, model) in bodies.list().iter().zip(models) {
            model.creep(&motion.positions[body.vertices.clone()], frame);
        }
    }
}

impl<R: Real> Scene<R> {
    /// Checks that every vertex has a finite position and velocity, and has not moved too far since the frame began.
    fn check(&self, system: &System<R>, start: &Motion<R>, stage: Stage) -> Result<(), WorldError> {
        let motion = &system.motion;
        let around = Bounds::of(start.positions.iter().copied());
        let extent = if around.is_empty() { 1.0 } else { around.extent().norm().to_f64() };
        let SimulationParameters { frame, gravity, .. } = self.parameters;
        let fastest = DIVERGED * extent.max(1e-6) / frame + gravity.norm() * frame;
        let fastest = R::nearest(fastest.max(1e3));
        let huge = R::nearest(R::MAX_COORDINATE);
        let states = motion.positions.iter().zip(&motion.velocities);
        // Without branches first: bad states are rare.
        let good = |(place, velocity): (&Vector3<R>, &Vector3<R>)| {
            (place.norm_squared() <= huge * huge) & (velocity.norm_squared() <= fastest * fastest)
        };
        let rates = motion.rates.iter().all(|rate| rate.norm_squared().is_finite());
        if states.clone().fold(true, |all, state| all & good(state)) && rates {
            return Ok(());
        }
        let bad = states.enumerate().find(|(_, state)| !good(*state));
        let bad = bad.map(|(vertex, (place, velocity))| {
            let what = if !(place.norm_squared() <= huge * huge) {
                Divergence::Position
            } else if velocity.iter().all(|x| x.is_finite()) {
                Divergence::TooFast
            } else {
                Divergence::Velocity
            };
            (vertex, what)
        });
        let bad = bad.or_else(|| {
            let rate = |rate: &Vector3<R>| !rate.norm_squared().is_finite();
            Some((motion.rates.iter().position(rate)?, Divergence::Velocity))
        });
        let Some((vertex, what)) = bad else { return Ok(()) };
        let body = system.bodies.body_of(vertex as u32);
        Err(WorldError::Diverged {
            body: self.bodies.handles()[body].number(),
            vertex: vertex - system.bodies.list()[body].vertices.start,
            stage,
            what,
        })
    }
}

/// Updates the pairs of surfaces closer to each other than the contact thickness.
fn find_proximity<R: Real>(
    scene: &Scene<R>,
    system: &System<R>,
    proximity: &mut ProximityPairs<R>,
    time: Interval<R>,
) -> Result<(), DetectError> {
    let ahead = match scene.parameters.integrator {
        Integrator::Xpbd => time.step * R::nearest(HORIZON),
        _ => R::nearest(scene.parameters.frame),
    };
    let thickness = R::nearest(scene.parameters.contact.thickness);
    let range = ProximityParameters { thickness, horizon: ahead, elapsed: time.step };
    let Motion { positions, velocities, .. } = &system.motion;
    proximity.update(&system.bodies, positions, velocities, &system.rest, range)?;
    Ok(())
}

/// Collects what acts on bodies from outside, and contacts that act as springs.
fn collect_forces<'a, R: Real>(
    scene: &'a Scene<R>,
    system: &System<R>,
    finder: &'a ContactFinder<R>,
    pulls: &'a mut Vec<Pull<R>>,
    penalties: &'a mut PenaltyContacts<R>,
) -> AppliedForces<'a, R> {
    let parameters = &scene.parameters;
    let (bodies, motion) = (&*system.bodies, &system.motion);
    let properties = parameters.contact.cast();
    let first =
        |id| scene.bodies.index(id).map_or(0, |index| bodies.list()[index].vertices.start as u32);
    pulls.clear();
    pulls.extend(scene.draggers.values().iter().map(|dragger| pull(dragger, first)));
    let springs = match parameters.response {
        Response::Layer(springs) | Response::Penalty(springs) => springs,
        // Contacts of particles and open surfaces, which have no volume.
        Response::Pressure { .. } | Response::Volume { .. } => Springs::default(),
    };
    penalties.begin(&motion.positions);
    if parameters.layer() != Layer::Constraints {
        penalties.add_contacts(finder.contacts(), motion, springs, properties.friction);
    }
    if parameters.integrator != Integrator::Xpbd {
        let colliders = scene.colliders.values();
        penalties.add_colliders(bodies, motion, colliders, springs, &properties);
    }
    AppliedForces {
        gravity: parameters.gravity.map(R::nearest),
        air: parameters.air,
        magnets: scene.magnets.values(),
        pulls,
        contacts: penalties,
        volumes: finder.volumes(),
        pressure: match parameters.response {
            Response::Pressure { pressure, .. } => Some(pressure),
            _ => None,
        },
    }
}

/// A dragger as a spring between global vertices.
fn pull<R: Real>(dragger: &Dragger, first: impl Fn(BodyId) -> u32) -> Pull<R> {
    let anchor = |body, vertices: [u32; 4], weights: [f64; 4]| {
        Anchor::of(vertices.map(|vertex| first(body) + vertex), weights.map(R::nearest))
    };
    Pull {
        anchor: anchor(dragger.body, dragger.vertices, dragger.weights),
        goal: match dragger.goal {
            DragGoal::Point(point) => Goal::Point(point.map(R::nearest)),
            DragGoal::Body { body, vertices, weights } => {
                Goal::Anchor(anchor(body, vertices, weights))
            }
        },
        stiffness: R::nearest(dragger.stiffness),
        damping: R::nearest(dragger.damping),
    }
}
