//! Polygons into triangles.

use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use defcol::math::predicate::{Sign, orient2d};
use defcol::math::{Vector2, Vector3};

/// Triangles under construction. A polygon becomes a fan at once; when all positions are known,
/// fans of polygons that are not convex are cut again.
#[derive(Default)]
pub(crate) struct Faces {
    pub triangles: Vec<[u32; 3]>,
    /// First triangle and number of corners of each face with more than three.
    polygons: Vec<(u32, u32)>,
}

impl From<Vec<[u32; 3]>> for Faces {
    fn from(triangles: Vec<[u32; 3]>) -> Self {
        Self { triangles, polygons: Vec::new() }
    }
}

/// Beyond this many corners a polygon that is not convex stays a fan: cutting ears is quadratic at best.
const MAX_CONCAVE_CORNERS: usize = 1024;
/// So many points of a file are compared with ears, about a second; polygons behind that stay fans.
const MAX_EAR_TESTS: usize = 100_000_000;

impl Faces {
    /// Makes room for exactly this many triangles and larger polygons.
    pub fn reserve_exact(&mut self, triangles: usize, polygons: usize) {
        self.triangles.reserve_exact(triangles);
        self.polygons.reserve_exact(polygons);
    }

    /// Makes room for `faces` faces of which most are triangles.
    pub fn expect(&mut self, faces: usize, reading: &mut Reading) -> Parsed<()> {
        reading.take::<[u32; 3]>(faces)?;
        self.triangles.reserve_exact(faces);
        Ok(())
    }

    /// Adds a face of a text in which `left` bytes follow. Vectors that double would, for large
    /// polygons of short words, take more memory than a reader may: there is a corner every two
    /// bytes at most.
    pub fn push_from_text(
        &mut self,
        corners: &[u32],
        left: usize,
        reading: &mut Reading,
    ) -> Parsed<()> {
        let needed = corners.len() - 2;
        if self.triangles.capacity() - self.triangles.len() < needed {
            let most = needed + left / 2;
            reading.take::<[u32; 3]>(most)?;
            self.triangles.reserve_exact(most);
        }
        self.push(corners);
        Ok(())
    }

    /// Adds a face with at least three corners.
    pub fn push(&mut self, corners: &[u32]) {
        if corners.len() > 3 {
            self.polygons.push((self.triangles.len() as u32, corners.len() as u32));
        }
        let fan = corners[1..].windows(2).map(|edge| [corners[0], edge[0], edge[1]]);
        self.triangles.extend(fan);
    }

    /// Joins what was read in another part of the file, whose triangles come after these.
    pub fn append(&mut self, other: Self) {
        if self.triangles.capacity() == 0 {
            *self = other;
            return;
        }
        let offset = self.triangles.len() as u32;
        self.triangles.extend(other.triangles);
        self.polygons
            .extend(other.polygons.iter().map(|&(first, corners)| (first + offset, corners)));
    }

    /// The triangles, every polygon cut properly. Indices must be valid.
    pub fn finish(
        mut self,
        positions: &[Vector3<f64>],
        reading: &mut Reading,
    ) -> Parsed<Vec<[u32; 3]>> {
        reading.note(
            self.polygons.len(),
            "faces with more than three corners were cut into triangles",
        );
        let mut left_as_fan = 0;
        let mut tests = MAX_EAR_TESTS;
        for (index, &(first, count)) in self.polygons.iter().enumerate() {
            let fan = &mut self.triangles[first as usize..][..count as usize - 2];
            if is_convex(positions, fan) {
                continue;
            }
            let corners = corners_of(fan);
            let ears = if fan.len() > MAX_CONCAVE_CORNERS {
                None
            } else {
                cut_ears(&shadow(positions, &corners), &mut tests)
            };
            match ears {
                Some(ears) => {
                    for (slot, ear) in fan.iter_mut().zip(ears) {
                        *slot = ear.map(|k| corners[k]);
                    }
                }
                None => left_as_fan += 1,
            }
            if index % 64 == 0 && reading.progress.is_cancelled() {
                return Err(Fault::file(Problem::Cancelled));
            }
        }
        reading.note(
            left_as_fan,
            "faces that are not convex are too large and were cut as fans, which may overlap",
        );
        Ok(self.triangles)
    }
}

