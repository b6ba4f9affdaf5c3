use defcol::detect::ldi::{Interval, View, connected_regions, interval_boxes};
use defcol::mesh::RawMesh;
use defcol_io::COLOURS;

/// Overlap volumes as a surface of boxes, one per ray interval, each connected region in its own colour.
#[derive(Debug, Clone, Default)]
pub struct OverlapMesh {
    /// The boxes.
    pub mesh: RawMesh<f64>,
    /// Red, green and blue of each vertex.
    pub colours: Vec<[u8; 3]>,
    /// Number of connected regions.
    pub regions: usize,
}

impl OverlapMesh {
    /// Adds the intervals of one image.
    pub(crate) fn add(&mut self, view: &View, intervals: &[Interval]) {
        let (labels, regions) = connected_regions(view, intervals);
        let boxes = interval_boxes(view, intervals);
        let first = self.mesh.positions.len() as u32;
        self.mesh.positions.extend(&boxes.positions);
        self.mesh.triangles.extend(boxes.triangles.iter().map(|t| t.map(|corner| corner + first)));
        for label in labels {
            let colour = COLOURS[(self.regions + label as usize) % COLOURS.len()];
            self.colours.extend([colour; 8]);
        }
        self.regions += regions.len();
    }
}
