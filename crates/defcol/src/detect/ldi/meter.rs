use super::combination::{Combination, Operation};
use super::image::{Generator, Ldi, Software};
use super::region::{Region, Start};
use super::shell::Shell;
use super::view::{MAX_RATIO, MAX_RESOLUTION, View};
use super::volume::{Volume, push};
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3};

/// Measures overlaps of two bodies. It keeps its memory from call to call.
#[derive(Debug, Default)]
pub struct OverlapMeter<G = Software> {
    generator: G,
    images: [Ldi; 2],
    combination: Combination,
}

/// An overlap of two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Overlap {
    /// Its volume.
    pub volume: Volume,
    /// The direction in which the first body has to go so that the volume shrinks fastest, of length one;
    /// known if rays ran along all three axes and there is such a direction.
    pub direction: Option<Vector3<f64>>,
    /// Rays that were left out because the surface is open along them.
    pub unbalanced: usize,
}

impl<G> OverlapMeter<G> {
    /// With a generator of one's own.
    pub fn with(generator: G) -> Self {
        Self { generator, images: Default::default(), combination: Combination::default() }
    }

    /// The images of the last direction that was looked along.
    pub fn images(&self) -> &[Ldi; 2] {
        &self.images
    }

    /// The overlap along the last direction, ray by ray.
    pub fn combination(&self) -> &Combination {
        &self.combination
    }

    /// Looks along the one axis that promises the fewest layers.
    pub fn one_axis<R: Real>(
        &mut self,
        a: &Shell<R>,
        b: &Shell<R>,
        resolution: u32,
    ) -> Result<Overlap, DetectError>
    where
        G: Generator<R>,
    {
        let Some(region) = region_of(a, b, None)? else {
            return nothing(resolution);
        };
        Ok(self.look(a, b, &region, resolution)?.0)
    }

    /// Looks along all three axes: the mean is better than each, and their spread tells how good it is. Where
    /// a surface is half-infinite only one axis makes sense.
    pub fn three_axes<R: Real>(
        &mut self,
        a: &Shell<R>,
        b: &Shell<R>,
        resolution: u32,
    ) -> Result<Overlap, DetectError>
    where
        G: Generator<R>,
    {
        if a.half_infinite_axis().or(b.half_infinite_axis()).is_some() {
            return self.one_axis(a, b, resolution);
        }
        let (mut volumes, mut force) = ([Volume::default(); 3], Vector3::zeros());
        let mut unbalanced = 0;
        // The best axis comes last, so that its images stay.
        let Some(best) = region_of(a, b, None)? else {
            return nothing(resolution);
        };
        for (k, volume) in volumes.iter_mut().enumerate() {
            let axis = (best.axis + 1 + k) % 3;
            let Some(region) = region_of(a, b, Some(axis))? else {
                return nothing(resolution);
            };
            let (overlap, push) = self.look(a, b, &region, resolution)?;
            *volume = overlap.volume;
            unbalanced += overlap.unbalanced;
            force[axis] = push;
        }
        // Scaled, so that squares neither vanish nor overflow.
        let direction = (force.amax() > 0.0).then(|| (force / force.amax()).normalize());
        Ok(Overlap { volume: Volume::mean(&volumes), direction, unbalanced })
    }

    /// Looks along three axes with ever finer rasters until the error is at most `tolerance` times the volume
    /// (of the boxes' overlap, where nothing else is found), or the raster cannot be finer. The result says
    /// which it was.
    pub fn adaptive<R: Real>(
        &mut self,
        a: &Shell<R>,
        b: &Shell<R>,
        tolerance: f64,
    ) -> Result<Overlap, DetectError>
    where
        G: Generator<R>,
    {
        let mut resolution = 32;
        let mut best = None;
        loop {
            let overlap = match (self.three_axes(a, b, resolution), best) {
                (Err(DetectError::TooManyFragments { .. }), Some(best)) => return Ok(best),
                (overlap, _) => overlap?,
            };
            let Volume { value, error, .. } = overlap.volume;
            let region = region_of(a, b, None)?.map_or(Vector3::zeros(), |r| r.bounds.extent());
            let whole = if value > 0.0 { value } else { region.x * region.y * region.z };
            if error <= tolerance * whole || resolution == MAX_RESOLUTION {
                return Ok(overlap);
            }
            best = Some(overlap);
            resolution *= 2;
        }
    }

