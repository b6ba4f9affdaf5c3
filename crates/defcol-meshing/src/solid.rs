//! The solid inside a closed triangle surface as a shape: nearest distance, signed by the winding
//! number, both from one tree.

use std::f64::consts::PI;
use std::sync::Arc;

use defcol::math::{Bounds, Vector3};
use defcol::mesh::{DefectKind, Place, RawMesh, TriangleMesh, inspect, solid_angle};

use crate::Shape;

/// Why a surface has no inside.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// The arrays are no mesh.
    #[error(transparent)]
    Mesh(#[from] defcol::error::MeshError),
    /// The surface has a border.
    #[error(
        "the surface is open: {count} edges have no second triangle, the first is {example}; \
         close it, or weld its vertices (defcol convert --repair weld)"
    )]
    Open {
        /// How many edges.
        count: usize,
        /// The first of them.
        example: Place,
    },
    /// Neighbouring triangles contradict each other.
    #[error(
        "the surface is not oriented: neighbours contradict each other at {count} edges, the first is \
         {example}; defcol convert --repair orientation turns triangles"
    )]
    NotOriented {
        /// How many edges.
        count: usize,
        /// The first of them.
        example: Place,
    },
    /// The surface encloses nothing.
    #[error(
        "the surface encloses no volume; give it a thickness, or choose a smaller unit of length"
    )]
    Flat,
    /// The surface is inside out.
    #[error(
        "the surface is inside out, its volume is {0}; defcol convert --repair orientation turns it"
    )]
    InsideOut(f64),
}

impl Shape {
    /// The solid inside a closed, oriented surface. Small defects (non-manifold edges, duplicate or
    /// degenerate triangles, parts that overlap) do no harm: inside is where the surface winds around
    /// more than half a time.
    pub fn from_surface(mesh: &RawMesh<f64>) -> Result<Self, SolidError> {
        let facts = inspect(mesh);
        let first = |kind| facts.defects.iter().find(|defect| defect.kind == kind);
        if let Some(defect) = first(DefectKind::OpenEdge) {
            return Err(SolidError::Open { count: defect.count, example: defect.example });
        }
        if let Some(defect) = first(DefectKind::InconsistentOrientation) {
            return Err(SolidError::NotOriented { count: defect.count, example: defect.example });
        }
        let mut sound = mesh.clone();
        defcol::mesh::repair::drop_degenerate(&mut sound)?;
        let mesh = TriangleMesh::new(sound)?;
        let volume = mesh.mass_properties().volume;
        if volume < 0.0 {
            return Err(SolidError::InsideOut(volume));
        }
        if volume.is_nan() || volume == 0.0 {
            return Err(SolidError::Flat);
        }
        let bounds = mesh.bounds();
        // At a size of about 1 no square or cube of a length over- or underflows. A power of two is exact.
        let scale = 2f64.powi(-(bounds.extent().max().log2().round() as i32));
        let positions = mesh.positions().iter().map(|p| p * scale).collect();
        let scaled =
            RawMesh { positions, triangles: mesh.triangles().to_vec(), tetrahedra: vec![] };
        let tree = Arc::new(Tree::new(TriangleMesh::new(scaled)?));
        let shape =
            Self::new(bounds, 1.0, move |point| tree.signed_distance(point * scale) / scale);
        Ok(shape.of_volume(volume))
    }
}

/// A tree of boxes over triangles; children are behind one another.
struct Tree {
    mesh: TriangleMesh<f64>,
    /// Triangles in the order of the leaves.
    order: Vec<u32>,
    nodes: Vec<Node>,
}

struct Node {
    bounds: Bounds<f64>,
    /// Its triangles in the order of the tree.
    first: u32,
    count: u32,
    /// The second child; the first follows its parent. 0 for a leaf.
    second: u32,
    /// Half the sum of the cross products: the area as a vector, and its centre.
    area: Vector3<f64>,
    center: Vector3<f64>,
    radius: f64,
}

const LEAF: usize = 8;
/// A node farther than this many radii counts as one dipole (Barill et al. 2018).
const FAR: f64 = 2.3;

impl Tree {
    fn new(mesh: TriangleMesh<f64>) -> Self {
        let count = mesh.triangles().len();
        let mut tree = Self { mesh, order: (0..count as u32).collect(), nodes: Vec::new() };
        let middles: Vec<Vector3<f64>> = (0..count as u32)
            .map(|triangle| tree.corners(triangle).iter().sum::<Vector3<f64>>() / 3.0)
            .collect();
        tree.build(0, count, &middles);
        tree
    }

    fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        self.mesh.triangles()[triangle as usize]
            .map(|vertex| self.mesh.positions()[vertex as usize])
    }

    fn build(&mut self, first: usize, count: usize, middles: &[Vector3<f64>]) -> u32 {
        let own = &self.order[first..first + count];
        let bounds = Bounds::of(own.iter().flat_map(|&triangle| self.corners(triangle)));
        let mut area = Vector3::zeros();
        let mut center = Vector3::zeros();
        let mut total = 0.0;
        for &triangle in own {
            let [a, b, c] = self.corners(triangle);
            let vector = (b - a).cross(&(c - a)) * 0.5;
            area += vector;
            center += middles[triangle as usize] * vector.norm();
            total += vector.norm();
        }
        center = if total > 0.0 { center / total } else { bounds.center() };
        let reach = (bounds.max - center).sup(&(center - bounds.min)).norm();
        let index = self.nodes.len();
        let (f, c) = (first as u32, count as u32);
        self.nodes.push(Node {
            bounds,
            first: f,
            count: c,
            second: 0,
            area,
            center,
            radius: reach,
        });
        if count > LEAF {
            let spread = Bounds::of(own.iter().map(|&triangle| middles[triangle as usize]));
            let axis = spread.extent().imax();
            let half = count / 2;
            self.order[first..first + count].select_nth_unstable_by(half, |&a, &b| {
                let key = |triangle: u32| middles[triangle as usize][axis];
                key(a).total_cmp(&key(b)).then(a.cmp(&b))
            });
            self.build(first, half, middles);
            let second = self.build(first + half, count - half, middles);
            self.nodes[index].second = second;
        }
        index as u32
    }

    fn signed_distance(&self, point: Vector3<f64>) -> f64 {
        let mut nearest = f64::INFINITY;
        self.nearest(0, point, &mut nearest);
        let distance = nearest.sqrt();
        if self.winding(0, point) > 0.5 { -distance } else { distance }
    }

    /// How often the surface winds around a point.
    fn winding(&self, index: usize, point: Vector3<f64>) -> f64 {
        let node = &self.nodes[index];
        let offset = node.center - point;
        let distance = offset.norm();
        if distance > FAR * node.radius {
            return node.area.dot(&offset) / (4.0 * PI * distance.powi(3));
        }
        if node.second == 0 {
            let own = self.leaf(node).map(|triangle| self.mesh.triangles()[triangle as usize]);
            return solid_angle(point, self.mesh.positions(), own) / (4.0 * PI);
        }
        self.winding(index + 1, point) + self.winding(node.second as usize, point)
    }

    fn leaf(&self, node: &Node) -> impl Iterator<Item = u32> {
        self.order[node.first as usize..(node.first + node.count) as usize].iter().copied()
    }

    /// Lowers `nearest`, a squared distance, to that of the triangles of a node.
    fn nearest(&self, index: usize, point: Vector3<f64>, nearest: &mut f64) {
        let node = &self.nodes[index];
        if node.second == 0 {
            for triangle in self.leaf(node) {
                *nearest = nearest.min(squared_distance(point, self.corners(triangle)));
            }
            return;
        }
        let mut children =
            [index + 1, node.second as usize].map(|child| (self.box_distance(child, point), child));
        if children[1].0 < children[0].0 {
            children.swap(0, 1);
        }
        for (distance, child) in children {
            if distance < *nearest {
                self.nearest(child, point, nearest);
            }
        }
    }

    fn box_distance(&self, index: usize, point: Vector3<f64>) -> f64 {
        let Bounds { min, max } = self.nodes[index].bounds;
        (min - point).sup(&(point - max)).sup(&Vector3::zeros()).norm_squared()
    }
}

/// The squared distance of a point from a triangle: from its plane if the foot is inside, else from the
/// nearest edge.
pub(crate) fn squared_distance(point: Vector3<f64>, [a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a));
    let inside = |p: Vector3<f64>, q: Vector3<f64>| normal.dot(&(q - p).cross(&(point - p))) >= 0.0;
    let area = normal.norm_squared();
    if area > 0.0 && inside(a, b) && inside(b, c) && inside(c, a) {
        return (point - a).dot(&normal).powi(2) / area;
    }
    let edge = |p: Vector3<f64>, q: Vector3<f64>| {
        let along = q - p;
        let length = along.norm_squared();
        let t = if length > 0.0 { ((point - p).dot(&along) / length).clamp(0.0, 1.0) } else { 0.0 };
        (point - p - along * t).norm_squared()
    };
    edge(a, b).min(edge(b, c)).min(edge(c, a))
}
