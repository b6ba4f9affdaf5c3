//! Light, shadow, ambient occlusion, ground and outlines.

use std::f64::consts::FRAC_PI_8;

use defcol::math::{Bounds, Vector3, sin_cos};
use rayon::prelude::*;

use crate::camera::{Camera, View};
use crate::picture::{Body, Picture, PictureOptions};
use crate::raster::{NOTHING, Sample, rasterise};

/// Samples for each pixel in each direction.
const SUPER: usize = 2;
/// Pixels of the shadow map in each direction.
const SHADOW_MAP: usize = 2048;

struct Scene<'a> {
    bodies: &'a [Body],
    view: View,
    samples: Vec<Sample>,
    light: View,
    shadows: Vec<Sample>,
    ground: Option<f64>,
    /// Half the diagonal of the box around everything: the unit of lengths in the picture.
    size: f64,
    middle: Vector3<f64>,
}

/// What is seen through a pixel.
struct Seen {
    position: Vector3<f64>,
    normal: Vector3<f64>,
    colour: Vector3<f64>,
}

/// `None` if no body is in view.
pub(super) fn draw(
    bodies: &[Body],
    bounds: Bounds<f64>,
    options: &PictureOptions,
) -> Option<Picture> {
    let size = (bounds.extent().norm() / 2.0).max(1e-300);
    let aspect = options.width as f64 / options.height as f64;
    let camera = options
        .camera
        .unwrap_or_else(|| Camera::fitted(bounds, Vector3::new(0.75, -1.3, 0.6), aspect));
    let view = View::perspective(&camera, options.width * SUPER, options.height * SUPER);
    let direction = Vector3::new(0.35, 0.55, -1.0).normalize();
    let light = View::parallel(bounds.center(), size, direction, SHADOW_MAP);
    let scene = Scene {
        bodies,
        samples: rasterise(bodies, &view),
        shadows: rasterise(bodies, &light),
        view,
        light,
        ground: options.ground.then_some(bounds.min.z),
        size,
        middle: bounds.center(),
    };
    if scene.samples.iter().all(|sample| sample.body == u32::MAX) {
        return None;
    }
    let wide = scene.view.width;
    let fine: Vec<Vector3<f64>> = (0..scene.samples.len())
        .into_par_iter()
        .map(|k| scene.colour(k % wide, k / wide))
        .collect();
    let pixels = (0..options.width * options.height)
        .into_par_iter()
        .map(|pixel| {
            let (x, y) = (pixel % options.width * SUPER, pixel / options.width * SUPER);
            let sum: Vector3<f64> =
                (0..SUPER * SUPER).map(|k| fine[(y + k / SUPER) * wide + x + k % SUPER]).sum();
            let mean = sum / (SUPER * SUPER) as f64;
            [mean.x, mean.y, mean.z]
                .map(|value| (value.clamp(0.0, 1.0).sqrt() * 255.0).round() as u8)
        })
        .collect();
    Some(Picture { width: options.width, height: options.height, pixels })
}