    fn look<R: Real>(
        &mut self,
        a: &Shell<R>,
        b: &Shell<R>,
        region: &Region,
        resolution: u32,
    ) -> Result<(Overlap, f64), DetectError>
    where
        G: Generator<R>,
    {
        let view = View::new(region.bounds, region.axis, resolution)?;
        for ((shell, start), image) in [a, b].into_iter().zip(region.starts).zip(&mut self.images) {
            self.generator.generate(std::slice::from_ref(shell), &view, start, image)?;
        }
        let [first, second] = &self.images;
        self.combination.combine(Operation::Intersection, &[first, second])?;
        let open = |image: &Ldi, start: Start| match start {
            Start::BalancedOnly => image.unbalanced().count(),
            _ => 0,
        };
        let unbalanced = open(first, region.starts[0]) + open(second, region.starts[1]);
        let volume = self.combination.volume();
        let push = push(&view, self.combination.intervals());
        Ok((Overlap { volume, direction: None, unbalanced }, push))
    }
}

/// What is known if the boxes do not meet, or only touch.
fn nothing(resolution: u32) -> Result<Overlap, DetectError> {
    let flat = Bounds { min: Vector3::zeros(), max: Vector3::zeros() };
    // Asked for the sake of its checks.
    let resolution = View::new(flat, 0, resolution)?.resolution();
    let volume = Volume { value: 0.0, error: 0.0, resolution, along: [Some(0.0); 3] };
    Ok(Overlap { volume, direction: None, unbalanced: 0 })
}

/// Where to look, and along which axis; `None` if there can be no overlap.
pub(crate) fn region_of<R: Real>(
    a: &Shell<R>,
    b: &Shell<R>,
    axis: Option<usize>,
) -> Result<Option<Region>, DetectError> {
    let boxes = [a, b].map(|shell| shell.bounds());
    let endless = [a, b].map(|shell| shell.half_infinite_axis());
    let starts = [a, b].map(|shell| shell.open_start());
    // A half-infinite body is wherever the other one is.
    let mut bounds = match endless {
        [None, None] => boxes[0].intersection(boxes[1]),
        [Some(_), None] => boxes[1],
        [None, Some(_)] => boxes[0],
        [Some(_), Some(_)] => return Err(DetectError::TwoHalfInfinite),
    };
    if bounds.is_empty() || (0..3).any(|axis| bounds.extent()[axis] <= 0.0) {
        return Ok(None);
    }
    let along = axis.or(endless[0]).or(endless[1]);
    let along = along.map(|axis| Region::along(axis, bounds, boxes));
    let Some(mut region) = along.or_else(|| Region::between(boxes[0], boxes[1])) else {
        return Ok(None);
    };
    for (body, start) in starts.into_iter().enumerate() {
        if let Some(start) = start {
            region.starts[body] = start;
            bounds.min[region.axis] = bounds.min[region.axis].min(boxes[body].min[region.axis]);
            bounds.max[region.axis] = bounds.max[region.axis].max(boxes[body].max[region.axis]);
        }
    }
    // Corners far outside of a tiny region could not be told apart any more.
    let around = boxes[0].union(boxes[1]).union(bounds).extent();
    for axis in 0..3 {
        let missing = 2.0 * around[axis] / MAX_RATIO - bounds.extent()[axis];
        if missing > 0.0 {
            bounds.min[axis] -= 0.5 * missing;
            bounds.max[axis] += 0.5 * missing;
        }
    }
    region.bounds = bounds;
    Ok(Some(region))
}
