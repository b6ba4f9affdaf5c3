//! Signed distance to a closed surface.

use std::cell::RefCell;
use std::f64::consts::PI;

use super::tree::Child;
use super::{PrimitiveTree, Visit};
use crate::math::{Bounds, Vector3};
use crate::mesh::solid_angle;

/// Nodes farther away than this many of their radii count as one dipole (Barill et al. 2018).
const FAR: f64 = 2.3;

/// Distance to a closed surface, negative inside: where its generalized winding number (Jacobson et al. 2013) is more than a
/// half, computed by the hierarchical approximation of Barill et al. (2018). One hierarchy serves both.
///
/// ```
/// use defcol::detect::bvh::SignedDistance;
/// use defcol::math::Vector3;
/// use defcol_scenes::regular::icosphere;
///
/// let ball = icosphere(1.0, 5);
/// let distance = SignedDistance::new(&ball.positions, &ball.triangles);
/// assert!((distance.at(Vector3::new(0.0, 0.3, 0.0)) + 0.7).abs() < 1e-2);
/// assert!((distance.at(Vector3::new(2.0, 0.0, 0.0)) - 1.0).abs() < 1e-2);
/// ```
#[derive(Debug, Clone)]
pub struct SignedDistance {
    tree: PrimitiveTree<f64, 3>,
    positions: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    /// One per node of the tree.
    dipoles: Vec<Dipole>,
}

/// The triangles below a node as one.
#[derive(Debug, Clone, Copy)]
struct Dipole {
    /// Half the sum of the cross products: area times normal.
    area: Vector3<f64>,
    center: Vector3<f64>,
    radius: f64,
}

impl SignedDistance {
    /// Builds the hierarchy of a surface whose triangles face outward.
    ///
    /// # Panics
    /// If there is no triangle, or one names a vertex that does not exist.
    pub fn new(positions: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Self {
        let tree = PrimitiveTree::new(positions, triangles);
        let mut own = Self {
            dipoles: Vec::with_capacity(tree.tree().len()),
            tree,
            positions: positions.to_vec(),
            triangles: triangles.to_vec(),
        };
        let nodes = 0..own.tree.tree().len() as u32;
        own.dipoles = nodes.map(|node| own.dipole(node)).collect();
        own
    }

    fn dipole(&self, node: u32) -> Dipole {
        let leaves = self.tree.tree().leaves_below(node);
        let (mut area, mut center, mut total) = (Vector3::zeros(), Vector3::zeros(), 0.0);
        let mut bounds = Bounds::empty();
        for leaf in leaves {
            let triangle = self.tree.tree().order()[leaf as usize];
            let corners = self.triangles[triangle as usize].map(|v| self.positions[v as usize]);
            let [a, b, c] = corners;
            let vector = (b - a).cross(&(c - a)) * 0.5;
            area += vector;
            center += (a + b + c) / 3.0 * vector.norm();
            total += vector.norm();
            bounds = bounds.union(Bounds::of(corners));
        }
        let center = if total > 0.0 { center / total } else { bounds.center() };
        let radius = (bounds.max - center).sup(&(center - bounds.min)).norm();
        Dipole { area, center, radius }
    }

    /// The signed distance of a point.
    pub fn at(&self, point: Vector3<f64>) -> f64 {
        thread_local! {
            static VISIT: RefCell<Visit<f64>> = RefCell::default();
        }
        let (triangles, positions) = (&self.triangles, &self.positions);
        let nearest = VISIT.with_borrow_mut(|visit| {
            self.tree.nearest(triangles, positions, point, f64::INFINITY, visit)
        });
        let distance = nearest.map_or(f64::INFINITY, |nearest| nearest.distance);
        if self.winding_number(point) > 0.5 { -distance } else { distance }
    }

    /// The generalized winding number of the surface around a point: 1 inside, 0 outside.
    pub fn winding_number(&self, point: Vector3<f64>) -> f64 {
        self.winding_of(0, point)
    }

    fn winding_of(&self, node: u32, point: Vector3<f64>) -> f64 {
        let Dipole { area, center, radius } = self.dipoles[node as usize];
        let offset = center - point;
        let distance = offset.norm();
        if distance > FAR * radius {
            return area.dot(&offset) / (4.0 * PI * distance.powi(3));
        }
        let tree = self.tree.tree();
        let below = tree.children_of(node).map(|(_, child)| match child {
            Child::Node(below) => self.winding_of(below, point),
            Child::Leaf(leaf) => {
                let triangle = self.triangles[tree.order()[leaf as usize] as usize];
                solid_angle(point, &self.positions, [triangle]) / (4.0 * PI)
            }
        });
        below.sum()
    }
}
