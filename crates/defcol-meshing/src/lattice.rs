//! The body-centred cubic lattice (Labelle and Shewchuk 2007): two cubic grids, the second in the
//! middle of the cells of the first. Every tetrahedron between them has two long edges (within a grid)
//! and four short ones (between the grids), and all are alike.

use defcol::math::{Bounds, Vector3};
use rayon::prelude::*;

use crate::Shape;
use crate::surface::SurfaceError;

/// Lattice points by whole numbers: even ones are corners of cells, odd ones their middles.
pub type Point = [i32; 3];

/// A lattice with more cells is refused: it would take more than a gigabyte.
const MAX_CELLS: f64 = 6e7;

/// A distance function sampled on the lattice.
pub struct Lattice {
    /// Distance between neighbours of the same grid.
    pub spacing: f64,
    origin: Vector3<f64>,
    /// Cells in each direction.
    cells: [usize; 3],
    corners: Vec<f64>,
    middles: Vec<f64>,
}

impl Lattice {
    /// Samples a shape with a margin of two cells around its box; the lattice is moved by `offset`, in
    /// parts of the spacing, up to half a cell.
    pub fn sample(shape: &Shape, spacing: f64, offset: Vector3<f64>) -> Result<Self, SurfaceError> {
        let bounds: Bounds<f64> = shape.bounds().grown(2.0 * spacing);
        let wanted = bounds.extent().iter().map(|length| length / spacing + 2.0).product::<f64>();
        if wanted.is_nan() || wanted > MAX_CELLS {
            return Err(SurfaceError::TooFine { spacing, cells: wanted });
        }
        let cells = [0, 1, 2].map(|axis| (bounds.extent()[axis] / spacing).ceil() as usize + 1);
        let size = Vector3::new(cells[0], cells[1], cells[2]).map(|n| n as f64) * spacing;
        let origin = bounds.center() - size * 0.5 + offset * spacing;
        let mut lattice = Self { spacing, origin, cells, corners: vec![], middles: vec![] };
        lattice.corners = lattice.sample_grid(shape, 0);
        lattice.middles = lattice.sample_grid(shape, 1);
        Ok(lattice)
    }

    fn grid_size(&self, odd: usize) -> [usize; 3] {
        self.cells.map(|n| n + 1 - odd)
    }

    /// One of the two grids. Blocks that the surface cannot reach get one value for all.
    fn sample_grid(&self, shape: &Shape, odd: usize) -> Vec<f64> {
        const BLOCK: usize = 8;
        let [nx, ny, nz] = self.grid_size(odd);
        let mut values = vec![0.0; nx * ny * nz];
        let point =
            |x: usize, y: usize, z: usize| self.position([x, y, z].map(|k| (2 * k + odd) as i32));
        // Far enough that neither the block nor the cells around it see the surface.
        let reach = shape.slope() * self.spacing * (BLOCK as f64 / 2.0 + 1.0) * 3f64.sqrt();
        values.par_chunks_mut(nx * ny * BLOCK).enumerate().for_each(|(slab, values)| {
            let depth = values.len() / (nx * ny);
            for y0 in (0..ny).step_by(BLOCK) {
                for x0 in (0..nx).step_by(BLOCK) {
                    let middle = point(x0, y0, slab * BLOCK)
                        + Vector3::repeat((BLOCK - 1) as f64 / 2.0 * self.spacing);
                    let far = shape.distance(middle);
                    for z in 0..depth {
                        for y in y0..(y0 + BLOCK).min(ny) {
                            for x in x0..(x0 + BLOCK).min(nx) {
                                values[(z * ny + y) * nx + x] = if far.abs() > reach {
                                    far
                                } else {
                                    shape.distance(point(x, y, slab * BLOCK + z))
                                };
                            }
                        }
                    }
                }
            }
        });
        values
    }

    /// Where a lattice point is.
    pub fn position(&self, point: Point) -> Vector3<f64> {
        let [x, y, z] = point.map(|k| f64::from(k) * 0.5 * self.spacing);
        self.origin + Vector3::new(x, y, z)
    }

    /// The distance at a lattice point.
    pub fn value(&self, point: Point) -> f64 {
        let odd = (point[0] & 1) as usize;
        let [nx, ny, _] = self.grid_size(odd);
        let [x, y, z] = point.map(|k| (k >> 1) as usize);
        let values = if odd == 0 { &self.corners } else { &self.middles };
        values[(z * ny + y) * nx + x]
    }

