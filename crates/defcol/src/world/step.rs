//! One frame.

use super::{DragGoal, Dragger, Parameters, Response, Substeps, World};
use crate::contact::Anchor;
use crate::detect::proximity::ProximityParameters;
use crate::error::{DetectError, WorldError};
use crate::integrate::Integrator;
use crate::integrate::xpbd::Conditions;
use crate::math::{Bounds, Real, Vector3};
use crate::response::{Goal, Pull, Springs, Touch};
use crate::stats::{Clock, Stage};

/// A vertex that comes this many times the extent of everything in a step has exploded.
const EXPLODED: f64 = 10.0;

/// How many times as many steps a frame may take against tunnelling.
const MOST_TIMES: f64 = 16.0;

impl<R: Real> World<R> {
    /// Goes on by a frame. If the new state is no state, or a question about it cannot be answered, the world stays as it
    /// was before.
    pub fn step(&mut self) -> Result<(), WorldError> {
        self.clock.reset();
        self.last_good.copy_from(&self.system.motion);
        // One way into the pool of threads, not one for each stage.
        let done = rayon::scope(|_| self.try_step()).map_err(|error| self.named(error));
        if done.is_err() {
            self.system.motion.copy_from(&self.last_good);
            self.system.place();
            self.contacts.clear();
            self.loads.volume_count = 0;
            self.forget();
        }
        done
    }

    /// A bad position that was met by a detector is a fault like any other.
    fn named(&self, error: WorldError) -> WorldError {
        match error {
            WorldError::Detect(DetectError::BadPosition { body, vertex, .. }) => {
                WorldError::Fault {
                    body: self.ids.handle(body).number(),
                    vertex,
                    stage: Stage::Integrate.name(),
                    what: "got a position that is not finite or too far away",
                }
            }
            other => other,
        }
    }

    fn try_step(&mut self) -> Result<(), WorldError> {
        let wished = self.parameters.substeps;
        let needed = self.needed_substeps();
        let taken = needed.min(f64::from(wished) * MOST_TIMES) as u32;
        self.substeps = Substeps { taken, needed };
        let substeps = taken;
        let step = self.parameters.frame / f64::from(substeps);
        for number in 0..substeps {
            let left = R::nearest(step * f64::from(substeps - number));
            let step = R::nearest(step);
            self.detect(number == 0)?;
            self.load();
            self.integrate(step, left)?;
            self.check(Stage::Integrate)?;
            if matches!(self.parameters.response, Response::Volume { .. }) {
                self.resolve_volumes(step);
                self.check(Stage::Resolve)?;
            }
        }
        self.creep();
        self.frame += 1;
        self.time += self.parameters.frame;
        Ok(())
    }

    /// What has been strained too far gives way for good: once the frame is known to be good.
    fn creep(&mut self) {
        let time = R::nearest(self.parameters.frame);
        for (body, model) in self.system.bodies.list().iter().zip(&mut self.system.models) {
            model.creep(&self.system.motion.positions[body.vertices.clone()], time);
        }
    }

    /// Which points are in bodies and how deep, what is near, which volumes overlap: what the response needs.
    fn detect(&mut self, first_of_frame: bool) -> Result<(), DetectError> {
        let mut clock = std::mem::take(&mut self.clock);
        let done = self.detect_timed(first_of_frame, &mut clock);
        self.clock = clock;
        done
    }

    fn detect_timed(&mut self, first_of_frame: bool, clock: &mut Clock) -> Result<(), DetectError> {
        self.loads.volume_count = 0;
        self.unresolved = if first_of_frame { 0 } else { self.unresolved };
        self.prepare_finder();
        let hard = self.parameters.integrator == Integrator::Xpbd;
        match self.parameters.response {
            // What is deep inside leaves slowly: once a frame is enough.
            Response::Layer(_) if hard && !first_of_frame => Ok(()),
            Response::Layer(_) | Response::Penalty(_) => {
                clock.time(Stage::Detect, || self.find_points())?;
                clock.time(Stage::Contact, || self.find_depths())?;
                if matches!(self.parameters.response, Response::Layer(_)) && !hard {
                    clock.time(Stage::Contact, || self.find_near())?;
                }
                Ok(())
            }
            Response::Pressure { resolution, .. } | Response::Volume { resolution } => {
                self.contacts.clear();
                if self.any_hollow() {
                    clock.time(Stage::Detect, || self.find_points())?;
                    clock.time(Stage::Contact, || self.find_depths())?;
                    self.keep_hollow();
                }
                clock.time(Stage::Contact, || self.find_volumes(resolution))
            }
        }
    }

