//! A tree over primitives with corners in one array of positions, asked for what is near a box or a point.

use fearless_simd::Level;
use fearless_simd::prelude::*;
use rayon::prelude::*;

use super::tree::{Child, Tree};
use super::{BoundingBox, BoundingVolume, Split};
use crate::detect::corners;
use crate::detect::primitive::{closest_on_triangle, squared_distance_to_triangle};
use crate::math::{Real, Vector3, dispatch};

/// Children of a node.
const A: usize = 8;

/// How many primitives a piece of work for a thread has at least.
const NODES_OF_A_THREAD: usize = 1 << 12;

/// A tree over primitives with `N` corners, and the boxes around them. It is built once; when positions have changed,
/// [`refit`](Self::refit) brings the boxes up to date.
#[derive(Debug, Clone)]
pub struct PrimitiveTree<R: Real, const N: usize> {
    tree: Tree<A>,
    /// The corners of the primitives that are leaves, side by side like their boxes; elsewhere any vertex.
    corners: Vec<[[u32; A]; N]>,
    /// The lanes of each node that are leaves.
    leaves: Vec<u32>,
    blocks: Vec<Block<R>>,
    level: Level,
}

type Block<R> = <BoundingBox<R> as BoundingVolume<R>>::Block<A>;

/// The point of a surface that is nearest to another point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest<R: Real> {
    /// The triangle it is on: the first of several.
    pub triangle: u32,
    /// Weights of its corners there: none negative, sum 1.
    pub weights: [R; 3],
    /// Where it is.
    pub point: Vector3<R>,
    /// How far away.
    pub distance: R,
}

/// What a search keeps from one question to the next: its memory.
#[derive(Debug, Clone)]
pub struct Visit<R> {
    open: Vec<(R, u32)>,
}