    /// A number for each lattice point.
    pub fn key(&self, point: Point) -> u64 {
        let [x, y, z] = point.map(|k| k as u64);
        (z * (2 * self.cells[1] as u64 + 1) + y) * (2 * self.cells[0] as u64 + 1) + x
    }

    /// All tetrahedra of the uniform lattice whose values are `wanted`: first the long edge between the
    /// middles of two cells, then the long edge between two corners.
    pub fn for_each_tetrahedron(
        &self,
        wanted: impl Fn([f64; 4]) -> bool,
        mut visit: impl FnMut([Point; 4], [f64; 4]),
    ) {
        for cell in self.cells() {
            for axis in 0..3 {
                if cell[axis] + 1 == self.cells[axis] {
                    continue;
                }
                let [middle, next] = [middle(cell, 0), middle(neighbour(cell, axis, 1), 0)];
                let ring = face(cell, axis, 0);
                let [own, other] = [middle, next].map(|point| self.value(point));
                let around = ring.map(|corner| self.value(corner));
                for k in 0..4 {
                    let values = [own, other, around[k], around[(k + 1) % 4]];
                    if wanted(values) {
                        visit([middle, next, ring[k], ring[(k + 1) % 4]], values);
                    }
                }
            }
        }
    }

    /// All finest cells.
    fn cells(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.cells;
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
    }

    fn cell_index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }
}

/// The middle of a cell of a level (of edge 2^level) whose lowest finest cell is given.
fn middle(cell: [usize; 3], level: u8) -> Point {
    cell.map(|k| (2 * k) as i32 + (1 << level))
}

fn neighbour(mut cell: [usize; 3], axis: usize, step: usize) -> [usize; 3] {
    cell[axis] += step;
    cell
}

/// The four corners of the upper face of a cell across an axis, in a ring.
fn face(cell: [usize; 3], axis: usize, level: u8) -> [Point; 4] {
    let middle = middle(cell, level);
    let half = 1 << level;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    [[-half, -half], [half, -half], [half, half], [-half, half]].map(|[a, b]| {
        let mut corner = middle;
        corner[axis] += half;
        corner[u] += a;
        corner[v] += b;
        corner
    })
}

/// A lattice whose cells grow towards the inside of a shape: an octree in which neighbours, also those
/// that share an edge or a corner only, differ by one level at most, and in which all cells near the
/// surface are of the finest level.
pub struct Graded<'a> {
    lattice: &'a Lattice,
    /// The level of the octree cell that each finest cell belongs to.
    levels: Vec<u8>,
}

impl<'a> Graded<'a> {
    /// Lets cells grow up to `2^most` times the spacing.
    pub fn new(lattice: &'a Lattice, most: u8) -> Self {
        let count = lattice.cells.iter().product();
        let mut graded = Self { lattice, levels: vec![0; count] };
        for level in 1..=most {
            graded.merge(level);
        }
        graded
    }

    fn level(&self, cell: [usize; 3]) -> u8 {
        self.levels[self.lattice.cell_index(cell)]
    }

    /// Merges eight cells of the level below where all of them, and all around them, are of that level
    /// and the surface is far.
    fn merge(&mut self, level: u8) {
        let (size, half) = (1usize << level, 1usize << (level - 1));
        let cells = self.lattice.cells;
        // Two finest cells between the surface and the first that is larger, and as much again for each.
        let depth = -self.lattice.spacing * (2.0 + 1.5 * size as f64);
        let before = self.levels.clone();
        let level_before = |cell: [usize; 3]| before[self.lattice.cell_index(cell)];
        let mut merged = Vec::new();
        for z in (0..cells[2]).step_by(size) {
            for y in (0..cells[1]).step_by(size) {
                for x in (0..cells[0]).step_by(size) {
                    let cell = [x, y, z];
                    // The cells around must exist too.
                    let fits = (0..3).all(|k| cell[k] >= half && cell[k] + size + half <= cells[k]);
                    if !fits || self.lattice.value(middle(cell, level)) > depth {
                        continue;
                    }
                    // Two steps cover the block, one more on each side its neighbours.
                    let steps = |k: usize| (0..4).map(move |step| cell[k] + step * half - half);
                    let all_alike = steps(2).all(|z| {
                        steps(1).all(|y| steps(0).all(|x| level_before([x, y, z]) == level - 1))
                    });
                    if all_alike {
                        merged.push(cell);
                    }
                }
            }
        }
        for [x, y, z] in merged {
            for dz in 0..size {
                for dy in 0..size {
                    for dx in 0..size {
                        let index = self.lattice.cell_index([x + dx, y + dy, z + dz]);
                        self.levels[index] = level;
                    }
                }
            }
        }
    }

