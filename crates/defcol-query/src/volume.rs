//! The intersection volume of two closed surfaces, its gradient and the pressure it causes.

use std::time::Instant;

use defcol::contact::volume::{Patch, VolumeContact};
use defcol::detect::ldi::{OverlapMeter, Shell, Software, Volume};
use defcol::math::Vector3;
use serde::Serialize;

use crate::{LoadedSurface, MeshScene, NamedMesh, OpenSurface, OverlapMesh, QueryError};

/// The finest image from which an [`OverlapMesh`] is built, in pixels along a side.
const FINEST_DRAWN: u32 = 128;

/// Settings of [`volume`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VolumeOptions {
    /// Pixels along a side of the images; refined until the tolerance is met if `None`.
    pub resolution: Option<u32>,
    /// Largest accepted ratio of error to volume, used without a resolution.
    pub tolerance: f64,
    /// What to do with open surfaces.
    pub open: OpenSurface,
    /// Also compute gradient, pressures and contact patches, for this stiffness.
    pub gradient: Option<f64>,
    /// Also build the overlap as a mesh.
    pub overlap_mesh: bool,
}

impl Default for VolumeOptions {
    fn default() -> Self {
        Self {
            resolution: None,
            tolerance: 0.01,
            open: OpenSurface::Refuse,
            gradient: None,
            overlap_mesh: false,
        }
    }
}

/// Intersection volume of two surfaces.
#[derive(Debug, Clone, Serialize)]
pub struct VolumeReport {
    /// `defcol.volume/1`.
    pub schema: &'static str,
    /// Mean of the volumes along the three axes.
    pub volume: f64,
    /// Estimated error of the volume.
    pub error: f64,
    /// Pixels along a side of the images.
    pub resolution: u32,
    /// Volume from rays along x, y and z; `None` where no rays were cast.
    pub along: [Option<f64>; 3],
    /// Unit direction in which moving the first body reduces the volume fastest.
    pub net_force_direction: Option<[f64; 3]>,
    /// Force on the first mesh for the stiffness of the gradient; `None` without one. That on the second is opposite.
    pub net_force: Option<[f64; 3]>,
    /// Torque of these forces on the first mesh about the origin; `None` without a gradient.
    pub net_torque: Option<[f64; 3]>,
    /// Connected regions, largest volume first; only with a gradient.
    pub patches: Option<Vec<PatchReport>>,
    /// Rays left out because a surface is open along them.
    pub unbalanced_rays: usize,
    /// Computation time of the volume.
    pub seconds: f64,
}

/// A connected region of the overlap.
#[derive(Debug, Clone, Serialize)]
pub struct PatchReport {
    /// Volume of the region.
    pub volume: f64,
    /// Area of contact.
    pub area: f64,
    /// Center of the region.
    pub centroid: [f64; 3],
    /// Unit direction in which the first body is pushed.
    pub normal: [f64; 3],
    /// Contact pressure.
    pub pressure: f64,
    /// Force on the first body.
    pub force: [f64; 3],
}

impl From<Patch> for PatchReport {
    fn from(patch: Patch) -> Self {
        Self {
            volume: patch.volume,
            area: patch.area,
            centroid: patch.centroid.into(),
            normal: patch.normal.into(),
            pressure: patch.pressure,
            force: patch.force.into(),
        }
    }
}

/// Volume gradient with respect to one vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientRow {
    /// 0 for the first mesh, 1 for the second.
    pub body: usize,
    /// Vertex index within that mesh.
    pub vertex: usize,
    /// Position of the vertex.
    pub position: Vector3<f64>,
    /// Derivative of the volume with respect to the position.
    pub gradient: Vector3<f64>,
    /// Contribution of the vertex to the volume.
    pub volume: f64,
    /// Contact pressure at the vertex.
    pub pressure: f64,
}

/// Volume gradient and pressures.
#[derive(Debug, Clone)]
pub struct VolumeGradient {
    /// Both meshes as bodies.
    pub scene: MeshScene,
    /// Every vertex with a nonzero gradient.
    pub rows: Vec<GradientRow>,
    /// Contact pressure at each vertex of both meshes.
    pub pressures: Vec<f64>,
}

impl VolumeGradient {
    /// One line per [`GradientRow`].
    pub fn csv(&self) -> String {
        let mut text = String::from("body,vertex,x,y,z,gx,gy,gz,volume,pressure\n");
        for row in &self.rows {
            let (p, g) = (row.position, row.gradient);
            text.push_str(&format!(
                "{},{},{},{},{},{},{},{},{},{}\n",
                row.body, row.vertex, p.x, p.y, p.z, g.x, g.y, g.z, row.volume, row.pressure
            ));
        }
        text
    }
}

