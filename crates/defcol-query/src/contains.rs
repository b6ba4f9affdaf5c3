//! Which points are inside a closed surface.

use std::time::Instant;

use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, SampledPoints, Shell, Software, Start, View,
};
use defcol::error::DetectError;
use defcol::math::Vector3;
use serde::Serialize;

use crate::{LoadedSurface, NamedMesh, OpenSurface, QueryError};

/// How points are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContainsMethod {
    /// Lookup in a layered depth image; points near the surface may be wrong.
    Ldi,
    /// Winding numbers, without error.
    Exact,
}

/// Settings of [`contains`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContainsOptions {
    /// How points are tested.
    pub method: ContainsMethod,
    /// Pixels along a side of the image of [`ContainsMethod::Ldi`].
    pub resolution: u32,
}

/// Counts of points inside.
#[derive(Debug, Clone, Serialize)]
pub struct ContainsReport {
    /// `defcol.contains/1`.
    pub schema: &'static str,
    /// How points were tested.
    pub method: ContainsMethod,
    /// Number of points.
    pub points: usize,
    /// How many of them are inside.
    pub inside: usize,
    /// How many are closer to the surface than the sampling error.
    pub uncertain: usize,
    /// Pixels along a side of the image; `None` for the exact method.
    pub resolution: Option<u32>,
    /// Computation time.
    pub seconds: f64,
}

/// Result of [`contains`].
#[derive(Debug, Clone)]
pub struct Containment {
    /// Counts.
    pub report: ContainsReport,
    /// For each point, whether it is inside.
    pub inside: Vec<bool>,
}

impl Containment {
    /// One line per point: coordinates and 1 for inside, 0 for outside.
    pub fn csv(&self, points: &[Vector3<f64>]) -> String {
        let mut text = String::from("x,y,z,inside\n");
        for (p, inside) in points.iter().zip(&self.inside) {
            text.push_str(&format!("{},{},{},{}\n", p.x, p.y, p.z, u8::from(*inside)));
        }
        text
    }
}

/// Tests which points are inside a closed surface.
///
/// # Errors
/// If the surface is open, or the points cannot be tested.
pub fn contains(
    mesh: &NamedMesh,
    points: &[Vector3<f64>],
    options: &ContainsOptions,
) -> Result<Containment, QueryError> {
    let surface = LoadedSurface::new(mesh)?;
    let shell = surface.shell(OpenSurface::Refuse)?;
    let mut inside = Vec::new();
    let start = Instant::now();
    let sampled = options.method == ContainsMethod::Ldi;
    let uncertain = if sampled {
        sample(&shell, points, options.resolution, &mut inside)?
    } else {
        ExactPoints::default().contains(&shell, points, &mut inside)?;
        0
    };
    let report = ContainsReport {
        schema: "defcol.contains/1",
        method: options.method,
        points: points.len(),
        inside: inside.iter().filter(|&&inside| inside).count(),
        uncertain,
        resolution: sampled.then_some(options.resolution),
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok(Containment { report, inside })
}

/// Looks the points up in an image; returns how many are closer to the surface than its sampling error.
fn sample(
    shell: &Shell<f64>,
    points: &[Vector3<f64>],
    resolution: u32,
    inside: &mut Vec<bool>,
) -> Result<usize, DetectError> {
    let axis = shell.bounds().extent().imin();
    let view = View::new(shell.bounds(), axis, resolution)?;
    let mut ldi = Ldi::default();
    Software::default().generate(&[*shell], &view, Start::Near, &mut ldi)?;
    SampledPoints::default().contains(&ldi, points, inside);
    let mut uncertain = Vec::new();
    ExactPoints::default().uncertain(shell, &view, points, &mut uncertain);
    Ok(uncertain.iter().filter(|&&point| point).count())
}
