//! Pictures of meshes.
//!
//! Triangles are rasterised into a depth buffer at twice the size, shaded by one light with shadow and by
//! the sky with ambient occlusion, outlined where bodies intersect, and averaged down.

use std::path::Path;

use defcol::math::{Bounds, Vector3};
use defcol::mesh::{RawMesh, TriangleMesh};

use defcol_io::{COLOURS, Model, Progress, WriteError, WriteProblem, replace_file};

use crate::camera::Camera;
use crate::shade;

/// How a picture is made.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureOptions {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// From where; fitted to the bodies if not given. The z axis points up.
    pub camera: Option<Camera>,
    /// The box that the camera, the light and the ground are fitted to; that of the bodies if not given.
    pub around: Option<Bounds<f64>>,
    /// Whether the bodies stand on a ground that catches their shadow.
    pub ground: bool,
    /// The colour of the first body, as a place in [`COLOURS`]; the others follow.
    pub first_colour: usize,
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { width: 960, height: 720, camera: None, around: None, ground: true, first_colour: 0 }
    }
}

/// Larger pictures would take gigabytes while they are drawn.
const MAX_PIXELS: usize = 30_000_000;

/// A picture: rows from the top, red, green and blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// `width * height` pixels.
    pub pixels: Vec<[u8; 3]>,
}

/// What is drawn: a surface with its normals, and a colour.
pub(crate) struct Body {
    pub positions: Vec<Vector3<f64>>,
    pub triangles: Vec<[u32; 3]>,
    pub normals: Vec<Vector3<f64>>,
    pub colour: [u8; 3],
}

impl Body {
    fn new(mesh: RawMesh<f64>, colour: [u8; 3]) -> Result<Self, WriteProblem> {
        let mesh = TriangleMesh::new(mesh)?;
        let mut normals = Vec::new();
        mesh.vertex_normals(mesh.positions(), &mut normals);
        Ok(Self {
            positions: mesh.positions().to_vec(),
            triangles: mesh.triangles().to_vec(),
            normals,
            colour,
        })
    }
}

/// Draws models, each in its own colour.
pub fn draw(models: &[Model], options: &PictureOptions) -> Result<Picture, WriteProblem> {
    let sides = 1..=16384;
    let is_possible = sides.contains(&options.width) && sides.contains(&options.height);
    if !is_possible || options.width * options.height > MAX_PIXELS {
        let text =
            "a picture has between 1 and 16384 pixels in each direction, and 30 million in all";
        return Err(WriteProblem::Unfit(text.into()));
    }
    let mut bodies = Vec::new();
    for (model, colour) in
        models.iter().zip(COLOURS.iter().cycle().skip(options.first_colour % COLOURS.len()))
    {
        let mut surface = model.surface()?;
        defcol::mesh::repair::drop_degenerate(&mut surface)?;
        bodies.push(Body::new(surface, *colour)?);
    }
    let bounds = Bounds::of(bodies.iter().flat_map(|body| {
        body.triangles.iter().flatten().map(|&vertex| body.positions[vertex as usize])
    }));
    if bounds.is_empty() || bounds.extent().max() == 0.0 {
        return Err(WriteProblem::Unfit("there is nothing to draw".into()));
    }
    let around = options.around.unwrap_or(bounds);
    shade::draw(&bodies, around, options).ok_or_else(|| {
        WriteProblem::Unfit(
            "nothing is in view; move the camera (--eye, --target) or leave it out".into(),
        )
    })
}

/// Writes a PNG file, which appears only when it is complete.
pub fn write_png(path: &Path, picture: &Picture) -> Result<(), WriteError> {
    let encode = || -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder =
            png::Encoder::new(&mut bytes, picture.width as u32, picture.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(picture.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    };
    let failed = |problem| WriteError { file: path.to_path_buf(), problem };
    let bytes = encode().map_err(|error| failed(WriteProblem::Io(std::io::Error::other(error))))?;
    replace_file(path, &Progress::new(), |sink| Ok(sink.bytes(&bytes)?)).map_err(failed)
}