/// Result of [`volume`].
#[derive(Debug, Clone)]
pub struct VolumeMeasurement {
    /// The volume and its error.
    pub report: VolumeReport,
    /// Gradient and pressures, if asked for.
    pub gradient: Option<VolumeGradient>,
    /// The overlap as a mesh, if asked for.
    pub overlap_mesh: Option<OverlapMesh>,
}

/// Measures the intersection volume of two surfaces.
///
/// # Errors
/// If a surface is open and this is not allowed for, or the arrays are no valid mesh.
pub fn volume(
    first: &NamedMesh,
    second: &NamedMesh,
    options: &VolumeOptions,
) -> Result<VolumeMeasurement, QueryError> {
    if options.gradient.is_some() && options.open != OpenSurface::Refuse {
        return Err(QueryError::request("the gradient needs closed surfaces"));
    }
    let surfaces = [LoadedSurface::new(first)?, LoadedSurface::new(second)?];
    let (a, b) = (surfaces[0].shell(options.open)?, surfaces[1].shell(options.open)?);
    let mut meter = OverlapMeter::<Software>::default();
    let start = Instant::now();
    let overlap = match options.resolution {
        Some(resolution) => meter.three_axes(&a, &b, resolution),
        None => meter.adaptive(&a, &b, options.tolerance),
    }?;
    let seconds = start.elapsed().as_secs_f64();
    let Volume { value, error, resolution, along } = overlap.volume;
    let overlap_mesh = options
        .overlap_mesh
        .then(|| build_overlap_mesh([&a, &b], resolution.min(FINEST_DRAWN)))
        .transpose()?;
    let measured = options
        .gradient
        .map(|stiffness| measure_gradient([first, second], resolution, stiffness))
        .transpose()?;
    let (net_force, net_torque) = measured.as_ref().map(|measured| measured.wrench).unzip();
    let (gradient, patches) =
        measured.map(|measured| (measured.gradient, measured.patches)).unzip();
    let report = VolumeReport {
        schema: "defcol.volume/1",
        patches,
        volume: value,
        error,
        resolution,
        along,
        net_force_direction: overlap.direction.map(Into::into),
        net_force: net_force.map(Into::into),
        net_torque: net_torque.map(Into::into),
        unbalanced_rays: overlap.unbalanced,
        seconds,
    };
    Ok(VolumeMeasurement { report, gradient, overlap_mesh })
}

/// What the gradient of a volume gives.
struct MeasuredGradient {
    gradient: VolumeGradient,
    patches: Vec<PatchReport>,
    /// Force and torque on the first mesh.
    wrench: (Vector3<f64>, Vector3<f64>),
}

fn measure_gradient(
    [first, second]: [&NamedMesh; 2],
    resolution: u32,
    stiffness: f64,
) -> Result<MeasuredGradient, QueryError> {
    let scene = MeshScene::new([first, second], false)?;
    let mut contact = VolumeContact::<Software>::default();
    contact.pair(&scene.bodies, &scene.positions, [0, 1], resolution)?;
    let mut pressures = Vec::new();
    contact.pressures(scene.bodies.triangles(), &scene.positions, stiffness, &mut pressures);
    let rows = contact.vertices().iter().map(|part| {
        let body = scene.bodies.body_of(part.vertex);
        let global = part.vertex as usize;
        GradientRow {
            body,
            vertex: global - scene.bodies.list()[body].vertices.start,
            position: scene.positions[global],
            gradient: part.gradient,
            volume: part.volume,
            pressure: pressures[global],
        }
    });
    let rows = rows.collect();
    let mut patches = contact.patches(stiffness);
    patches.sort_by(|a, b| b.volume.total_cmp(&a.volume));
    let patches = patches.into_iter().map(PatchReport::from).collect();
    let torque = contact.net_torque(0, Vector3::zeros(), &scene.positions, stiffness);
    let wrench = (contact.net_force(0, stiffness), torque);
    Ok(MeasuredGradient { gradient: VolumeGradient { scene, rows, pressures }, patches, wrench })
}

fn build_overlap_mesh(
    [a, b]: [&Shell<f64>; 2],
    resolution: u32,
) -> Result<OverlapMesh, QueryError> {
    let mut boxes = OverlapMesh::default();
    let mut meter = OverlapMeter::<Software>::default();
    let overlap = meter.one_axis(a, b, resolution)?;
    if overlap.volume.value > 0.0 {
        let view = *meter.images()[0].view();
        boxes.add(&view, meter.combination().intervals());
    }
    Ok(boxes)
}
