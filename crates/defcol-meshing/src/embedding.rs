//! A fine surface carried by a coarse solid.

use defcol::detect::bvh::{BoundingBox, BoundingVolume, PrimitiveTree, Visit};
use defcol::detect::primitive::squared_distance_to_triangle;
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
        let nearest = NearestTetrahedron::new(solid, &frames);
        let found: Vec<(u32, [R; 4])> = points
            .par_iter()
            .with_min_len(256)
            .map_init(Visit::default, |visit, point| {
                let point = point.map(|x| x.to_f64());
                let (tetrahedron, weights) = nearest.find(point, visit);
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
            .map(|face| squared_distance_to_triangle(point, face))
            .fold(f64::INFINITY, f64::min)
    }
}

/// A bounding-volume hierarchy over the tetrahedra.
struct NearestTetrahedron<'a> {
    tree: PrimitiveTree<f64, 4>,
    frames: &'a [Option<Frame>],
    /// Half of the mean width of a tetrahedron: where the search begins.
    start: f64,
    /// Beyond this everything was searched.
    most: f64,
}

impl<'a> NearestTetrahedron<'a> {
    fn new<R: Real>(solid: &TetMesh<R>, frames: &'a [Option<Frame>]) -> Self {
        let positions: Vec<Vector3<f64>> =
            solid.positions().iter().map(|p| p.map(|x| x.to_f64())).collect();
        let tree = PrimitiveTree::new(&positions, solid.tetrahedra());
        let extent = solid.bounds().extent().map(|x| x.to_f64());
        let volume = extent.iter().map(|x| x.max(extent.max() * 1e-3)).product::<f64>();
        let start = 0.5 * (volume / solid.tetrahedra().len() as f64).cbrt();
        let reach = positions.iter().map(|p| p.amax()).fold(extent.max(), f64::max);
        Self { tree, frames, start: start.max(f64::MIN_POSITIVE), most: 4.0 * reach }
    }

    /// The tetrahedron nearest to a point, the lowest of several, and the weights in it.
    fn find(&self, point: Vector3<f64>, visit: &mut Visit<f64>) -> (u32, [f64; 4]) {
        let mut best = (f64::INFINITY, u32::MAX);
        let mut radius = 0.0;
        let most = self.most + 4.0 * point.amax();
        // Everything nearer than the radius is in the box; a larger one is searched until it holds the best.
        loop {
            let corners = [point.add_scalar(-radius), point.add_scalar(radius)];
            let around = BoundingBox::of(corners.into_iter(), 0.0);
            self.tree.meeting(&around, visit, |index| {
                if let Some(frame) = &self.frames[index as usize] {
                    let candidate = (frame.squared_distance(point), index);
                    if candidate < best {
                        best = candidate;
                    }
                }
            });
            if best.0.sqrt() <= radius || radius > most {
                break;
            }
            radius = if best.0.is_finite() {
                best.0.sqrt() * (1.0 + 1e-9)
            } else {
                (4.0 * radius).max(self.start)
            };
        }
        match self.frames.get(best.1 as usize).and_then(Option::as_ref) {
            Some(frame) => (best.1, frame.weights(point)),
            // Nothing but flat tetrahedra.
            None => (0, [1.0, 0.0, 0.0, 0.0]),
        }
    }
}