    /// Whether the finest cell is the lowest of its octree cell.
    fn is_lowest(&self, cell: [usize; 3]) -> bool {
        let mask = (1usize << self.level(cell)) - 1;
        cell.iter().all(|k| k & mask == 0)
    }

    /// All tetrahedra with a point inside: those between finest cells with the values of their points,
    /// others, which are wholly inside, without.
    pub fn for_each_tetrahedron(&self, mut visit: impl FnMut([Point; 4], Option<[f64; 4]>)) {
        let lattice = self.lattice;
        for cell in lattice.cells().filter(|&cell| self.is_lowest(cell)) {
            let level = self.level(cell);
            let size = 1usize << level;
            for axis in 0..3 {
                if cell[axis] + size < lattice.cells[axis] {
                    let upper = neighbour(cell, axis, size);
                    self.between(cell, upper, axis, &mut visit);
                }
                if cell[axis] > 0 {
                    // Larger cells below are looked at from here, from the smaller side.
                    let mut below = cell;
                    below[axis] -= 1;
                    if self.level(below) > level {
                        let owner = self.lowest(below);
                        let mut under = cell;
                        under[axis] -= size;
                        self.across(cell, owner, &face(under, axis, level), &mut visit);
                    }
                }
            }
        }
    }

    /// The lowest finest cell of the octree cell that a cell belongs to.
    fn lowest(&self, cell: [usize; 3]) -> [usize; 3] {
        let level = self.level(cell);
        cell.map(|k| k >> level << level)
    }

    /// The tetrahedra between an octree cell and what lies above its upper face.
    fn between(
        &self,
        cell: [usize; 3],
        upper: [usize; 3],
        axis: usize,
        visit: &mut impl FnMut([Point; 4], Option<[f64; 4]>),
    ) {
        let (level, above) = (self.level(cell), self.level(upper));
        let ring = face(cell, axis, level);
        if above > level {
            return self.across(cell, self.lowest(upper), &ring, visit);
        }
        if above < level {
            // Seen from the smaller cells.
            return;
        }
        let [own, other] = [middle(cell, level), middle(upper, level)];
        for k in 0..4 {
            let (a, b) = (ring[k], ring[(k + 1) % 4]);
            if level == 0 {
                let points = [own, other, a, b];
                let values = points.map(|point| self.lattice.value(point));
                if values.iter().any(|value| *value < 0.0) {
                    visit(points, Some(values));
                }
            } else if self.is_split(a, b, level) {
                let half = [0, 1, 2].map(|k| (a[k] + b[k]) / 2);
                visit([own, other, a, half], None);
                visit([own, other, half, b], None);
            } else {
                visit([own, other, a, b], None);
            }
        }
    }

    /// Whether one of the cells around an edge of a level is smaller, so that the edge has a middle.
    fn is_split(&self, a: Point, b: Point, level: u8) -> bool {
        let along = (0..3).find(|&k| a[k] != b[k]).unwrap_or(0);
        let (u, v) = ((along + 1) % 3, (along + 2) % 3);
        let low = [0, 1, 2].map(|k| a[k].min(b[k]) / 2);
        [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().any(|(du, dv)| {
            let mut cell = low;
            cell[u] -= du;
            cell[v] -= dv;
            self.level(cell.map(|k| k as usize)) < level
        })
    }

    /// The tetrahedra between a cell and a larger one that it touches with a whole face: the face is cut
    /// along the diagonal that ends in the middle of the larger cell's face.
    fn across(
        &self,
        small: [usize; 3],
        large: [usize; 3],
        ring: &[Point; 4],
        visit: &mut impl FnMut([Point; 4], Option<[f64; 4]>),
    ) {
        let (own, other) = (middle(small, self.level(small)), middle(large, self.level(large)));
        // The corner of the small face that is nearest to the larger cell's middle.
        let distance = |p: &Point| (0..3).map(|k| (p[k] - other[k]).pow(2)).sum::<i32>();
        let first = (0..4).min_by_key(|&k| distance(&ring[k])).unwrap_or(0);
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| ring[(first + k) % 4]);
        for triangle in [[a, b, c], [a, c, d]] {
            for apex in [own, other] {
                visit([apex, triangle[0], triangle[1], triangle[2]], None);
            }
        }
    }
}

/// Offsets spread over a cell, the same ones always.
pub fn scatter(k: u32) -> Vector3<f64> {
    // Powers of the plastic number: evenly spread, however many are taken.
    Vector3::new(0.819_172_5, 0.671_043_6, 0.549_700_5)
        .map(|step| (f64::from(k) * step).fract() - 0.5)
}