    /// What is near is a contact like what is inside.
    fn find_near(&mut self) -> Result<(), DetectError> {
        let parameters = ProximityParameters {
            thickness: R::nearest(self.parameters.contact.thickness),
            horizon: R::nearest(self.parameters.frame),
            elapsed: R::nearest(self.parameters.frame / f64::from(self.substeps.taken.max(1))),
        };
        let motion = &self.system.motion;
        let (positions, velocities) = (&motion.positions, &motion.velocities);
        let bodies = &self.system.bodies;
        self.near.update(bodies, positions, velocities, &self.system.rest, parameters)?;
        self.contacts.add_proximity_pairs(&self.near, bodies, positions);
        Ok(())
    }

    /// Collects what acts on bodies.
    fn load(&mut self) {
        let mut clock = std::mem::take(&mut self.clock);
        clock.time(Stage::Respond, || {
            let parameters = &self.parameters;
            self.loads.gravity = parameters.gravity.map(R::nearest);
            self.loads.air = parameters.air;
            self.loads.fields.clear();
            self.loads.fields.extend(self.magnets.values().copied());
            self.loads.pulls.clear();
            let ids = &self.ids;
            let bodies = &self.system.bodies;
            let first =
                |id| ids.index(id).map_or(0, |index| bodies.list()[index].vertices.start as u32);
            self.loads.pulls.extend(self.draggers.values().map(|dragger| pull(dragger, first)));
            self.active_colliders.clear();
            self.active_colliders.extend(self.colliders.values().copied());
            self.loads.pressure = match parameters.response {
                Response::Pressure { pressure, .. } => Some(pressure),
                _ => None,
            };
            self.load_contacts();
        });
        self.clock = clock;
    }

    /// Contacts as springs, where they are not constraints.
    fn load_contacts(&mut self) {
        let hard = self.parameters.integrator == Integrator::Xpbd;
        let touch = self.touch();
        let motion = &self.system.motion;
        self.loads.pushes.clear();
        self.loads.found_at.clone_from(&motion.positions);
        let springs = match self.parameters.response {
            Response::Layer(springs) | Response::Penalty(springs) => springs,
            _ => Springs::default(),
        };
        let between = match self.parameters.response {
            Response::Layer(_) => !hard,
            // Contacts of particles go with volumes.
            _ => true,
        };
        let pushes = &mut self.loads.pushes;
        if between {
            pushes.add_contacts(&self.contacts, motion, springs, touch.friction);
        }
        if !hard {
            let colliders = &self.active_colliders;
            pushes.add_colliders(&self.system.bodies, motion, colliders, springs, &touch);
        }
    }

    /// The next state.
    fn integrate(&mut self, step: R, left: R) -> Result<(), DetectError> {
        let mut clock = std::mem::take(&mut self.clock);
        let done = if self.parameters.integrator == Integrator::Xpbd {
            self.correct(step, left, &mut clock)
        } else {
            clock.time(Stage::Integrate, || self.accelerate(step, left));
            Ok(())
        };
        self.clock = clock;
        done
    }

    /// Volumes that overlap are pressed apart.
    fn resolve_volumes(&mut self, step: R) {
        let touch = self.touch();
        let mut clock = std::mem::take(&mut self.clock);
        clock.time(Stage::Resolve, || {
            let volumes = &self.loads.volumes[..self.loads.volume_count];
            self.volume.apply(&mut self.system, volumes, &touch, step);
        });
        self.clock = clock;
    }

    /// By forces.
    fn accelerate(&mut self, step: R, left: R) {
        let (system, loads) = (&mut self.system, &self.loads);
        match self.parameters.integrator {
            Integrator::ExplicitEuler => self.explicit.euler(system, loads, step, left),
            Integrator::SymplecticEuler => self.explicit.symplectic(system, loads, step, left),
            Integrator::Verlet => self.explicit.verlet(system, loads, step, left),
            Integrator::RungeKutta4 => self.explicit.runge_kutta(system, loads, step, left),
            Integrator::ImplicitEuler(accuracy) => {
                self.implicit.step(system, loads, accuracy, step, left);
            }
            Integrator::Xpbd => {}
        }
    }

    /// By corrections of positions.
    fn correct(&mut self, step: R, left: R, clock: &mut Clock) -> Result<(), DetectError> {
        let touch = self.touch();
        let (system, loads, forces) = (&mut self.system, &self.loads, &mut self.forces);
        clock.time(Stage::Respond, || {
            forces.clear();
            forces.resize(system.bodies.vertex_count(), Vector3::zeros());
            loads.add_xpbd_forces(&system.bodies, &system.motion, forces);
        });
        let conditions = Conditions {
            gravity: loads.gravity,
            colliders: &self.active_colliders,
            pulls: &loads.pulls,
            touch,
            layer: matches!(self.parameters.response, Response::Layer(_)),
            deep: &self.contacts,
            left,
            revision: self.revision,
        };
        self.xpbd.step(system, &conditions, &mut self.near, forces, step, clock)
    }

