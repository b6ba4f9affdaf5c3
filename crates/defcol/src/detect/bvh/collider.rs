//! A body with its tree: what it follows, and how its volumes are brought up to date.

use std::sync::OnceLock;

use fearless_simd::prelude::*;
use fearless_simd::{Level, u32x8};

use super::Binding;
use super::continuous::owners;
use super::morph::Morph;
use super::motion::{Placement, Relative};
use super::skin::{JointTransform, Skin};
use super::stars::Stars;
use super::tree::{Child, Tree};
use super::{BoundingBox, BoundingVolume, Split};
use crate::detect::first_bad_position;
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3, dispatch};
use crate::mesh::{Rows, TriangleMesh};

/// How volumes follow positions that may change in any way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Update {
    /// All of them, from the leaves to the root (van den Bergen 1997).
    Full,
    /// The upper half of the levels; below, a subtree is brought up to date when it is first reached (Larsson and
    /// Akenine-Möller 2001).
    #[default]
    Hybrid,
}

/// What the vertices follow.
#[derive(Debug, Clone)]
pub(super) enum Shape<R: Real, V: BoundingVolume<R>, const A: usize> {
    /// Positions that are given.
    Positions(Upper),
    /// Reference meshes that are blended.
    Morph(Morph<R, V, A>),
    /// Joints.
    Skin(Skin<R, V>),
}

/// The upper half of a tree, for [`Update::Hybrid`].
#[derive(Debug, Clone)]
pub(super) struct Upper {
    /// Nodes above this depth belong to it.
    depth: u32,
    /// Its nodes, parents first.
    nodes: Vec<u32>,
    /// Slots whose node is the first one below, and the vertices below.
    slots: Vec<u32>,
    vertices: Rows,
}

/// A triangle mesh that deforms, morphs or follows joints, with a tree of bounding volumes around it.
///
/// Volumes are boxes unless others are asked for, and a node has up to eight children. See the
/// [module](super) for an example.
#[derive(Debug, Clone)]
pub struct Collider<R: Real, V: BoundingVolume<R> = BoundingBox<R>, const A: usize = 8> {
    pub(super) tree: Tree<A>,
    /// The triangles in the order of the leaves.
    pub(super) triangles: Vec<[u32; 3]>,
    /// The corners of the triangles that are leaves, side by side like their volumes; elsewhere any vertex.
    pub(super) corners: Vec<[[u32; A]; 3]>,
    /// The lanes of each node that are leaves.
    pub(super) leaves: Vec<u32>,
    level: Level,
    pub(super) shape: Shape<R, V, A>,
    /// The volumes of the children of each node, and for which pose.
    pub(super) blocks: Vec<V::Block<A>>,
    pub(super) fresh: Vec<u32>,
    /// Counts poses; everything that was made for another one is out of date.
    pub(super) pose: u32,
    /// Positions in the model (if they are given), and in the world; the latter are made when needed.
    local: Vec<Vector3<R>>,
    /// Where the vertices of a moving body will be; empty if it stays.
    ends: Vec<Vector3<R>>,
    world: Vec<Vector3<R>>,
    known: Vec<u32>,
    /// Counts poses and placements.
    place: u32,
    placement: Option<Placement<R>>,
    /// The largest coordinate of the model in its present pose.
    reach: f64,
    pub(super) stars: Stars,
    /// Which corners and edges of each leaf are not left to another, for impacts; made when first needed.
    owned: OnceLock<Vec<u8>>,
}