impl Scene<'_> {
    fn sample(&self, x: i64, y: i64) -> Sample {
        let inside =
            (0..self.view.width as i64).contains(&x) && (0..self.view.height as i64).contains(&y);
        if inside { self.samples[y as usize * self.view.width + x as usize] } else { NOTHING }
    }

    fn colour(&self, x: usize, y: usize) -> Vector3<f64> {
        let sky = Vector3::new(0.92, 0.93, 0.95);
        let Some(seen) = self.seen(x, y) else { return sky };
        let to_light = -self.light.forward;
        let facing = seen.normal.dot(&to_light).max(0.0);
        let lit = facing * (1.0 - self.shadow(&seen));
        let open = 1.0 - self.occlusion(x, y, &seen);
        let above = 0.5 + 0.5 * seen.normal.z;
        let ambient = Vector3::new(0.50, 0.54, 0.62) * (0.45 + 0.55 * above) * open;
        let shaded = seen.colour.component_mul(&(ambient + Vector3::new(0.78, 0.75, 0.68) * lit));
        let is_body = self.samples[y * self.view.width + x].body != u32::MAX;
        if is_body {
            return if self.is_outline(x, y) { shaded * 0.25 } else { shaded };
        }
        // The ground fades into the sky.
        let mut away = seen.position - self.middle;
        away.z = 0.0;
        let fade = (away.norm() / (5.0 * self.size)).min(1.0);
        shaded * (1.0 - fade) + sky * fade
    }

    /// The body or the ground behind a pixel.
    fn seen(&self, x: usize, y: usize) -> Option<Seen> {
        let sample = self.samples[y * self.view.width + x];
        let ray = self.view.ray(x as f64 + 0.5, y as f64 + 0.5);
        if sample.body == u32::MAX {
            let depth = (self.ground? - self.view.eye.z) / ray.z;
            let visible = depth.is_finite() && depth > 0.0;
            return visible.then(|| Seen {
                position: self.view.eye + ray * depth,
                normal: Vector3::z(),
                colour: Vector3::new(0.80, 0.80, 0.80),
            });
        }
        let body = &self.bodies[sample.body as usize];
        let position = self.view.eye + ray * sample.depth;
        let mut normal = smooth_normal(body, sample.triangle, position);
        // Seen from behind, an open surface shows its inside.
        if normal.dot(&ray) > 0.0 {
            normal = -normal;
        }
        let colour = Vector3::from(body.colour.map(|value| (f64::from(value) / 255.0).powi(2)));
        Some(Seen { position, normal, colour })
    }

    /// The part of the light that something else takes, averaged over a small patch.
    fn shadow(&self, seen: &Seen) -> f64 {
        let at = self.light.project(seen.position + seen.normal * (0.006 * self.size));
        let mut blocked = 0.0;
        for dy in -2i64..=2 {
            for dx in -2i64..=2 {
                let (x, y) = (at.x as i64 + 2 * dx, at.y as i64 + 2 * dy);
                let range = 0..SHADOW_MAP as i64;
                if range.contains(&x) && range.contains(&y) {
                    let nearest = self.shadows[y as usize * SHADOW_MAP + x as usize].depth;
                    blocked += f64::from(u8::from(nearest < at.z));
                }
            }
        }
        blocked / 25.0
    }

    /// The part of the sky that is hidden by what stands near, as far as the picture shows it.
    fn occlusion(&self, x: usize, y: usize, seen: &Seen) -> f64 {
        const RAYS: usize = 20;
        let reach = 0.28 * self.size;
        let depth = (seen.position - self.view.eye).dot(&self.view.forward);
        let pixels = (self.view.scale * reach / depth).min(self.view.width as f64 / 4.0);
        let mut hidden = 0.0;
        for k in 0..RAYS {
            // A spiral, turned from pixel to pixel so that no rings appear.
            let turn = (x * 7 + y * 13) % 16;
            let (sin, cos) = sin_cos(2.399_963 * k as f64 + FRAC_PI_8 * turn as f64);
            let distance = pixels * ((k as f64 + 0.5) / RAYS as f64);
            let (sx, sy) = (x as f64 + cos * distance, y as f64 + sin * distance);
            let other = self.sample(sx as i64, sy as i64);
            if other.body == u32::MAX {
                continue;
            }
            let there = self.view.eye + self.view.ray(sx, sy) * other.depth;
            let offset = there - seen.position;
            let length = offset.norm();
            if length > 1e-9 * self.size {
                let rise = (seen.normal.dot(&offset) / length - 0.12).max(0.0);
                let near = 1.0 / (1.0 + (length / reach).powi(2) * 4.0);
                hidden += rise * near;
            }
        }
        (hidden / RAYS as f64 * 2.6).min(0.9)
    }

    /// Whether a body ends here before another one or before the background.
    fn is_outline(&self, x: usize, y: usize) -> bool {
        let own = self.sample(x as i64, y as i64);
        let neighbours = [(1, 0), (-1, 0), (0, 1), (0, -1)];
        neighbours.iter().any(|&(dx, dy)| {
            let other = self.sample(x as i64 + dx, y as i64 + dy);
            other.body != own.body && other.depth > own.depth
                || other.depth - own.depth > 0.12 * self.size
        })
    }
}

/// The normal interpolated between the corners, unless the surface has an edge there.
fn smooth_normal(body: &Body, triangle: u32, position: Vector3<f64>) -> Vector3<f64> {
    let corners = body.triangles[triangle as usize];
    let [a, b, c] = corners.map(|vertex| body.positions[vertex as usize]);
    let cross = (b - a).cross(&(c - a));
    let Some(flat) = cross.try_normalize(0.0) else { return Vector3::z() };
    let area = cross.norm();
    let weight =
        |p: Vector3<f64>, q: Vector3<f64>| (p - position).cross(&(q - position)).dot(&flat) / area;
    let weights = [weight(b, c), weight(c, a), weight(a, b)];
    let sum: Vector3<f64> = corners
        .iter()
        .zip(weights)
        .map(|(&vertex, weight)| {
            let normal = body.normals[vertex as usize];
            if normal.dot(&flat) > 0.7 { normal * weight } else { flat * weight }
        })
        .sum();
    sum.try_normalize(0.0).unwrap_or(flat)
}
