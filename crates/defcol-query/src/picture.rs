//! What pictures of recordings and layered depth images show.

use defcol::detect::ldi::{Combination, Interval, Ldi, Operation, interval_boxes};
use defcol::math::Vector3;
use defcol::mesh::RawMesh;
use defcol_io::Model;
use defcol_recording::Topology;
use defcol_recording::export::surfaces;
use defcol_render::Picture;

use crate::QueryError;

/// One model per body of a recorded frame or a world. Pictures have the z axis up, worlds the y axis: models are rotated.
/// Particles are copies of `drop`.
pub fn body_models(
    bodies: &Topology,
    positions: &[Vector3<f64>],
    drop: &RawMesh<f64>,
) -> Vec<Model> {
    let rotated = |mut mesh: RawMesh<f64>| {
        mesh.positions.iter_mut().for_each(|position| *position = upright(position));
        Model::from_mesh(mesh)
    };
    surfaces(bodies, positions, drop).map(rotated).collect()
}

/// Rotates a point of a world, with the y axis up, into a picture, with the z axis up.
pub(crate) fn upright(position: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(position.x, -position.z, position.y)
}

/// The depth complexity of each pixel of a layered depth image, from white over yellow and red to black, as a square picture of
/// up to `side` pixels.
pub fn depth_complexity_picture(ldi: &Ldi, side: usize) -> Picture {
    let resolution = ldi.view().resolution() as usize;
    // Every pixel a square of whole size.
    let scale = (side / resolution).max(1);
    let width = resolution * scale;
    let most = ldi.depth_complexity().max(1) as f64;
    let colour = |count: usize| {
        if count == 0 {
            return [255, 255, 255];
        }
        let t = 3.0 * (count as f64 / most);
        [3.4 - t, 2.4 - t, 1.2 - t].map(|x| (255.0 * x.clamp(0.0, 1.0)) as u8)
    };
    let pixels = (0..width * width).map(|k| {
        // Rows are counted from below.
        let (column, row) = (k % width / scale, resolution - 1 - k / width / scale);
        colour(ldi.pixel(row * resolution + column).len())
    });
    Picture { width, height: width, pixels: pixels.collect() }
}

/// The volume between entries and exits of a layered depth image: one model for the first interval of every ray, one for the
/// second, and so on.
///
/// # Errors
/// If entries and exits do not alternate.
pub fn layer_models(ldi: &Ldi) -> Result<Vec<Model>, QueryError> {
    let mut volume = Combination::default();
    volume.combine(Operation::Union, &[ldi])?;
    let mut layers: Vec<Vec<Interval>> = Vec::new();
    for ray in volume.intervals().chunk_by(|a, b| a.pixel == b.pixel) {
        for (layer, interval) in ray.iter().enumerate() {
            if layers.len() == layer {
                layers.push(Vec::new());
            }
            layers[layer].push(*interval);
        }
    }
    let boxes = layers.iter().map(|layer| interval_boxes(ldi.view(), layer));
    Ok(boxes.map(Model::from_mesh).collect())
}
