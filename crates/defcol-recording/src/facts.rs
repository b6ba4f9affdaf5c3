//! What a recording says about the run, as JSON.

use defcol::contact::depth::{DepthParameters, Normals};
use defcol::integrate::{Accuracy, Integrator};
use defcol::math::Vector3;
use defcol::response::{Air, ContactParameters, Pressure, Springs};
use defcol::world::{Detection, Response, SimulationParameters};
use serde::{Deserialize, Serialize};

use crate::{FORMAT, RecordingError};

/// Facts about the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The format of the file: [`FORMAT`].
    pub format: String,
    /// The program that wrote it.
    pub program: String,
    /// How to build the world again, if it is one of a catalogue.
    pub scene: Option<Scene>,
    /// The numbers that the world was simulated with.
    pub precision: Precision,
    /// How positions are kept.
    pub positions: Storage,
    /// What was chosen when the recording began.
    #[serde(with = "parameters")]
    pub parameters: SimulationParameters,
}

/// A scene of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scene {
    /// Its name.
    pub name: String,
    /// What its bodies were moved by.
    pub seed: u64,
}

/// Single or double precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single.
    F32,
    /// Double.
    F64,
}

impl Precision {
    /// Bytes of a number.
    pub(super) fn width(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// How positions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "storage", rename_all = "lowercase")]
pub enum Storage {
    /// Bit by bit.
    #[default]
    Exact,
    /// Rounded to multiples of a length.
    Quantised {
        /// The length.
        quantum: f64,
    },
}

impl Facts {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, RecordingError> {
        #[derive(Deserialize)]
        struct Only {
            format: String,
        }
        let foreign = |error: serde_json::Error| RecordingError::Foreign(error.to_string());
        let Only { format } = serde_json::from_slice(bytes).map_err(foreign)?;
        let version = |text: &str| text.strip_prefix("defcol.recording/")?.parse::<u32>().ok();
        let found = defcol_io::excerpt(format.as_bytes());
        match version(&format) {
            None => return Err(RecordingError::Foreign(format!("its format is {found}"))),
            // Of an earlier one the same is read: what has come since has a value that it stands for.
            later if later > version(FORMAT) => {
                return Err(RecordingError::Version { found, known: FORMAT });
            }
            Some(_) => {}
        }
        serde_json::from_slice(bytes).map_err(foreign)
    }
}

/// Parameters; those that a file does not know, as it is older, are as they are by default.
pub(super) mod parameters {
    use defcol::world::SimulationParameters;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    use super::ParametersJson;

    pub fn serialize<S: Serializer>(
        value: &SimulationParameters,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        ParametersJson::serialize(value, to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<SimulationParameters, D::Error> {
        let mut value = Value::deserialize(from)?;
        let known = ParametersJson::serialize(
            &SimulationParameters::default(),
            serde_json::value::Serializer,
        )
        .map_err(D::Error::custom)?;
        complete(&mut value, known);
        ParametersJson::deserialize(value).map_err(D::Error::custom)
    }

    /// Adds what is missing. Of choices among several nothing is missing: those have names of their own.
    fn complete(value: &mut Value, known: Value) {
        let (Value::Object(value), Value::Object(known)) = (value, known) else { return };
        for (name, default) in known {
            match value.get_mut(&name) {
                None => {
                    value.insert(name, default);
                }
                Some(own) if ["contact", "depth", "air"].contains(&name.as_str()) => {
                    complete(own, default);
                }
                Some(_) => {}
            }
        }
    }
}

/// The parameters of a world, which says nothing of files itself.
#[derive(Serialize, Deserialize)]
#[serde(remote = "SimulationParameters")]
struct ParametersJson {
    frame: f64,
    substeps: u32,
    largest_move: Option<f64>,
    #[serde(with = "IntegratorJson")]
    integrator: Integrator,
    #[serde(with = "DetectionJson")]
    detection: Detection,
    #[serde(with = "ResponseJson")]
    response: Response,
    #[serde(with = "ContactJson")]
    contact: ContactParameters,
    #[serde(with = "DepthJson")]
    depth: DepthParameters,
    #[serde(with = "vector")]
    gravity: Vector3<f64>,
    #[serde(with = "AirJson")]
    air: Air,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Integrator", rename_all = "snake_case")]
enum IntegratorJson {
    ExplicitEuler,
    SymplecticEuler,
    Verlet,
    RungeKutta4,
    ImplicitEuler(#[serde(with = "AccuracyJson")] Accuracy),
    Xpbd,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Accuracy")]
struct AccuracyJson {
    iterations: u32,
    tolerance: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Detection", rename_all = "snake_case")]
enum DetectionJson {
    Automatic,
    Hash,
    Trees,
    Ldi,
    LdiOnePass,
    Brute,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Response", rename_all = "snake_case")]
enum ResponseJson {
    Layer(#[serde(with = "SpringsJson")] Springs),
    Penalty(#[serde(with = "SpringsJson")] Springs),
    Pressure {
        #[serde(with = "PressureJson")]
        pressure: Pressure,
        resolution: u32,
    },
    Volume {
        resolution: u32,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Springs")]
struct SpringsJson {
    frequency: f64,
    damping: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Pressure")]
struct PressureJson {
    stiffness: f64,
    viscosity: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ContactParameters")]
struct ContactJson {
    thickness: f64,
    friction: f64,
    restitution: f64,
    recovery: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "DepthParameters")]
struct DepthJson {
    #[serde(with = "NormalsJson")]
    normals: Normals,
    resting: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Normals", rename_all = "snake_case")]
enum NormalsJson {
    Flat,
    Interpolated,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Air")]
struct AirJson {
    #[serde(with = "vector")]
    wind: Vector3<f64>,
    drag: f64,
}

/// Vectors as lists of three numbers.
pub(super) mod vector {
    use defcol::math::Vector3;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &Vector3<f64>, to: S) -> Result<S::Ok, S::Error> {
        [value.x, value.y, value.z].serialize(to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vector3<f64>, D::Error> {
        <[f64; 3]>::deserialize(from).map(Vector3::from)
    }
}