/// The corners of a polygon that was cut into a fan.
fn corners_of(fan: &[[u32; 3]]) -> Vec<u32> {
    (0..fan.len() + 2).map(|k| corner_of(fan, k)).collect()
}

fn corner_of(fan: &[[u32; 3]], k: usize) -> u32 {
    match k % (fan.len() + 2) {
        0 => fan[0][0],
        1 => fan[0][1],
        k => fan[k - 2][2],
    }
}

/// The two axes onto which a polygon is projected, in the order in which its area is positive.
fn projection(positions: &[Vector3<f64>], fan: &[[u32; 3]]) -> (usize, usize) {
    let area: Vector3<f64> = fan
        .iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| positions[vertex as usize]);
            (b - a).cross(&(c - a))
        })
        .sum();
    let axis = area.iamax();
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    if area[axis] < 0.0 { (v, u) } else { (u, v) }
}

/// The polygon projected along the axis in which its area vector is largest.
fn shadow(positions: &[Vector3<f64>], corners: &[u32]) -> Vec<Vector2<f64>> {
    let fan: Vec<[u32; 3]> =
        corners[1..].windows(2).map(|edge| [corners[0], edge[0], edge[1]]).collect();
    let (u, v) = projection(positions, &fan);
    let point = |&corner: &u32| positions[corner as usize];
    corners.iter().map(point).map(|p| Vector2::new(p[u], p[v])).collect()
}

/// Whether a polygon is convex and its fan has no triangle without area. Takes no memory, however
/// large the polygon is.
fn is_convex(positions: &[Vector3<f64>], fan: &[[u32; 3]]) -> bool {
    let (u, v) = projection(positions, fan);
    let point = |vertex: u32| {
        let p = positions[vertex as usize];
        Vector2::new(p[u], p[v])
    };
    let turns = |[a, b, c]: [u32; 3]| orient2d(point(a), point(b), point(c));
    // Every triangle of the fan runs forward too: a polygon that winds around twice is not convex.
    fan.iter().all(|&triangle| turns(triangle) == Sign::Positive)
        && (0..fan.len() + 2)
            .all(|k| turns([k, k + 1, k + 2].map(|k| corner_of(fan, k))) != Sign::Negative)
}

/// Cuts off ears until a triangle is left; gives two triangles fewer than corners, also for polygons
/// that cross themselves. Each look at a corner costs one of `tests`; `None` when they are used up.
fn cut_ears(polygon: &[Vector2<f64>], tests: &mut usize) -> Option<Vec<[usize; 3]>> {
    let mut left: Vec<usize> = (0..polygon.len()).collect();
    let mut ears = Vec::with_capacity(polygon.len() - 2);
    let mut start = 0;
    while left.len() > 3 {
        let count = left.len();
        let corner =
            |k: usize| [left[(k + count - 1) % count], left[k % count], left[(k + 1) % count]];
        let mut is_ear = |k: usize| {
            let [a, b, c] = corner(k).map(|corner| polygon[corner]);
            *tests = tests.saturating_sub(1);
            if orient2d(a, b, c) != Sign::Positive {
                return false;
            }
            *tests = tests.saturating_sub(count);
            // Corners at the very place of one of the three, as where a hole is joined, do no harm.
            left.iter()
                .map(|&other| polygon[other])
                .filter(|other| ![a, b, c].contains(other))
                .all(|other| !in_triangle(other, [a, b, c]))
        };
        // A polygon that crosses itself may have no ear: cut anything, and go on.
        let ear = (start..start + count).find(|&k| is_ear(k % count)).unwrap_or(start) % count;
        if *tests == 0 {
            return None;
        }
        ears.push(corner(ear));
        left.remove(ear);
        // Going on elsewhere keeps the triangles from all meeting in one corner.
        start = (ear + 1) % left.len();
    }
    ears.push([left[0], left[1], left[2]]);
    Some(ears)
}