    /// Whether every vertex is somewhere, and has not been thrown far away.
    fn check(&mut self, stage: Stage) -> Result<(), WorldError> {
        let mut clock = std::mem::take(&mut self.clock);
        let motion = &self.system.motion;
        let bad = clock.time(Stage::Check, || {
            let around = Bounds::of(self.last_good.positions.iter().copied());
            let extent = if around.is_empty() { 1.0 } else { around.extent().norm().to_f64() };
            let fastest = EXPLODED * extent.max(1e-6) / self.parameters.frame
                + self.parameters.gravity.norm() * self.parameters.frame;
            let fastest = R::nearest(fastest.max(1e3));
            let huge = R::nearest(R::MAX_COORDINATE);
            let states = motion.positions.iter().zip(&motion.velocities);
            // Without branches first: bad states are rare.
            let good = |(place, velocity): (&Vector3<R>, &Vector3<R>)| {
                (place.norm_squared() <= huge * huge)
                    & (velocity.norm_squared() <= fastest * fastest)
            };
            let rates = motion.rates.iter().all(|rate| rate.norm_squared().is_finite());
            if states.clone().fold(true, |all, state| all & good(state)) && rates {
                return None;
            }
            states
                .enumerate()
                .find(|(_, state)| !good(*state))
                .map(|(vertex, (place, velocity))| {
                    let finite = place.iter().chain(velocity.iter()).all(|x| x.is_finite());
                    let what = if finite {
                        "was thrown far away"
                    } else {
                        "got a position that is not finite"
                    };
                    (vertex, what)
                })
                .or_else(|| {
                    let rate = |rate: &Vector3<R>| !rate.norm_squared().is_finite();
                    let vertex = motion.rates.iter().position(rate)?;
                    Some((vertex, "got a velocity that is not finite"))
                })
        });
        self.clock = clock;
        let Some((vertex, what)) = bad else { return Ok(()) };
        let body = self.system.bodies.body_of(vertex as u32);
        Err(WorldError::Fault {
            body: self.ids.handle(body).number(),
            vertex: vertex - self.system.bodies.list()[body].vertices.start,
            stage: stage.name(),
            what,
        })
    }

    /// Steps that the frame needs: more than wished if something would come too far in one of them, and may meet something
    /// on its way.
    fn needed_substeps(&mut self) -> f64 {
        let wished = f64::from(self.parameters.substeps);
        let Some(largest) = self.parameters.largest_move else { return wished };
        self.find_swept_pairs();
        let contact = self.parameters.contact.thickness;
        let bodies = &self.system.bodies;
        let mut needed = wished;
        let mut need = |way: f64, thickness: f64| {
            let most = largest * thickness.max(contact);
            if most > 0.0 && way.is_finite() && way > most {
                needed = needed.max((way / most).ceil());
            }
        };
        for [a, b] in self.swept_pairs().map(|pair| pair.map(|body| body as usize)) {
            need(self.way(a) + self.way(b), self.thinner(a, b));
        }
        for body in 0..bodies.len() {
            let way = self.way(body);
            if bodies.may_collide(body, body) {
                need(way, self.thinner(body, body));
            }
            let places = &self.system.motion.positions[bodies.list()[body].vertices.clone()];
            for collider in self.colliders.values() {
                let near = R::nearest(way + contact);
                if places.iter().any(|place| collider.nearest(*place).1 < near) {
                    need(way, self.thinner(body, body).min(collider.thickness()));
                }
            }
        }
        needed
    }

    /// How far the fastest vertex of a body comes in a frame.
    fn way(&self, body: usize) -> f64 {
        let own = self.system.bodies.list()[body].vertices.clone();
        let velocities = self.system.motion.velocities[own].iter();
        let fastest = velocities.fold(R::zero(), |most, velocity| most.max(velocity.norm()));
        let Parameters { frame, gravity, .. } = self.parameters;
        (fastest.to_f64() + gravity.norm() * frame) * frame
    }

    fn touch(&self) -> Touch<R> {
        let contact = &self.parameters.contact;
        Touch {
            thickness: R::nearest(contact.thickness),
            friction: R::nearest(contact.friction),
            restitution: R::nearest(contact.restitution),
            recovery: R::nearest(contact.recovery),
        }
    }
}

/// A dragger as a spring between vertices in the numbering of all.
fn pull<R: Real>(dragger: &Dragger, first: impl Fn(super::BodyId) -> u32) -> Pull<R> {
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
