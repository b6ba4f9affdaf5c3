//! Fewer triangles by collapsing edges, those first that change the surface least (Garland and Heckbert
//! 1997). The surface stays a closed manifold.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use defcol::math::Vector3;
use defcol::mesh::RawMesh;
use nalgebra::{Matrix3, Matrix4, Vector4};

/// Collapses edges of a closed manifold surface until it has `triangles` triangles, or none can be
/// collapsed any more without a fold or a change of topology.
pub fn decimated(mesh: RawMesh<f64>, triangles: usize) -> RawMesh<f64> {
    let mut state = State::new(mesh);
    state.run(triangles);
    state.into_mesh()
}

/// An edge in the queue. It is out of date if one of its vertices has changed since.
#[derive(PartialEq)]
struct Candidate {
    cost: f64,
    ends: [u32; 2],
    stamps: [u32; 2],
    target: Vector3<f64>,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.cost
            .total_cmp(&other.cost)
            .then(self.ends.cmp(&other.ends))
            .then(self.stamps.cmp(&other.stamps))
    }
}

struct State {
    positions: Vec<Vector3<f64>>,
    /// Triangles; those that are gone name no vertex.
    triangles: Vec<Option<[u32; 3]>>,
    alive: usize,
    /// The triangles around each vertex.
    around: Vec<Vec<u32>>,
    quadrics: Vec<Matrix4<f64>>,
    stamps: Vec<u32>,
    queue: BinaryHeap<Reverse<Candidate>>,
}

impl State {
    fn new(mesh: RawMesh<f64>) -> Self {
        let count = mesh.positions.len();
        let mut state = Self {
            around: vec![Vec::new(); count],
            quadrics: vec![Matrix4::zeros(); count],
            stamps: vec![0; count],
            queue: BinaryHeap::new(),
            alive: mesh.triangles.len(),
            triangles: mesh.triangles.iter().copied().map(Some).collect(),
            positions: mesh.positions,
        };
        for (index, triangle) in (0u32..).zip(&mesh.triangles) {
            let [a, b, c] = triangle.map(|vertex| state.positions[vertex as usize]);
            let cross = (b - a).cross(&(c - a));
            let area = cross.norm();
            let normal = if area > 0.0 { cross / area } else { Vector3::zeros() };
            let plane = Vector4::new(normal.x, normal.y, normal.z, -normal.dot(&a));
            for vertex in triangle {
                state.around[*vertex as usize].push(index);
                state.quadrics[*vertex as usize] += plane * plane.transpose() * area;
            }
        }
        for [a, b, c] in &mesh.triangles {
            for [p, q] in [[a, b], [b, c], [c, a]] {
                if p < q {
                    state.push(*p, *q);
                }
            }
        }
        state
    }

    fn push(&mut self, a: u32, b: u32) {
        let quadric = self.quadrics[a as usize] + self.quadrics[b as usize];
        let (pa, pb) = (self.positions[a as usize], self.positions[b as usize]);
        let middle = (pa + pb) * 0.5;
        let cost = |p: Vector3<f64>| {
            let p = Vector4::new(p.x, p.y, p.z, 1.0);
            p.dot(&(quadric * p))
        };
        // A little pull to the middle keeps flat places evenly meshed.
        let pull = quadric.fixed_view::<3, 3>(0, 0).trace() * 1e-4;
        let system: Matrix3<f64> =
            quadric.fixed_view::<3, 3>(0, 0) + Matrix3::from_diagonal_element(pull);
        let right = middle * pull - Vector3::new(quadric[(0, 3)], quadric[(1, 3)], quadric[(2, 3)]);
        let best = system.try_inverse().map_or(middle, |inverse| inverse * right);
        let near = (best - middle).norm() <= (pb - pa).norm();
        let target = if near { best } else { middle };
        let cost = cost(target).max(0.0) + pull * (pb - pa).norm_squared();
        let ends = [a.min(b), a.max(b)];
        let stamps = ends.map(|end| self.stamps[end as usize]);
        self.queue.push(Reverse(Candidate { cost, ends, stamps, target }));
    }

    fn run(&mut self, triangles: usize) {
        while self.alive > triangles.max(4) {
            let Some(Reverse(candidate)) = self.queue.pop() else { break };
            let current = candidate.ends.map(|end| self.stamps[end as usize]);
            if current == candidate.stamps && self.may_collapse(&candidate) {
                self.collapse(&candidate);
            }
        }
    }

    fn neighbours(&self, vertex: u32) -> BTreeSet<u32> {
        let corners =
            self.around[vertex as usize].iter().filter_map(|&t| self.triangles[t as usize]);
        corners.flatten().filter(|&other| other != vertex).collect()
    }

    /// The ends have exactly two neighbours in common, and no triangle turns over or becomes a needle.
    fn may_collapse(&self, candidate: &Candidate) -> bool {
        let [a, b] = candidate.ends;
        let (near_a, near_b) = (self.neighbours(a), self.neighbours(b));
        if near_a.intersection(&near_b).count() != 2 || near_a.len() + near_b.len() < 8 {
            return false;
        }
        candidate.ends.iter().all(|&end| {
            self.around[end as usize].iter().filter_map(|&t| self.triangles[t as usize]).all(
                |triangle| {
                    if triangle.contains(&a) && triangle.contains(&b) {
                        return true;
                    }
                    let place = |vertex: u32| self.positions[vertex as usize];
                    let [p, q, r] = triangle.map(place);
                    let [u, v, w] = triangle
                        .map(|vertex| if vertex == end { candidate.target } else { place(vertex) });
                    let (before, after) = ((q - p).cross(&(r - p)), (v - u).cross(&(w - u)));
                    let longest = (v - u)
                        .norm_squared()
                        .max((w - v).norm_squared())
                        .max((u - w).norm_squared());
                    before.dot(&after) > 0.2 * before.norm() * after.norm()
                        && after.norm() > 0.05 * longest
                },
            )
        })
    }

    fn collapse(&mut self, candidate: &Candidate) {
        let [keep, gone] = candidate.ends;
        self.positions[keep as usize] = candidate.target;
        let quadric = self.quadrics[gone as usize];
        self.quadrics[keep as usize] += quadric;
        for index in std::mem::take(&mut self.around[gone as usize]) {
            let Some(triangle) = &mut self.triangles[index as usize] else { continue };
            if triangle.contains(&keep) {
                self.triangles[index as usize] = None;
                self.alive -= 1;
            } else {
                triangle
                    .iter_mut()
                    .filter(|vertex| **vertex == gone)
                    .for_each(|vertex| *vertex = keep);
                self.around[keep as usize].push(index);
            }
        }
        let triangles = &self.triangles;
        self.around[keep as usize].retain(|&index| triangles[index as usize].is_some());
        self.stamps[keep as usize] += 1;
        self.stamps[gone as usize] = u32::MAX;
        for other in self.neighbours(keep) {
            self.push(keep, other);
        }
    }

    fn into_mesh(self) -> RawMesh<f64> {
        let mut number = vec![u32::MAX; self.positions.len()];
        let mut mesh = RawMesh::default();
        for triangle in self.triangles.into_iter().flatten() {
            mesh.triangles.push(triangle.map(|vertex| {
                if number[vertex as usize] == u32::MAX {
                    number[vertex as usize] = mesh.positions.len() as u32;
                    mesh.positions.push(self.positions[vertex as usize]);
                }
                number[vertex as usize]
            }));
        }
        mesh
    }
}
