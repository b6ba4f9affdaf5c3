use super::region::Start;
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3};
use crate::mesh::unmatched_half_edges;
use crate::state::Bodies;

/// A triangle surface in its present positions.
#[derive(Debug, Clone, Copy)]
pub struct Shell<'a, R: Real> {
    positions: &'a [Vector3<R>],
    /// The number that triangles use for the first of the positions.
    first: u32,
    triangles: &'a [[u32; 3]],
    bounds: Bounds<f64>,
    open: Open,
}

/// What is made of a surface with open edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Open {
    /// The surface is closed, so there is nothing to decide.
    #[default]
    Closed,
    /// It bounds the half-infinite volume behind it: a ground, or a bag (FAURE08 section 5). Rays run along
    /// this axis, the one in which most of it faces.
    HalfInfinite(usize),
    /// Rays that do not leave it as often as they enter it are left out, and counted.
    Measured,
}

impl<'a, R: Real> Shell<'a, R> {
    /// Checks and takes positions and triangles, which run counter-clockwise seen from outside. Vertices that no
    /// triangle uses belong to the box of the surface as well; far away ones make everything slower.
    pub fn new(
        positions: &'a [Vector3<R>],
        triangles: &'a [[u32; 3]],
    ) -> Result<Self, DetectError> {
        let vertices = positions.len();
        let exists = |corner: u32| (corner as usize) < vertices;
        if let Some(triangle) = triangles.iter().position(|t| !t.iter().all(|&v| exists(v))) {
            let vertex = triangles[triangle].into_iter().find(|&v| !exists(v)).unwrap_or_default();
            return Err(DetectError::NoSuchVertex { triangle, vertex, vertices });
        }
        Self::trusted(positions, 0, triangles, 0)
    }

    /// The surface of a body.
    pub fn of_body(
        bodies: &'a Bodies,
        positions: &'a [Vector3<R>],
        body: usize,
    ) -> Result<Self, DetectError> {
        let vertices = bodies.vertex_count();
        if positions.len() != vertices {
            return Err(DetectError::PositionCount { positions: positions.len(), vertices });
        }
        let own = &bodies.list()[body];
        let triangles = &bodies.triangles()[own.triangles.clone()];
        Self::trusted(&positions[own.vertices.clone()], own.vertices.start as u32, triangles, body)
    }

    fn trusted(
        positions: &'a [Vector3<R>],
        first: u32,
        triangles: &'a [[u32; 3]],
        body: usize,
    ) -> Result<Self, DetectError> {
        let bounds = checked_bounds(positions, body)?;
        Ok(Self { positions, first, triangles, bounds, open: Open::Closed })
    }

    /// The surface as the border of the half-infinite volume behind it.
    #[must_use]
    pub fn half_infinite(self) -> Self {
        let area = (0..self.triangles.len() as u32).fold(Vector3::zeros(), |sum, triangle| {
            let [a, b, c] = self.corners(triangle);
            sum + (b - a).cross(&(c - a))
        });
        Self { open: Open::HalfInfinite(area.iamax()), ..self }
    }

    /// The surface with all its open edges: rays that do not leave it as often as they enter it are left out.
    #[must_use]
    pub fn measured_as_it_is(self) -> Self {
        Self { open: Open::Measured, ..self }
    }

    /// What is made of open edges.
    pub fn open(&self) -> Open {
        self.open
    }

    /// The axis along which a half-infinite volume has to be looked at.
    pub(super) fn half_infinite_axis(&self) -> Option<usize> {
        match self.open {
            Open::HalfInfinite(axis) => Some(axis),
            Open::Closed | Open::Measured => None,
        }
    }

    /// Where the winding number of a surface with open edges is known.
    pub(super) fn open_start(&self) -> Option<Start> {
        match self.open {
            Open::Closed => None,
            Open::HalfInfinite(_) => Some(Start::HalfInfinite),
            Open::Measured => Some(Start::BalancedOnly),
        }
    }

    /// The positions of its vertices.
    pub fn positions(&self) -> &'a [Vector3<R>] {
        self.positions
    }

    /// Its triangles; their numbers for vertices begin with [`first`](Self::first).
    pub fn triangles(&self) -> &'a [[u32; 3]] {
        self.triangles
    }

    /// The number that triangles use for the first vertex.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The box around its vertices.
    pub fn bounds(&self) -> Bounds<f64> {
        self.bounds
    }

    /// The corners of a triangle.
    pub fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        self.triangles[triangle as usize]
            .map(|corner| self.positions[(corner - self.first) as usize].map(R::to_f64))
    }

    /// Half-edges without an opposite, each as often as opposites are missing: none if the surface is closed.
    fn open_edges(&self) -> Vec<[u32; 2]> {
        unmatched_half_edges(self.triangles)
    }

    /// Refuses a surface that is not closed.
    pub fn check_closed(&self) -> Result<(), DetectError> {
        let open = self.open_edges();
        match open.first() {
            None => Ok(()),
            Some(edge) => Err(DetectError::OpenSurface {
                edges: open.len(),
                example: edge.map(|corner| corner - self.first),
            }),
        }
    }
}

/// The box around positions, all of which must be finite and within range.
fn checked_bounds<R: Real>(
    positions: &[Vector3<R>],
    body: usize,
) -> Result<Bounds<f64>, DetectError> {
    let limit = R::nearest(R::MAX_COORDINATE);
    let infinity = R::nearest(f64::INFINITY);
    // Several points at once and without branches, so that it is compiled to a few wide instructions.
    const LANES: usize = 16;
    const WIDTH: usize = 3 * LANES;
    let zero = R::nearest(0.0);
    let (mut low, mut high, mut zeros) = ([infinity; WIDTH], [-infinity; WIDTH], [zero; WIDTH]);
    let mut include = |some: &[Vector3<R>; LANES]| {
        for lane in 0..LANES {
            for axis in 0..3 {
                let (x, k) = (some[lane][axis], 3 * lane + axis);
                low[k] = if x < low[k] { x } else { low[k] };
                high[k] = if x > high[k] { x } else { high[k] };
                // Stays zero as long as all are numbers.
                zeros[k] += x * zero;
            }
        }
    };
    let (chunks, rest) = positions.as_chunks::<LANES>();
    chunks.iter().for_each(&mut include);
    if let Some(last) = rest.last() {
        let mut padded = [*last; LANES];
        padded[..rest.len()].copy_from_slice(rest);
        include(&padded);
    }
    let mut bounds = Bounds::<f64>::empty();
    let mut good = true;
    for k in 0..WIDTH {
        let unused = low[k] > high[k];
        good &= zeros[k] == zero && (unused || (low[k] >= -limit && high[k] <= limit));
        let (axis, low, high) = (k % 3, low[k].to_f64(), high[k].to_f64());
        bounds.min[axis] = bounds.min[axis].min(low);
        bounds.max[axis] = bounds.max[axis].max(high);
    }
    if good {
        return Ok(bounds);
    }
    let outside = |x: R| !(x <= limit && x >= -limit);
    let vertex = positions.iter().position(|p| p.iter().any(|&x| outside(x))).unwrap_or_default();
    let value = positions[vertex].iter().copied().find(|&x| outside(x));
    Err(DetectError::BadPosition {
        body,
        vertex,
        value: value.map_or(f64::NAN, R::to_f64),
        limit: R::MAX_COORDINATE,
    })
}