impl<R> Default for Visit<R> {
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<R: Real, const N: usize> PrimitiveTree<R, N> {
    /// Builds the tree for the given positions. There must be a primitive.
    pub fn new(positions: &[Vector3<R>], primitives: &[[u32; N]]) -> Self {
        let tree: Tree<A> = Tree::build(positions, primitives, Split::SurfaceArea);
        let any = primitives[0][0];
        let mut rows = vec![[[any; A]; N]; tree.len()];
        let mut leaves = vec![0; tree.len()];
        for (node, rows) in (0u32..).zip(&mut rows) {
            for (lane, child) in tree.children_of(node) {
                if let Child::Leaf(leaf) = child {
                    leaves[node as usize] |= 1 << lane;
                    let primitive = primitives[tree.order()[leaf as usize] as usize];
                    rows.iter_mut().zip(primitive).for_each(|(row, corner)| row[lane] = corner);
                }
            }
        }
        let blocks = vec![BoundingBox::empty_block(); tree.len()];
        let mut own = Self { tree, corners: rows, leaves, blocks, level: Level::new() };
        debug_assert_eq!(own.tree.validate(), Ok(()));
        own.refit(positions);
        own
    }

    /// Checks that the tree holds every primitive once, and that each box contains what is below it at these positions.
    /// Debug builds check the boxes after every [`refit`](Self::refit).
    ///
    /// # Errors
    /// Names the first node that is wrong.
    pub fn validate(&self, positions: &[Vector3<R>]) -> Result<(), String> {
        self.tree.validate()?;
        match self.box_too_small(positions) {
            Some((node, lane)) => {
                Err(format!("the box of child {lane} of node {node} is too small"))
            }
            None => Ok(()),
        }
    }

    fn box_too_small(&self, positions: &[Vector3<R>]) -> Option<(u32, usize)> {
        let slots = (0..self.tree.len() as u32).flat_map(|node| {
            self.tree.children_of(node).map(move |(lane, child)| (node, lane, child))
        });
        let too_small = |&(node, lane, child): &(u32, usize, Child)| {
            let around = BoundingBox::<R>::lane(&self.blocks[node as usize], lane);
            match child {
                Child::Leaf(_) => self.corners[node as usize].iter().any(|row| {
                    // What is not a number is in no box, and refused elsewhere.
                    let place = positions[row[lane] as usize];
                    place.iter().all(|x| x.is_finite()) && !around.contains(place)
                }),
                Child::Node(below) => {
                    let inner = BoundingBox::<R>::union_of_block(&self.blocks[below as usize]);
                    around.union(inner) != around
                }
            }
        };
        slots.into_iter().find(too_small).map(|(node, lane, _)| (node, lane))
    }

    /// The nodes without their boxes.
    pub(super) fn tree(&self) -> &Tree<A> {
        &self.tree
    }

    /// Brings the boxes up to date.
    pub fn refit(&mut self, positions: &[Vector3<R>]) {
        let level = self.level;
        let (tree, corners) = (&self.tree, &self.corners[..]);
        let refit = |top: u32, blocks: &mut [Block<R>]| {
            dispatch!(level, simd => refit_below(simd, tree, corners, positions, top, blocks));
        };
        if rayon::current_num_threads() == 1 || tree.len() < NODES_OF_A_THREAD {
            refit(0, &mut self.blocks);
            debug_assert_eq!(self.box_too_small(positions), None, "child with a small box");
            return;
        }
        // The nodes below a child of the root follow one another.
        rayon::scope(|scope| {
            let mut rest = &mut self.blocks[1..];
            for (_, child) in tree.children_of(0) {
                let Child::Node(child) = child else { continue };
                let (own, behind) = std::mem::take(&mut rest).split_at_mut(tree.below(child).len());
                rest = behind;
                scope.spawn(move |_| refit(child, own));
            }
        });
        let below = |child: u32| BoundingBox::union_of_block(&self.blocks[child as usize]);
        let root =
            dispatch!(level, simd => refit_node(simd, tree, &corners[0], positions, 0, below));
        self.blocks[0] = root;
        debug_assert_eq!(self.box_too_small(positions), None, "child of a node with a small box");
    }

    /// Names all primitives whose boxes meet a box; touching counts.
    #[inline(always)]
    pub fn meeting(&self, around: &BoundingBox<R>, visit: &mut Visit<R>, found: impl FnMut(u32)) {
        self.meeting_any(around, &[], visit, found);
    }

    /// Names all primitives whose boxes meet one of some boxes, all of which are in one; of none, those that meet this
    /// one.
    #[inline(always)]
    pub fn meeting_any(
        &self,
        around: &BoundingBox<R>,
        boxes: &[BoundingBox<R>],
        visit: &mut Visit<R>,
        mut found: impl FnMut(u32),
    ) {
        let level = self.level;
        let open = &mut visit.open;
        open.clear();
        open.push((R::zero(), 0));
        while let Some((_, node)) = open.pop() {
            let block = &self.blocks[node as usize];
            let leaves = self.leaves[node as usize];
            let mut mask = dispatch!(level, simd => lanes(simd, block, leaves, around, boxes));
            while mask != 0 {
                match self.tree.child_in(node, mask.trailing_zeros() as usize) {
                    Child::Node(below) => open.push((R::zero(), below)),
                    Child::Leaf(leaf) => found(self.tree.order()[leaf as usize]),
                }
                mask &= mask - 1;
            }
        }
    }
}

/// The children of a node that meet a box, and of the leaves among them those that meet one of some smaller boxes.
#[inline(always)]
fn lanes<S: Simd, R: Real>(
    simd: S,
    block: &Block<R>,
    leaves: u32,
    around: &BoundingBox<R>,
    boxes: &[BoundingBox<R>],
) -> u32 {
    let mask = around.meeting(simd, block);
    if mask & leaves == 0 || boxes.is_empty() {
        return mask;
    }
    let mut met = !leaves;
    for own in boxes {
        met |= own.meeting(simd, block);
    }
    mask & met
}

impl<R: Real> PrimitiveTree<R, 3> {
    /// The point of the triangles that is nearest to a point, if it is no farther than `within`.
    ///
    /// The triangles and positions must be those that the tree was built and last refitted with.
    pub fn nearest(
        &self,
        triangles: &[[u32; 3]],
        positions: &[Vector3<R>],
        point: Vector3<R>,
        within: R,
        visit: &mut Visit<R>,
    ) -> Option<Nearest<R>> {
        let within = within.to_f64().min(1e150);
        let best = self.search(positions, point, (within * within, u32::MAX), visit);
        (best.1 != u32::MAX).then(|| Nearest::on(best.1, triangles, positions, point))
    }

    /// The square of the distance of the nearest triangle, and which it is, if that is less than what is given.
    fn search(
        &self,
        positions: &[Vector3<R>],
        point: Vector3<R>,
        best: (f64, u32),
        visit: &mut Visit<R>,
    ) -> (f64, u32) {
        let level = self.level;
        dispatch!(level, simd => self.search_with(simd, positions, point, best, visit))
    }

