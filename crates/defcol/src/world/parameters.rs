//! What may be chosen, and changed at any time.

use crate::contact::depth::DepthParameters;
use crate::error::WorldError;
use crate::integrate::Integrator;
use crate::math::Vector3;
use crate::response::{Air, ContactParameters, Pressure, Springs};

/// Numbers beyond this, or nearer to zero than one over it, are refused: single precision cannot compute with them.
pub(super) const HUGE: f64 = 1e30;

/// How contacts are found: which vertices are in which bodies, and, for [`Response::Pressure`] and [`Response::Volume`],
/// which pairs have their common volume measured. Surfaces that are near each other are always found by
/// [`ProximityPairs`](crate::detect::proximity::ProximityPairs).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detection {
    /// By what the bodies are: vertices in bodies with tetrahedra by hashing, in closed surfaces without any by layered
    /// depth images.
    #[default]
    Automatic,
    /// Spatial hashing of vertices and tetrahedra.
    Hash,
    /// Trees of bounding volumes.
    Trees,
    /// Layered depth images, pair by pair.
    Ldi,
    /// Layered depth images of all bodies at once to find the pairs that overlap, then pair by pair. Vertices are found as
    /// by [`Detection::Ldi`].
    LdiOnePass,
    /// Everything against everything.
    Brute,
}

/// What contacts do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Response {
    /// Surfaces stay a thickness apart: exactly with XPBD, by springs with the others. What is deep inside is led out by its
    /// penetration depth.
    Layer(Springs),
    /// Springs on consistent penetration depths (THESIS chapter 6).
    Penalty(Springs),
    /// Pressure and viscous friction on overlapping volumes (FAURE08). What has no inside, particles and open surfaces, is
    /// pushed out of others by springs on the depths of its vertices, here and with [`Response::Volume`].
    Pressure {
        /// How strong.
        pressure: Pressure,
        /// Rays along a side.
        resolution: u32,
    },
    /// Overlapping volumes as constraints, with Coulomb friction and restitution.
    Volume {
        /// Rays along a side.
        resolution: u32,
    },
}

impl Default for Response {
    fn default() -> Self {
        Self::Layer(Springs::default())
    }
}

impl Response {
    /// Rays along a side, where overlapping volumes are measured.
    pub(super) fn resolution(&self) -> Option<u32> {
        match *self {
            Self::Layer(_) | Self::Penalty(_) => None,
            Self::Pressure { resolution, .. } | Self::Volume { resolution } => Some(resolution),
        }
    }
}

/// How surfaces are kept a thickness apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// Not at all.
    None,
    /// By forces.
    Springs,
    /// By constraints on positions.
    Constraints,
}

/// Parameters of a simulation. All may be changed between two frames.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationParameters {
    /// The time from frame to frame, in s.
    pub frame: f64,
    /// Steps in a frame.
    pub substeps: u32,
    /// If a body would come by more than this share of its own thickness or of that of what may be in its way within a step,
    /// there are more steps in the frame, up to sixteen times as many; [`World::substeps`](super::World::substeps) tells
    /// whether these were enough. None: never.
    pub largest_move: Option<f64>,
    /// How states follow each other.
    pub integrator: Integrator,
    /// How contacts are found.
    pub detection: Detection,
    /// What they do.
    pub response: Response,
    /// Thickness, friction and restitution of surfaces.
    pub contact: ContactParameters,
    /// How depths are found.
    pub depth: DepthParameters,
    /// Acceleration of everything, in m/s².
    pub gravity: Vector3<f64>,
    /// Wind and drag.
    pub air: Air,
}

impl Default for SimulationParameters {
    fn default() -> Self {
        Self {
            frame: 1.0 / 60.0,
            substeps: 8,
            largest_move: None,
            integrator: Integrator::default(),
            detection: Detection::default(),
            response: Response::default(),
            contact: ContactParameters::default(),
            depth: DepthParameters::default(),
            gravity: Vector3::new(0.0, -9.81, 0.0),
            air: Air { wind: Vector3::zeros(), drag: 0.0 },
        }
    }
}

impl SimulationParameters {
    /// Whether surfaces are kept apart by constraints.
    pub(super) fn keeps_apart(&self) -> bool {
        self.layer() == Layer::Constraints && self.contact.thickness > 0.0
    }

    /// How surfaces are kept apart.
    pub(super) fn layer(&self) -> Layer {
        match (self.response, self.integrator) {
            (Response::Layer(_), Integrator::Xpbd) => Layer::Constraints,
            (Response::Layer(_), _) => Layer::Springs,
            _ => Layer::None,
        }
    }

    /// Whether all values are usable.
    pub fn validate(&self) -> Result<(), WorldError> {
        let check = |name: &'static str, value: f64, good: bool, allowed: &'static str| {
            if good { Ok(()) } else { Err(WorldError::Parameter { name, value, allowed }) }
        };
        let not_negative = |name: &'static str, value: f64| {
            check(name, value, (0.0..=HUGE).contains(&value), "from 0 to 1e30")
        };
        let positive = |name: &'static str, value: f64| {
            check(name, value, (1.0 / HUGE..=HUGE).contains(&value), "from 1e-30 to 1e30")
        };
        positive("frame", self.frame)?;
        let substeps = f64::from(self.substeps);
        check("substeps", substeps, (1..=10_000).contains(&self.substeps), "from 1 to 10000")?;
        if let Some(largest) = self.largest_move {
            positive("largest_move", largest)?;
        }
        not_negative("contact.thickness", self.contact.thickness)?;
        not_negative("contact.friction", self.contact.friction)?;
        let restitution = self.contact.restitution;
        check(
            "contact.restitution",
            restitution,
            (0.0..=1.0).contains(&restitution),
            "from 0 to 1",
        )?;
        not_negative("contact.recovery", self.contact.recovery)?;
        not_negative("depth.resting", self.depth.resting)?;
        for axis in 0..3 {
            let (pull, wind) = (self.gravity[axis], self.air.wind[axis]);
            check("gravity", pull, pull.abs() <= HUGE, "within ±1e30")?;
            check("air.wind", wind, wind.abs() <= HUGE, "within ±1e30")?;
        }
        not_negative("air.drag", self.air.drag)?;
        match self.response {
            Response::Layer(springs) | Response::Penalty(springs) => {
                positive("springs.frequency", springs.frequency)?;
                not_negative("springs.damping", springs.damping)
            }
            Response::Pressure { pressure, resolution } => {
                not_negative("pressure.stiffness", pressure.stiffness)?;
                not_negative("pressure.viscosity", pressure.viscosity)?;
                let value = f64::from(resolution);
                check("resolution", value, (2..=4096).contains(&resolution), "from 2 to 4096")
            }
            Response::Volume { resolution } => {
                let value = f64::from(resolution);
                check("resolution", value, (2..=4096).contains(&resolution), "from 2 to 4096")
            }
        }?;
        if let Integrator::ImplicitEuler(accuracy) = self.integrator {
            let (most, value) = (accuracy.iterations, accuracy.tolerance);
            check(
                "iterations",
                f64::from(most),
                (1..=1_000_000).contains(&most),
                "from 1 to 1000000",
            )?;
            check("tolerance", value, value > 0.0 && value < 1.0, "between 0 and 1")?;
        }
        Ok(())
    }
}
