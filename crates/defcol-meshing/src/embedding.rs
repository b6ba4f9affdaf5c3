//! A fine surface carried by a coarse solid.

use defcol::math::{Real, Vector3};
use defcol::mesh::TetMesh;
use rayon::prelude::*;

/// For each vertex of a surface a tetrahedron and its weights there.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding<R: Real> {
    /// The tetrahedron that carries each vertex.
    pub tetrahedra: Vec<u32>,
    /// Barycentric weights in that tetrahedron; they sum to 1, and are negative outside of it.
    pub weights: Vec<[R; 4]>,
}

impl<R: Real> Embedding<R> {
    /// Attaches points to the solid at rest: each to the tetrahedron that contains it, or, outside, to
    /// the nearest one. Flat tetrahedra carry nothing.
    pub fn attach(solid: &TetMesh<R>, points: &[Vector3<R>]) -> Self {
        let frames: Vec<Option<Frame>> =
            solid.tetrahedra().par_iter().map(|t| Frame::new(solid, t)).collect();
        let grid = Grid::new(solid);
        let found: Vec<(u32, [R; 4])> = points
            .par_iter()
            .with_min_len(256)
            .map(|point| {
                let point = point.map(|x| x.to_f64());
                let (tetrahedron, weights) = grid.nearest(point, &frames);
                (tetrahedron, weights.map(R::nearest))
            })
            .collect();
        let (tetrahedra, weights) = found.into_iter().unzip();
        Self { tetrahedra, weights }
    }

    /// Where the points are when the solid has the given positions.
    pub fn follow(
        &self,
        solid: &TetMesh<R>,
        positions: &[Vector3<R>],
        points: &mut Vec<Vector3<R>>,
    ) {
        points.resize(self.tetrahedra.len(), Vector3::zeros());
        let carried = self.tetrahedra.par_iter().zip(&self.weights);
        points.par_iter_mut().zip(carried).with_min_len(1024).for_each(
            |(point, (&index, weights))| {
                let corners =
                    solid.tetrahedra()[index as usize].map(|vertex| positions[vertex as usize]);
                *point = corners[0] * weights[0]
                    + corners[1] * weights[1]
                    + corners[2] * weights[2]
                    + corners[3] * weights[3];
            },
        );
    }

    /// Shares vectors on the points out among the vertices of the solid, and adds them to what these have: forces, or the
    /// gradient of a volume. The work that forces do is the same on both.
    ///
    /// # Panics
    /// If there is not one vector for each point and one for each vertex of the solid.
    pub fn spread(
        &self,
        solid: &TetMesh<R>,
        on_points: &[Vector3<R>],
        on_vertices: &mut [Vector3<R>],
    ) {
        assert_eq!(on_points.len(), self.tetrahedra.len(), "a vector for each point");
        assert_eq!(on_vertices.len(), solid.positions().len(), "a vector for each vertex");
        // One after the other: the same bits for any number of threads.
        for (vector, (&index, weights)) in
            on_points.iter().zip(self.tetrahedra.iter().zip(&self.weights))
        {
            for (vertex, weight) in solid.tetrahedra()[index as usize].into_iter().zip(*weights) {
                on_vertices[vertex as usize] += vector * weight;
            }
        }
    }
}

/// A tetrahedron ready for barycentric weights.
struct Frame {
    corner: Vector3<f64>,
    inverse: nalgebra::Matrix3<f64>,
    corners: [Vector3<f64>; 4],
}

impl Frame {
    fn new<R: Real>(solid: &TetMesh<R>, tetrahedron: &[u32; 4]) -> Option<Self> {
        let corners =
            tetrahedron.map(|vertex| solid.positions()[vertex as usize].map(|x| x.to_f64()));
        let [a, b, c, d] = corners;
        let inverse = nalgebra::Matrix3::from_columns(&[b - a, c - a, d - a]).try_inverse()?;
        Some(Self { corner: a, inverse, corners })
    }