/// The margin of volumes that rounding could make too small, in units in the last place.
fn slack<R: Real>(references: usize) -> R {
    R::default_epsilon() * R::nearest(16.0 + 2.0 * references as f64)
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Collider<R, V, A> {
    /// A mesh whose vertices may move in any way; at first they are at rest.
    pub fn deforming(mesh: &TriangleMesh<R>, split: Split) -> Self {
        let tree = Tree::build(mesh.positions(), mesh.triangles(), split);
        let upper = Upper::new(&tree, &in_order(&tree, mesh), mesh.positions().len());
        let mut collider = Self::new(mesh, tree, Shape::Positions(upper));
        collider.local = mesh.positions().to_vec();
        collider.refit(0);
        collider
    }

    /// A mesh whose vertices are blends of those of reference meshes with the same triangles. At first it is the first
    /// of them. The tree is built for the average.
    ///
    /// `between` more reference volumes are inserted between each mesh and the next: tighter where only these two
    /// are blended, at the cost of memory (MORPH03, section 5).
    pub fn morphing(
        mesh: &TriangleMesh<R>,
        references: &[Vec<Vector3<R>>],
        between: usize,
        split: Split,
    ) -> Result<Self, DetectError> {
        let vertices = mesh.positions().len();
        if references.is_empty() {
            return Err(DetectError::Count { what: "reference meshes", given: 0, expected: 1 });
        }
        for (reference, positions) in references.iter().enumerate() {
            if positions.len() != vertices {
                let (vertices, expected) = (positions.len(), vertices);
                return Err(DetectError::DifferentReferences { reference, vertices, expected });
            }
            check(positions)?;
        }
        let share = R::nearest(1.0 / references.len() as f64);
        let average: Vec<Vector3<R>> = (0..vertices)
            .map(|vertex| {
                references.iter().fold(Vector3::zeros(), |sum, r| sum + r[vertex] * share)
            })
            .collect();
        let tree = Tree::build(&average, mesh.triangles(), split);
        let slack = slack::<R>(references.len());
        let morph = Morph::new(&tree, &in_order(&tree, mesh), references, between, slack);
        let mut collider = Self::new(mesh, tree, Shape::Morph(morph));
        collider.reach = references.iter().map(|positions| reach(positions)).fold(0.0, f64::max);
        collider.world = vec![Vector3::zeros(); vertices];
        collider.known = vec![0; vertices];
        Ok(collider)
    }

    /// A mesh in the pose in which it was bound to joints. At first no joint moves.
    pub fn skinned(
        mesh: &TriangleMesh<R>,
        bindings: &[Binding<R>],
        joints: usize,
        split: Split,
    ) -> Result<Self, DetectError> {
        let vertices = mesh.positions().len();
        let tree = Tree::build(mesh.positions(), mesh.triangles(), split);
        let skin = Skin::new(
            &tree,
            &in_order(&tree, mesh),
            mesh.positions(),
            bindings,
            joints,
            slack::<R>(8),
        )?;
        let mut collider = Self::new(mesh, tree, Shape::Skin(skin));
        collider.world = vec![Vector3::zeros(); vertices];
        collider.known = vec![0; vertices];
        Ok(collider)
    }

    fn new(mesh: &TriangleMesh<R>, tree: Tree<A>, shape: Shape<R, V, A>) -> Self {
        let triangles = in_order(&tree, mesh);
        let mut corners = vec![[[triangles[0][0]; A]; 3]; tree.len()];
        let mut leaves = vec![0; tree.len()];
        for (node, rows) in (0u32..).zip(&mut corners) {
            for (lane, child) in tree.children_of(node) {
                if let Child::Leaf(leaf) = child {
                    leaves[node as usize] |= 1 << lane;
                    for (row, corner) in rows.iter_mut().zip(triangles[leaf as usize]) {
                        row[lane] = corner;
                    }
                }
            }
        }
        Self {
            triangles,
            corners,
            leaves,
            level: Level::new(),
            blocks: vec![V::empty_block(); tree.len()],
            fresh: vec![0; tree.len()],
            pose: 1,
            local: vec![],
            ends: vec![],
            world: vec![],
            known: vec![],
            place: 1,
            placement: None,
            reach: reach(mesh.positions()),
            owned: OnceLock::new(),
            stars: Stars::new(mesh.positions().len(), &in_order(&tree, mesh)),
            tree,
            shape,
        }
    }

    /// Moves the vertices of a deforming mesh.
    pub fn set_positions(
        &mut self,
        positions: &[Vector3<R>],
        update: Update,
    ) -> Result<(), DetectError> {
        if !matches!(self.shape, Shape::Positions(_)) {
            return Err(self.other_kind("positions"));
        }
        if positions.len() != self.local.len() {
            let vertices = self.local.len();
            return Err(DetectError::PositionCount { positions: positions.len(), vertices });
        }
        check(positions)?;
        if self.placement.is_some() {
            check_reach(self.placement.as_ref(), reach(positions))?;
        }
        self.ends.clear();
        self.local.copy_from_slice(positions);
        self.next_pose();
        match update {
            Update::Full => self.refit(0),
            Update::Hybrid => self.refit_upper(),
        }
        let bounds = V::union_of_block(&self.blocks[0]).bounds();
        self.reach = bounds.min.amax().max(bounds.max.amax()).to_f64();
        Ok(())
    }

    /// Moves the vertices of a deforming mesh from where they are now, in a straight line each. Volumes are around the
    /// whole way, for an [`ImpactFinder`](super::ImpactFinder), until positions are set.
    pub fn set_motion(&mut self, ends: &[Vector3<R>]) -> Result<(), DetectError> {
        if !matches!(self.shape, Shape::Positions(_)) {
            return Err(self.other_kind("a motion"));
        }
        if ends.len() != self.local.len() {
            let vertices = self.local.len();
            return Err(DetectError::PositionCount { positions: ends.len(), vertices });
        }
        check(ends)?;
        let most = reach(&self.local).max(reach(ends));
        check_reach(self.placement.as_ref(), most)?;
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        self.next_pose();
        self.refit(0);
        self.reach = most;
        Ok(())
    }

    /// Blends the reference meshes of a morphing mesh; takes no time that depends on their size.
    pub fn set_weights(&mut self, weights: &[R]) -> Result<(), DetectError> {
        let Shape::Morph(morph) = &mut self.shape else { return Err(self.other_kind("weights")) };
        morph.set_weights(weights)?;
        self.next_pose();
        Ok(())
    }

    /// Moves the joints of a skinned mesh: for each the map from the pose in which it was bound.
    pub fn set_joints(&mut self, joints: &[JointTransform<R>]) -> Result<(), DetectError> {
        let Shape::Skin(skin) = &mut self.shape else { return Err(self.other_kind("joints")) };
        let most = skin.check_joints(joints)?;
        check_reach(self.placement.as_ref(), most)?;
        skin.set_joints(joints);
        self.reach = most;
        self.next_pose();
        Ok(())
    }

    /// Puts the body into the world; without this it is where its model is.
    pub fn set_placement(&mut self, placement: Placement<R>) -> Result<(), DetectError> {
        check_reach(Some(&placement), self.reach)?;
        self.placement = Some(placement);
        let vertices = self.stars.vertices();
        self.world.resize(vertices, Vector3::zeros());
        self.known.resize(vertices, 0);
        self.next_place();
        Ok(())
    }

    /// The tree.
    pub fn tree(&self) -> &Tree<A> {
        &self.tree
    }

    /// A box in the world around everything.
    pub fn bounds(&mut self) -> Bounds<R> {
        let root = self.root();
        match &self.placement {
            None => root.bounds(),
            Some(placement) => root.moved(&placement.motion(self.reach)).bounds(),
        }
    }

    /// How many nodes have volumes for the present pose.
    pub fn nodes_up_to_date(&self) -> usize {
        self.fresh.iter().filter(|&&fresh| fresh == self.pose).count()
    }

    /// Whether every primitive hangs somewhere and every volume, brought up to date, contains the vertices below.
    /// Returns how many vertices were looked at.
    pub fn validate(&mut self) -> Result<usize, String> {
        self.tree.validate()?;
        let mut checks = 0;
        for node in 0..self.tree.len() as u32 {
            self.open(node);
            let children: Vec<_> = self.tree.children_of(node).collect();
            for (lane, child) in children {
                let volume = V::lane(&self.blocks[node as usize], lane);
                let below: Vec<u32> = match child {
                    Child::Leaf(leaf) => vec![leaf],
                    Child::Node(child) => self.tree.leaves_below(child).collect(),
                };
                for leaf in below {
                    for corner in self.triangles[leaf as usize] {
                        checks += 1;
                        let end = self.ends.get(corner as usize);
                        if !volume.contains(self.local_position(corner))
                            || end.is_some_and(|&end| !volume.contains(end))
                        {
                            return Err(format!(
                                "vertex {corner} is not in child {lane} of node {node}"
                            ));
                        }
                    }
                }
            }
        }
        Ok(checks)
    }

    /// A vertex in the world.
    #[inline(always)]
    pub fn position(&mut self, vertex: u32) -> Vector3<R> {
        let given = self.placement.is_none() && matches!(self.shape, Shape::Positions(_));
        if given {
            return self.local[vertex as usize];
        }
        if self.known[vertex as usize] != self.place {
            let local = self.local_position(vertex);
            self.world[vertex as usize] =
                self.placement.as_ref().map_or(local, |placement| placement.apply(local));
            self.known[vertex as usize] = self.place;
        }
        self.world[vertex as usize]
    }

    /// A vertex in the world at the beginning and the end of a motion; both are the same if it stays.
    pub(super) fn path(&mut self, vertex: u32) -> [Vector3<R>; 2] {
        let start = self.position(vertex);
        let Some(&end) = self.ends.get(vertex as usize) else { return [start; 2] };
        [start, self.placement.as_ref().map_or(end, |placement| placement.apply(end))]
    }

    /// Which corners and edges each leaf has that no leaf before it has.
    pub(super) fn owned(&self) -> &[u8] {
        self.owned.get_or_init(|| owners(self.stars.vertices(), &self.triangles))
    }

    /// Which triangle a leaf is.
    #[inline(always)]
    pub(super) fn name(&self, leaf: u32) -> u32 {
        self.tree.order()[leaf as usize]
    }

    /// The triangles that two leaves are, the smaller first.
    pub(super) fn pair(&self, one: u32, other: u32) -> [u32; 2] {
        let (one, other) = (self.name(one), self.name(other));
        [one.min(other), one.max(other)]
    }

    /// The corners of a leaf in the world.
    #[inline(always)]
    pub(super) fn corners(&mut self, leaf: u32) -> [Vector3<R>; 3] {
        let [a, b, c] = self.triangles[leaf as usize];
        [self.position(a), self.position(b), self.position(c)]
    }

    /// A vertex in the model.
    fn local_position(&self, vertex: u32) -> Vector3<R> {
        match &self.shape {
            Shape::Positions(_) => self.local[vertex as usize],
            Shape::Morph(morph) => morph.position(vertex),
            Shape::Skin(skin) => skin.position(vertex),
        }
    }

    /// Which leaves of a node share a vertex with a triangle, a bit each; bits of other children say nothing.
    #[inline(always)]
    pub(super) fn sharing<S: Simd>(&self, simd: S, node: u32, triangle: [u32; 3]) -> u32 {
        let rows = &self.corners[node as usize];
        let mut mask = 0;
        if A == 8 {
            let [a, b, c] = triangle.map(|vertex| u32x8::splat(simd, vertex));
            let [p, q, r] = [0, 1, 2].map(|row: usize| u32x8::from_slice(simd, &rows[row]));
            let first = p.simd_eq(a) | p.simd_eq(b) | p.simd_eq(c);
            let second = q.simd_eq(a) | q.simd_eq(b) | q.simd_eq(c);
            let third = r.simd_eq(a) | r.simd_eq(b) | r.simd_eq(c);
            mask = (first | second | third).to_bitmask() as u32;
        } else {
            for lane in 0..A {
                let share = rows.iter().any(|row| triangle.contains(&row[lane]));
                mask |= u32::from(share) << lane;
            }
        }
        mask
    }

    /// Finds the vertices around which no triangles meet.
    pub(super) fn look_at_stars(&mut self) {
        if self.placement.is_none() && matches!(self.shape, Shape::Positions(_)) {
            return self.stars.look(&self.triangles, &self.local);
        }
        for vertex in 0..self.stars.vertices() as u32 {
            self.position(vertex);
        }
        self.stars.look(&self.triangles, &self.world);
    }

    /// The volume around everything, in the model.
    pub(super) fn root(&mut self) -> V {
        self.open(0);
        V::union_of_block(&self.blocks[0])
    }

    /// How two bodies look from each other; none if both are where their models are.
    pub(super) fn relative(&self, other: &Self) -> Option<Relative<R>> {
        if self.placement.is_none() && other.placement.is_none() {
            return None;
        }
        let placed = |one: &Self| one.placement.unwrap_or_else(Placement::identity);
        let reach = [self.reach, other.reach];
        Some(Relative::new(&placed(self), &placed(other), reach))
    }

    /// Brings the volumes of the children of a node up to date, which a parent's must be already.
    #[inline(always)]
    pub(super) fn open(&mut self, node: u32) {
        if self.fresh[node as usize] != self.pose {
            self.bring_up_to_date(node);
        }
    }

    #[inline(never)]
    fn bring_up_to_date(&mut self, node: u32) {
        match &mut self.shape {
            Shape::Positions(upper) => {
                let mut top = node;
                while self.tree.depth_of(top) > upper.depth {
                    let Some(slot) = self.tree.slot_of(top) else { break };
                    top = slot / A as u32;
                }
                self.refit(top);
            }
            Shape::Morph(morph) => {
                morph.blend(node, &mut self.blocks[node as usize]);
                self.fresh[node as usize] = self.pose;
            }
            Shape::Skin(skin) => {
                skin.follow(node, &mut self.blocks[node as usize]);
                self.fresh[node as usize] = self.pose;
            }
        }
    }

    /// Brings a node and all below up to date, from the leaves on.
    fn refit(&mut self, top: u32) {
        let level = self.level;
        dispatch!(level, simd => self.refit_below(simd, top));
    }

    #[inline(always)]
    fn refit_below<S: Simd>(&mut self, _simd: S, top: u32) {
        for node in self.tree.below(top).rev() {
            let corners = &self.corners[node as usize];
            let mut block = V::around_triangles(&side_by_side(corners, &self.local), slack::<R>(1));
            if !self.ends.is_empty() {
                let ends = V::around_triangles(&side_by_side(corners, &self.ends), slack::<R>(1));
                for lane in 0..A {
                    V::lane(&block, lane).union(V::lane(&ends, lane)).set_lane(&mut block, lane);
                }
            }
            for lane in 0..A {
                match self.tree.child(node * A as u32 + lane as u32) {
                    Some(Child::Leaf(_)) => {}
                    Some(Child::Node(child)) => {
                        V::union_of_block(&self.blocks[child as usize]).set_lane(&mut block, lane);
                    }
                    None => V::empty().set_lane(&mut block, lane),
                }
            }
            self.blocks[node as usize] = block;
            self.fresh[node as usize] = self.pose;
        }
    }

    /// Brings the upper half up to date.
    fn refit_upper(&mut self) {
        let Shape::Positions(upper) = &self.shape else { return };
        for (&slot, vertices) in upper.slots.iter().zip(upper.vertices.iter()) {
            let points = vertices.iter().map(|&vertex| self.local[vertex as usize]);
            let volume = V::of(points, slack::<R>(1));
            volume.set_lane(&mut self.blocks[slot as usize / A], slot as usize % A);
        }
        for &node in upper.nodes.iter().rev() {
            for (lane, child) in self.tree.children_of(node) {
                let volume = match child {
                    Child::Leaf(leaf) => self.leaf(leaf),
                    Child::Node(child) if self.tree.depth_of(child) < upper.depth => {
                        V::union_of_block(&self.blocks[child as usize])
                    }
                    Child::Node(_) => continue,
                };
                volume.set_lane(&mut self.blocks[node as usize], lane);
            }
            self.fresh[node as usize] = self.pose;
        }
    }

    /// The volume around a triangle of a deforming mesh.
    #[inline(always)]
    fn leaf(&self, leaf: u32) -> V {
        let [a, b, c] = self.triangles[leaf as usize];
        let local = &self.local;
        let corners = [local[a as usize], local[b as usize], local[c as usize]];
        V::of(corners.into_iter(), slack::<R>(1))
    }

    fn next_pose(&mut self) {
        self.pose = next(self.pose, &mut self.fresh);
        self.next_place();
    }

    fn next_place(&mut self) {
        self.place = next(self.place, &mut self.known);
        self.stars.forget();
    }

    fn other_kind(&self, given: &'static str) -> DetectError {
        let follows = match &self.shape {
            Shape::Positions(_) => "positions",
            Shape::Morph(_) => "weights",
            Shape::Skin(_) => "joints",
        };
        DetectError::OtherKind { follows, given }
    }
}

/// The positions of the corners of triangles, by corners, axes and lanes.
#[inline(always)]
fn side_by_side<R: Real, const A: usize>(
    corners: &[[u32; A]; 3],
    positions: &[Vector3<R>],
) -> [[[R; A]; 3]; 3] {
    let mut places = [[[R::zero(); A]; 3]; 3];
    for (places, corners) in places.iter_mut().zip(corners) {
        for lane in 0..A {
            let position = &positions[corners[lane] as usize];
            places[0][lane] = position.x;
            places[1][lane] = position.y;
            places[2][lane] = position.z;
        }
    }
    places
}

/// The triangles of a mesh in the order of the leaves.
fn in_order<R: Real, const A: usize>(tree: &Tree<A>, mesh: &TriangleMesh<R>) -> Vec<[u32; 3]> {
    tree.order().iter().map(|&triangle| mesh.triangles()[triangle as usize]).collect()
}

/// Counts on; when numbers run out, everything is forgotten and counting starts again.
fn next(count: u32, stamps: &mut [u32]) -> u32 {
    if count == u32::MAX {
        stamps.fill(0);
        return 1;
    }
    count + 1
}

impl Upper {
    fn new<const A: usize>(tree: &Tree<A>, triangles: &[[u32; 3]], vertices: usize) -> Self {
        let depth = tree.depth().div_ceil(2);
        let nodes: Vec<u32> =
            (0..tree.len() as u32).filter(|&node| tree.depth_of(node) < depth).collect();
        let (mut slots, mut items, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = vec![u32::MAX; vertices];
        for node in (0..tree.len() as u32).filter(|&node| tree.depth_of(node) == depth) {
            let Some(slot) = tree.slot_of(node) else { continue };
            for leaf in tree.leaves_below(node) {
                for corner in triangles[leaf as usize] {
                    if std::mem::replace(&mut seen[corner as usize], node) != node {
                        items.push(corner);
                    }
                }
            }
            slots.push(slot);
            ends.push(items.len() as u32);
        }
        Self { depth, nodes, slots, vertices: Rows::from_ends(ends, items) }
    }
}

/// Refuses a placement that takes a model, which reaches so far from its origin, beyond what can be computed with.
fn check_reach<R: Real>(placement: Option<&Placement<R>>, reach: f64) -> Result<(), DetectError> {
    let world = placement.map_or(0.0, |placement| placement.world_reach(reach));
    if world <= R::MAX_COORDINATE {
        return Ok(());
    }
    Err(DetectError::PlacedTooFar { reach: world, limit: R::MAX_COORDINATE })
}

/// The largest magnitude of a coordinate.
pub(super) fn reach<R: Real>(positions: &[Vector3<R>]) -> f64 {
    positions.iter().fold(R::zero(), |most, p| most.max(p.amax())).to_f64()
}

/// Refuses positions that cannot be computed with.
fn check<R: Real>(positions: &[Vector3<R>]) -> Result<(), DetectError> {
    first_bad_position(positions).map_or(Ok(()), |(vertex, value)| {
        Err(DetectError::BadPosition { body: 0, vertex, value, limit: R::MAX_COORDINATE })
    })
}
