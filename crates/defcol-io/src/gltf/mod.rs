//! glTF 2.0: meshes with node transforms, morph targets and skins.

mod accessor;
mod nodes;
mod read;
mod write;

pub(crate) use read::{parse_glb, parse_gltf};
pub use write::write_animated_glb;
pub(crate) use write::write_glb;