    fn weights(&self, point: Vector3<f64>) -> [f64; 4] {
        let w = self.inverse * (point - self.corner);
        [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
    }

    /// The squared distance from a point, 0 inside.
    fn squared_distance(&self, point: Vector3<f64>) -> f64 {
        if self.weights(point).iter().all(|weight| *weight >= 0.0) {
            return 0.0;
        }
        let [a, b, c, d] = self.corners;
        [[b, c, d], [a, c, d], [a, b, d], [a, b, c]]
            .into_iter()
            .map(|face| crate::solid::squared_distance(point, face))
            .fold(f64::INFINITY, f64::min)
    }
}

/// Cells with the tetrahedra whose boxes reach into them.
struct Grid {
    origin: Vector3<f64>,
    size: f64,
    cells: [usize; 3],
    lists: Vec<Vec<u32>>,
}

impl Grid {
    fn new<R: Real>(solid: &TetMesh<R>) -> Self {
        let bounds = solid.bounds();
        let (min, extent) = (bounds.min.map(|x| x.to_f64()), bounds.extent().map(|x| x.to_f64()));
        // About one cell for each tetrahedron.
        let volume = extent.iter().map(|x| x.max(extent.max() * 1e-3)).product::<f64>();
        let size = (volume / solid.tetrahedra().len() as f64).cbrt().max(f64::MIN_POSITIVE);
        let cells = [0, 1, 2].map(|axis| ((extent[axis] / size).ceil() as usize).clamp(1, 1024));
        let mut grid =
            Self { origin: min, size, cells, lists: vec![Vec::new(); cells.iter().product()] };
        for (index, corners) in (0u32..).zip(solid.tetrahedra()) {
            let points =
                corners.map(|vertex| solid.positions()[vertex as usize].map(|x| x.to_f64()));
            let low = points.iter().fold(points[0], |low, p| low.inf(p));
            let high = points.iter().fold(points[0], |high, p| high.sup(p));
            let (low, high) = (grid.cell(low), grid.cell(high));
            for z in low[2]..=high[2] {
                for y in low[1]..=high[1] {
                    for x in low[0]..=high[0] {
                        let slot = grid.slot([x, y, z]);
                        grid.lists[slot].push(index);
                    }
                }
            }
        }
        grid
    }

    fn cell(&self, point: Vector3<f64>) -> [usize; 3] {
        [0, 1, 2].map(|axis| {
            let cell = (point[axis] - self.origin[axis]) / self.size;
            (cell.max(0.0) as usize).min(self.cells[axis] - 1)
        })
    }

    fn slot(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }

    /// The tetrahedron nearest to a point, the lowest of several, and the weights in it.
    fn nearest(&self, point: Vector3<f64>, frames: &[Option<Frame>]) -> (u32, [f64; 4]) {
        let home = self.cell(point);
        let mut best = (f64::INFINITY, u32::MAX);
        let widest = self.cells.iter().max().copied().unwrap_or(1);
        for ring in 0..=widest {
            // Everything in a farther ring is at least this far from the home cell.
            let reach = (ring as f64 - 1.0).max(0.0) * self.size;
            if best.0 == 0.0 || best.0.sqrt() < reach {
                break;
            }
            self.for_each_in_ring(home, ring, |index| {
                if let Some(frame) = &frames[index as usize] {
                    let candidate = (frame.squared_distance(point), index);
                    if candidate < best {
                        best = candidate;
                    }
                }
            });
        }
        match frames.get(best.1 as usize).and_then(Option::as_ref) {
            Some(frame) => (best.1, frame.weights(point)),
            // Nothing but flat tetrahedra.
            None => (0, [1.0, 0.0, 0.0, 0.0]),
        }
    }

    fn for_each_in_ring(&self, home: [usize; 3], ring: usize, mut visit: impl FnMut(u32)) {
        let range = |axis: usize| {
            home[axis].saturating_sub(ring)..=(home[axis] + ring).min(self.cells[axis] - 1)
        };
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let cell = [x, y, z];
                    if (0..3).any(|axis| cell[axis].abs_diff(home[axis]) == ring) {
                        self.lists[self.slot(cell)].iter().for_each(|&index| visit(index));
                    }
                }
            }
        }
    }
}
