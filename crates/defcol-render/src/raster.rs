//! Triangles into a depth buffer.

use defcol::math::Vector3;
use rayon::prelude::*;

use crate::camera::View;
use crate::picture::Body;

/// What is seen in a pixel.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// Distance along the axis of the view; infinite where nothing is.
    pub depth: f64,
    pub body: u32,
    pub triangle: u32,
}

pub(super) const NOTHING: Sample =
    Sample { depth: f64::INFINITY, body: u32::MAX, triangle: u32::MAX };

/// Rows that one thread draws at a time.
const BAND: usize = 32;

/// The nearest triangle in each pixel.
pub(super) fn rasterise(bodies: &[Body], view: &View) -> Vec<Sample> {
    let projected: Vec<Vec<Vector3<f64>>> = bodies
        .iter()
        .map(|body| body.positions.par_iter().map(|&position| view.project(position)).collect())
        .collect();
    // Which triangles each band has to look at.
    let bands = view.height.div_ceil(BAND);
    let mut lists: Vec<Vec<(u32, u32)>> = vec![Vec::new(); bands];
    for (body, points) in (0u32..).zip(&projected) {
        for (index, triangle) in (0u32..).zip(&bodies[body as usize].triangles) {
            let corners = triangle.map(|vertex| points[vertex as usize]);
            // What is behind the camera, or crosses its plane, is left out: the camera is outside.
            if !corners.iter().all(|corner| corner.z > 0.0) {
                continue;
            }
            let low = corners.iter().map(|c| c.y).fold(f64::INFINITY, f64::min);
            let high = corners.iter().map(|c| c.y).fold(f64::NEG_INFINITY, f64::max);
            if high < 0.0 || low >= view.height as f64 {
                continue;
            }
            let first = (low.max(0.0) as usize / BAND).min(bands - 1);
            let last = (high.max(0.0) as usize / BAND).min(bands - 1);
            lists[first..=last].iter_mut().for_each(|list| list.push((body, index)));
        }
    }
    let mut samples = vec![NOTHING; view.width * view.height];
    samples.par_chunks_mut(BAND * view.width).zip(&lists).enumerate().for_each(
        |(band, (rows, list))| {
            for &(body, triangle) in list {
                let corners = bodies[body as usize].triangles[triangle as usize]
                    .map(|vertex| projected[body as usize][vertex as usize]);
                fill(rows, band * BAND, view, corners, body, triangle);
            }
        },
    );
    samples
}

fn fill(
    rows: &mut [Sample],
    top: usize,
    view: &View,
    corners: [Vector3<f64>; 3],
    body: u32,
    triangle: u32,
) {
    let [a, b, c] = corners;
    let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if area == 0.0 {
        return;
    }
    let span = |of: fn(&Vector3<f64>) -> f64, most: usize| {
        let low = corners.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = corners.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (
            (low - 0.5).ceil().max(0.0) as usize,
            ((high - 0.5).floor() + 1.0).clamp(0.0, most as f64) as usize,
        )
    };
    let (left, right) = span(|p| p.x, view.width);
    let (first, last) = span(|p| p.y, view.height);
    let bottom = (top + rows.len() / view.width).min(last);
    for y in first.max(top)..bottom {
        let py = y as f64 + 0.5;
        for x in left..right {
            let px = x as f64 + 0.5;
            let weight = |p: Vector3<f64>, q: Vector3<f64>| {
                ((q.x - p.x) * (py - p.y) - (q.y - p.y) * (px - p.x)) / area
            };
            let (wa, wb, wc) = (weight(b, c), weight(c, a), weight(a, b));
            if wa < 0.0 || wb < 0.0 || wc < 0.0 {
                continue;
            }
            let depth = if view.parallel {
                wa * a.z + wb * b.z + wc * c.z
            } else {
                1.0 / (wa / a.z + wb / b.z + wc / c.z)
            };
            let sample = &mut rows[(y - top) * view.width + x];
            if depth < sample.depth {
                *sample = Sample { depth, body, triangle };
            }
        }
    }
}
