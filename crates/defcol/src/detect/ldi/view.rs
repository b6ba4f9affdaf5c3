use super::raster::weights;
use crate::error::DetectError;
use crate::math::{Bounds, Vector3};

/// The finest raster: pixels along a side.
pub const MAX_RESOLUTION: u32 = 4096;

/// Steps that a side of the raster has at least half of, as a power of two: vertices are snapped to steps.
const STEP_BITS: u32 = 23;

/// The largest depth; the smallest is zero.
pub const MAX_DEPTH: u32 = u32::MAX;

/// How many times as wide as its view a surface may be.
pub(super) const MAX_RATIO: f64 = (1u64 << 32) as f64;

/// Parallel rays through a box: along which axis they run, and how many.
///
/// There is a ray through the middle of every pixel of a raster that covers one face of the box; depths
/// are counted from that face (near) to the opposite one (far), from zero to [`MAX_DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    axis: usize,
    resolution: u32,
    bounds: Bounds<f64>,
}

impl View {
    /// Rays along `axis` (0, 1 or 2) through a box, `resolution` by `resolution` of them. A box without
    /// width, or much narrower than its distance from the origin lets numbers tell apart, is widened.
    pub fn new(bounds: Bounds<f64>, axis: usize, resolution: u32) -> Result<Self, DetectError> {
        if !(2..=MAX_RESOLUTION).contains(&resolution) {
            return Err(DetectError::Resolution { resolution, limit: MAX_RESOLUTION });
        }
        assert!(axis < 3 && !bounds.is_empty(), "a view needs an axis and a box");
        let largest = bounds.min.amax().max(bounds.max.amax());
        let least = (largest * f64::powi(2.0, -36)).max(1e-100);
        let wider = bounds.grown(0.5 * least);
        let mut widened = bounds;
        for axis in 0..3 {
            if bounds.extent()[axis] < least {
                widened.min[axis] = wider.min[axis];
                widened.max[axis] = wider.max[axis];
            }
        }
        Ok(Self { axis, resolution, bounds: widened })
    }

    /// The axis along which rays run.
    pub fn axis(&self) -> usize {
        self.axis
    }

    /// The axes along the columns and the rows of the raster, and that of the rays.
    pub fn axes(&self) -> [usize; 3] {
        [(self.axis + 1) % 3, (self.axis + 2) % 3, self.axis]
    }

    /// Pixels along a side of the raster.
    pub fn resolution(&self) -> u32 {
        self.resolution
    }

    /// How many pixels there are.
    pub fn pixels(&self) -> usize {
        (self.resolution as usize).pow(2)
    }

    /// The box.
    pub fn bounds(&self) -> Bounds<f64> {
        self.bounds
    }

    /// The edges of a pixel, and the length of one step of depth.
    pub fn spacing(&self) -> Vector3<f64> {
        let extent = self.bounds.extent();
        let [u, v, w] = self.axes();
        let pixels = f64::from(self.resolution);
        Vector3::new(extent[u] / pixels, extent[v] / pixels, extent[w] / f64::from(MAX_DEPTH))
    }

    /// The volume that one step of depth in one pixel stands for.
    pub fn unit_volume(&self) -> f64 {
        let spacing = self.spacing();
        spacing.x * spacing.y * spacing.z
    }

    /// The point at some depth on the ray through a pixel.
    pub fn point(&self, [column, row]: [u32; 2], depth: u32) -> Vector3<f64> {
        let [u, v, w] = self.axes();
        let spacing = self.spacing();
        let mut point = self.bounds.min;
        point[u] += (f64::from(column) + 0.5) * spacing.x;
        point[v] += (f64::from(row) + 0.5) * spacing.y;
        point[w] += f64::from(depth) * spacing.z;
        point
    }

    /// The weights of the corners of a triangle where the ray through a pixel crosses it: those that its depth there was
    /// made with. Zero for a triangle that is seen from its edge.
    pub fn weights(&self, pixel: u32, corners: [Vector3<f64>; 3]) -> [f64; 3] {
        weights(&self.grid(), [pixel % self.resolution, pixel / self.resolution], corners)
    }