    #[inline(always)]
    fn search_with<S: Simd>(
        &self,
        simd: S,
        positions: &[Vector3<R>],
        point: Vector3<R>,
        mut best: (f64, u32),
        visit: &mut Visit<R>,
    ) -> (f64, u32) {
        let open = &mut visit.open;
        open.clear();
        open.push((R::zero(), 0));
        // Boxes count as a little nearer than they are, so that rounding hides nothing.
        let nearer = R::one() - R::nearest(16.0) * R::default_epsilon();
        let exact = point.map(R::to_f64);
        // Empty lanes are infinitely far, and stay beyond every limit.
        let farthest = R::max_value().unwrap_or(R::one());
        let mut limit = (R::nearest(best.0) / nearer).min(farthest);
        while let Some((distance, node)) = open.pop() {
            if distance > limit {
                continue;
            }
            let block = &self.blocks[node as usize];
            let (distances, mut mask) = distances(simd, block, point, nearer, limit);
            let first = open.len();
            while mask != 0 {
                let lane = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                match self.tree.child_in(node, lane) {
                    Child::Node(below) => {
                        // Kept in order, the nearest last, so that it comes first.
                        let own = (distances[lane], below);
                        open.push(own);
                        let mut at = open.len() - 1;
                        while at > first && open[at - 1].0 < own.0 {
                            open[at] = open[at - 1];
                            at -= 1;
                        }
                        open[at] = own;
                    }
                    Child::Leaf(leaf) if distances[lane] <= limit => {
                        let rows = &self.corners[node as usize];
                        let corners = [rows[0][lane], rows[1][lane], rows[2][lane]]
                            .map(|corner| positions[corner as usize].map(R::to_f64));
                        let own = squared_distance_to_triangle(exact, corners);
                        if own <= best.0 {
                            let own = (own, self.tree.order()[leaf as usize]);
                            if own < best {
                                best = own;
                                limit = (R::nearest(best.0) / nearer).min(farthest);
                            }
                        }
                    }
                    Child::Leaf(_) => {}
                }
            }
        }
        best
    }
}

impl<R: Real> Nearest<R> {
    fn nowhere() -> Self {
        let zero = R::zero();
        Self { triangle: u32::MAX, weights: [zero; 3], point: Vector3::zeros(), distance: zero }
    }