/// Inside or on the border.
fn in_triangle(point: Vector2<f64>, [a, b, c]: [Vector2<f64>; 3]) -> bool {
    [(a, b), (b, c), (c, a)].iter().all(|&(p, q)| orient2d(p, q, point) != Sign::Negative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    fn area(positions: &[Vector3<f64>], triangles: &[[u32; 3]]) -> (f64, f64) {
        triangles.iter().fold((0.0, 0.0), |(signed, total), t| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            let area = (b - a).cross(&(c - a)).z / 2.0;
            (signed + area, total + area.abs())
        })
    }

    #[test]
    fn polygons_that_are_not_convex_are_covered_once() {
        let outlines: [&[[f64; 2]]; 5] = [
            &[[0.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 4.0]],
            // A comb.
            &[
                [0., 0.],
                [7., 0.],
                [7., 3.],
                [6., 3.],
                [6., 1.],
                [5., 1.],
                [5., 3.],
                [4., 3.],
                [4., 1.],
                [3., 1.],
                [3., 3.],
                [0., 3.],
            ],
            // A square with a square hole, joined by a bridge that is run through twice.
            &[
                [0., 0.],
                [4., 0.],
                [4., 4.],
                [0., 4.],
                [0., 0.],
                [1., 1.],
                [1., 3.],
                [3., 3.],
                [3., 1.],
                [1., 1.],
            ],
            // Starts with three corners in a line.
            &[[0., 0.], [1., 0.], [2., 0.], [2., 1.], [0., 1.]],
            // The first corner is the worst to fan from.
            &[[1.0, 1.0], [0.0, 4.0], [0.0, 0.0], [4.0, 0.0]],
        ];
        for outline in outlines {
            for reversed in [false, true] {
                let mut positions: Vec<_> =
                    outline.iter().map(|&[x, y]| Vector3::new(x, y, 0.3 * x)).collect();
                if reversed {
                    positions.reverse();
                }
                let mut faces = Faces::default();
                faces.push(&(0..positions.len() as u32).collect::<Vec<_>>());
                let progress = Progress::default();
                let triangles = faces.finish(&positions, &mut Reading::new(0, &progress)).unwrap();
                assert_eq!(triangles.len(), positions.len() - 2);
                let (signed, total) = area(&positions, &triangles);
                let shoelace: f64 = (0..outline.len())
                    .map(|k| {
                        let ([x, y], [u, v]) = (outline[k], outline[(k + 1) % outline.len()]);
                        (x * v - y * u) / 2.0
                    })
                    .sum();
                assert!((signed.abs() - total).abs() < 1e-12, "triangles overlap or are turned");
                assert!((total - shoelace.abs()).abs() < 1e-12);
                assert_eq!(signed < 0.0, (shoelace < 0.0) ^ reversed);
            }
        }
    }

    #[test]
    fn a_polygon_without_area_or_crossing_itself_still_gives_all_its_triangles() {
        for outline in [[[0.0; 2]; 5], [[0., 0.], [2., 2.], [2., 0.], [0., 2.], [1., 5.]]] {
            let positions = outline.map(|[x, y]| Vector3::new(x, y, 0.0));
            let mut faces = Faces::default();
            faces.push(&[0, 1, 2, 3, 4]);
            let progress = Progress::default();
            let triangles = faces.finish(&positions, &mut Reading::new(0, &progress)).unwrap();
            assert_eq!(triangles.len(), 3);
            assert!(triangles.iter().all(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]));
        }
    }
}
