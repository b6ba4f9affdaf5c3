//! Pictures and movies of meshes, rendered on the CPU: no GPU, no display.
//!
//! ```
//! use defcol_io::Model;
//! use defcol_render::{PictureOptions, draw};
//!
//! let ball = Model::from_mesh(defcol_scenes::regular::icosphere(1.0, 3));
//! let picture = draw(&[ball], &PictureOptions { width: 64, height: 48, ..Default::default() })?;
//! assert_eq!(picture.pixels.len(), 64 * 48);
//! # Ok::<(), defcol_io::WriteProblem>(())
//! ```

mod camera;
mod movie;
mod picture;
mod raster;
mod shade;

pub use camera::Camera;
pub use defcol_io::COLOURS;
pub use movie::{Movie, NextPicture, check_movie, write_movie};
pub use picture::{Picture, PictureOptions, draw, write_png};