    /// The point of a triangle.
    fn on(
        triangle: u32,
        triangles: &[[u32; 3]],
        positions: &[Vector3<R>],
        point: Vector3<R>,
    ) -> Self {
        let corners = corners(positions, triangles[triangle as usize]);
        let (weights, distance) = closest_on_triangle(point, corners);
        let weights = weights.map(R::nearest);
        let [a, b, c] = corners;
        let foot = a * weights[0] + b * weights[1] + c * weights[2];
        Self { triangle, weights, point: foot, distance: R::nearest(distance) }
    }
}

/// Finds the nearest points of many. It keeps its memory from call to call.
///
/// One behind the other come points that are near each other: what one has read, the next one needs, and it knows that
/// the surface is no farther than the triangle that was nearest to the last.
#[derive(Debug, Clone)]
pub struct NearestSearch<R: Real> {
    order: Vec<u64>,
    found: Vec<Nearest<R>>,
    visits: Vec<Visit<R>>,
}

impl<R: Real> Default for NearestSearch<R> {
    fn default() -> Self {
        Self { order: vec![], found: vec![], visits: vec![] }
    }
}

/// Points of one piece of work for a thread.
const POINTS: usize = 1 << 10;

impl<R: Real> NearestSearch<R> {
    /// The point of the triangles that is nearest to each of some points; `nearest` is overwritten.
    ///
    /// The triangles and positions must be those that the tree was built and last refitted with.
    pub fn find(
        &mut self,
        tree: &PrimitiveTree<R, 3>,
        triangles: &[[u32; 3]],
        positions: &[Vector3<R>],
        points: &[Vector3<R>],
        nearest: &mut Vec<Nearest<R>>,
    ) {
        let bounds = BoundingBox::union_of_block(&tree.blocks[0]).bounds();
        self.order.clear();
        self.order.extend((0u64..).zip(points).map(|(k, &p)| bounds.along_curve(p) << 32 | k));
        self.order.sort_unstable();
        self.found.resize(points.len(), Nearest::nowhere());
        nearest.clear();
        nearest.resize(points.len(), Nearest::nowhere());
        let chunks = points.len().div_ceil(POINTS);
        if self.visits.len() < chunks {
            self.visits.resize_with(chunks, Visit::default);
        }
        let work = |order: &[u64], found: &mut [Nearest<R>], visit: &mut Visit<R>| {
            let mut last = None;
            for (&key, found) in order.iter().zip(found) {
                let point = points[key as u32 as usize];
                let start = match last {
                    None => (f64::MAX, u32::MAX),
                    Some(triangle) => {
                        let corners = corners(positions, triangles[triangle as usize]);
                        let exact = corners.map(|corner| corner.map(R::to_f64));
                        (squared_distance_to_triangle(point.map(R::to_f64), exact), triangle)
                    }
                };
                let (_, triangle) = tree.search(positions, point, start, visit);
                *found = Nearest::on(triangle, triangles, positions, point);
                last = Some(triangle);
            }
        };
        let visits = &mut self.visits[..chunks];
        if chunks <= 1 || rayon::current_num_threads() == 1 {
            let parts = self.order.chunks(POINTS).zip(self.found.chunks_mut(POINTS));
            parts.zip(visits).for_each(|((order, found), visit)| work(order, found, visit));
        } else {
            let parts = self.order.par_chunks(POINTS).zip(self.found.par_chunks_mut(POINTS));
            parts.zip(visits).for_each(|((order, found), visit)| work(order, found, visit));
        }
        for (&key, found) in self.order.iter().zip(&self.found) {
            nearest[key as u32 as usize] = *found;
        }
    }
}

/// The squared distances of eight boxes from a point, a little less than they are, and which are within a limit.
#[inline(always)]
fn distances<S: Simd, R: Real>(
    simd: S,
    [low, high]: &Block<R>,
    point: Vector3<R>,
    nearer: R,
    limit: R,
) -> ([R; A], u32) {
    let zero = R::Eight::splat(simd, R::zero());
    let mut sum = zero;
    for axis in 0..3 {
        let own = R::Eight::splat(simd, point[axis]);
        let below = R::Eight::from_slice(simd, &low[axis]) - own;
        let above = own - R::Eight::from_slice(simd, &high[axis]);
        let outside = below.max(above).max(zero);
        sum += outside * outside;
    }
    sum *= R::Eight::splat(simd, nearer);
    let mut distances = [R::zero(); A];
    distances.copy_from_slice(sum.as_slice());
    (distances, sum.simd_le(R::Eight::splat(simd, limit)).to_bitmask() as u32)
}

/// Boxes around primitives side by side.
#[inline(always)]
fn around_leaves<S: Simd, R: Real, const N: usize>(
    simd: S,
    corners: &[[u32; A]; N],
    positions: &[Vector3<R>],
) -> Block<R> {
    let infinity = R::nearest(f64::INFINITY);
    let mut low = [R::Eight::splat(simd, infinity); 3];
    let mut high = [R::Eight::splat(simd, -infinity); 3];
    for row in corners {
        let mut places = [[R::zero(); A]; 3];
        for lane in 0..A {
            let position = &positions[row[lane] as usize];
            places[0][lane] = position.x;
            places[1][lane] = position.y;
            places[2][lane] = position.z;
        }
        for axis in 0..3 {
            let own = R::Eight::from_slice(simd, &places[axis]);
            low[axis] = low[axis].min(own);
            high[axis] = high[axis].max(own);
        }
    }
    let mut block = BoundingBox::empty_block();
    let [lows, highs]: &mut Block<R> = &mut block;
    for axis in 0..3 {
        lows[axis].copy_from_slice(low[axis].as_slice());
        highs[axis].copy_from_slice(high[axis].as_slice());
    }
    block
}

/// Brings the boxes of the children of a node up to date; those below are.
#[inline(always)]
fn refit_node<S: Simd, R: Real, const N: usize>(
    simd: S,
    tree: &Tree<A>,
    corners: &[[u32; A]; N],
    positions: &[Vector3<R>],
    node: u32,
    below: impl Fn(u32) -> BoundingBox<R>,
) -> Block<R> {
    let mut block = around_leaves(simd, corners, positions);
    for lane in 0..A {
        match tree.child(node * A as u32 + lane as u32) {
            Some(Child::Leaf(_)) => {}
            Some(Child::Node(child)) => below(child).set_lane(&mut block, lane),
            None => BoundingBox::empty().set_lane(&mut block, lane),
        }
    }
    block
}

/// Brings a node and all below up to date, from the leaves on. Blocks begin with that of the node.
#[inline(always)]
fn refit_below<S: Simd, R: Real, const N: usize>(
    simd: S,
    tree: &Tree<A>,
    corners: &[[[u32; A]; N]],
    positions: &[Vector3<R>],
    top: u32,
    blocks: &mut [Block<R>],
) {
    for node in tree.below(top).rev() {
        let own = &corners[node as usize];
        let below = |child: u32| union(simd, &blocks[(child - top) as usize]);
        let block = refit_node(simd, tree, own, positions, node, below);
        blocks[(node - top) as usize] = block;
    }
}

/// The box around eight.
#[inline(always)]
fn union<S: Simd, R: Real>(_simd: S, [low, high]: &Block<R>) -> BoundingBox<R> {
    let (mut low, mut high) = (*low, *high);
    let mut half = A / 2;
    // Halves against halves, which are compiled to a few wide instructions.
    while half > 0 {
        for axis in 0..3 {
            for lane in 0..half {
                let (p, q) = (low[axis][lane], low[axis][lane + half]);
                low[axis][lane] = if q < p { q } else { p };
                let (p, q) = (high[axis][lane], high[axis][lane + half]);
                high[axis][lane] = if q > p { q } else { p };
            }
        }
        half /= 2;
    }
    BoundingBox::lane(&[low, high], 0)
}