    /// How far a vertex may be moved across the rays when it is snapped.
    pub fn snapping(&self) -> f64 {
        let grid = self.grid();
        let largest = self.bounds.min.amax().max(self.bounds.max.amax());
        0.5 / grid.scale[0].min(grid.scale[1]) + largest * 4.0 * f64::EPSILON
    }

    /// How near to the surface a point may be before the ray of its pixel no longer speaks for it.
    pub fn sampling_error(&self) -> f64 {
        0.5 * self.spacing().xy().norm() + 2.0 * self.snapping() + self.spacing().z
    }

    /// Whether a surface in this box reaches so far beyond the raster that its corners cannot be told apart.
    pub(super) fn is_dwarfed_by(&self, shell: &Bounds<f64>) -> bool {
        let (own, largest) = (self.bounds.extent(), MAX_RATIO);
        let around = self.bounds.union(*shell).extent();
        (0..3).any(|axis| around[axis] > largest * own[axis])
    }

    /// What is needed to bring positions onto the raster.
    pub(super) fn grid(&self) -> Grid {
        let axes = self.axes();
        let extent = self.bounds.extent();
        let shift = STEP_BITS - (self.resolution - 1).ilog2() - 1;
        let steps = f64::from(self.resolution << shift);
        Grid {
            axes,
            low: [self.bounds.min[axes[0]], self.bounds.min[axes[1]]],
            scale: [steps / extent[axes[0]], steps / extent[axes[1]]],
            half: f64::from(1u32 << shift) * 0.5,
            shift,
            resolution: self.resolution as i32,
            near: self.bounds.min[self.axis],
            far: self.bounds.max[self.axis],
            depth_scale: f64::from(MAX_DEPTH) / extent[self.axis],
        }
    }
}

/// From positions to the raster. Pixels are many steps wide, their middles are at whole steps, that of the
/// first pixel at zero. Every function here is monotone, so that order is never lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub axes: [usize; 3],
    low: [f64; 2],
    scale: [f64; 2],
    half: f64,
    /// The width of a pixel is two to this power of steps.
    pub shift: u32,
    pub resolution: i32,
    pub near: f64,
    pub far: f64,
    depth_scale: f64,
}

/// Steps beyond which products of two differences are no longer exact.
pub(super) const FAR: f64 = (1u64 << 25) as f64;

/// Added to a number of magnitude less than 2^51, it leaves the nearest whole number in the lowest bits.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;

impl Grid {
    /// The nearest whole step to a coordinate along columns (0) or rows (1).
    #[inline(always)]
    pub fn steps(&self, direction: usize, coordinate: f64) -> f64 {
        let steps = (coordinate - self.low[direction]) * self.scale[direction] - self.half;
        (steps + ROUNDING) - ROUNDING
    }

    /// The first pixel whose middle is not before these steps; those outside the raster are one.
    #[inline(always)]
    pub fn first_pixel(&self, steps: f64) -> i32 {
        let whole = whole(steps);
        ((whole + (1 << self.shift) - 1) >> self.shift).clamp(0, self.resolution)
    }

    /// The pixel that covers these steps, in fractions of two to some power; the outermost ones go on for
    /// ever.
    #[inline(always)]
    pub fn pixel(&self, steps: f64, fraction: u32) -> i32 {
        let half = (1 << self.shift) >> 1;
        let last = (self.resolution << fraction) - 1;
        ((whole(steps) + half) >> (self.shift - fraction)).clamp(0, last)
    }

    /// The depth of a coordinate along the rays, not yet limited to the box.
    #[inline(always)]
    pub fn depth(&self, coordinate: f64) -> f64 {
        (coordinate - self.near) * self.depth_scale
    }
}

/// Steps as an integer; what is far outside of the raster comes nearer but not onto it.
#[inline(always)]
fn whole(steps: f64) -> i32 {
    let near = if steps < FAR { steps } else { FAR };
    let near = if near > -FAR { near } else { -FAR };
    (near + ROUNDING).to_bits() as i32
}
