use crate::math::Bounds;

/// Where on a ray the winding number of a surface is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// The near end of the ray is outside, or in front of it are parts of the surface that are taken in.
    /// What lies behind the far end is left out.
    #[default]
    Near,
    /// The same with the ends exchanged.
    Far,
    /// The surface is open and bounds a half-infinite volume behind it, like a ground or a bag (FAURE08
    /// section 5): a ray that meets its back first comes from inside, and one that ends behind it stays there. All
    /// of the surface has to lie between the ends of the rays, here and below.
    HalfInfinite,
    /// The surface may be open: rays that do not have as many entries as exits count as empty.
    BalancedOnly,
}

/// Where two bodies can overlap and how to look at it (THESIS 5.1.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// What the boxes of the bodies have in common.
    pub bounds: Bounds<f64>,
    /// The axis along which the outside faces of the bodies are nearest to each other.
    pub axis: usize,
    /// For each body the outside face from which its winding number is counted.
    pub starts: [Start; 2],
}

impl Region {
    /// The region of interest of two boxes; `None` if they do not meet.
    ///
    /// A face is outside of a body if the body does not go on beyond it. Where neither of two opposite
    /// faces is (one box encloses the other along this axis), the surface beyond the nearer one is looked
    /// at as well: the distance between the outside faces grows by that much.
    pub fn between(a: Bounds<f64>, b: Bounds<f64>) -> Option<Self> {
        let bounds = a.intersection(b);
        if bounds.is_empty() {
            return None;
        }
        let distance = |axis: usize| {
            let beyond = [a, b].map(|body| extension(&bounds, &body, axis).1);
            bounds.extent()[axis] + beyond[0].max(beyond[1])
        };
        let shortest =
            |best: usize, axis: usize| if distance(axis) < distance(best) { axis } else { best };
        let axis = [1, 2].into_iter().fold(0, shortest);
        Some(Self::along(axis, bounds, [a, b]))
    }

    /// The region when rays must run along an axis.
    pub fn along(axis: usize, bounds: Bounds<f64>, bodies: [Bounds<f64>; 2]) -> Self {
        let starts = bodies.map(|body| extension(&bounds, &body, axis).0);
        Self { bounds, axis, starts }
    }
}

/// The outside face of a body, and how far the body goes on beyond it.
fn extension(region: &Bounds<f64>, body: &Bounds<f64>, axis: usize) -> (Start, f64) {
    let before = region.min[axis] - body.min[axis];
    let behind = body.max[axis] - region.max[axis];
    if before <= behind { (Start::Near, before.max(0.0)) } else { (Start::Far, behind.max(0.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vector3;

    fn cuboid(min: [f64; 3], max: [f64; 3]) -> Bounds<f64> {
        Bounds { min: Vector3::from(min), max: Vector3::from(max) }
    }

    #[test]
    fn boxes_apart_have_no_region() {
        let cube = cuboid([0.0; 3], [1.0; 3]);
        assert_eq!(Region::between(cube, cuboid([2.0; 3], [3.0; 3])), None);
        assert_eq!(Region::between(cube, Bounds::empty()), None);
    }

    #[test]
    fn boxes_that_overlap_have_opposite_outside_faces() {
        // THESIS figures 5.3 and 5.4: a lower left and b upper right, the overlap widest along x.
        let a = cuboid([0.0, 0.0, 0.0], [4.0, 2.0, 9.0]);
        let b = cuboid([1.0, 1.5, 5.0], [6.0, 4.0, 12.0]);
        let region = Region::between(a, b).expect("they meet");
        assert_eq!(region.bounds, cuboid([1.0, 1.5, 5.0], [4.0, 2.0, 9.0]));
        assert_eq!(region.axis, 1);
        // a ends within the region and b begins in it.
        assert_eq!(region.starts, [Start::Far, Start::Near]);
        let swapped = Region::between(b, a).expect("they meet");
        assert_eq!((swapped.axis, swapped.starts), (1, [Start::Near, Start::Far]));
    }

    #[test]
    fn an_enclosed_box_extends_the_region_along_the_shortest_way() {
        // THESIS figure 5.5: b is inside a. Along x the region is 1 wide, and a goes on for 6 and 3; along
        // y it is 2 wide and a goes on for 1; along z it is 1 wide and a goes on for 9 at either side.
        let a = cuboid([0.0, 0.0, 0.0], [10.0, 10.0, 19.0]);
        let b = cuboid([6.0, 7.0, 9.0], [7.0, 9.0, 10.0]);
        let region = Region::between(a, b).expect("they meet");
        assert_eq!(region.bounds, b);
        assert_eq!((region.axis, region.starts[0]), (1, Start::Far));
        let along_x = Region::along(0, region.bounds, [a, b]);
        assert_eq!(along_x.starts[0], Start::Far);
    }

    #[test]
    fn a_cross_has_an_axis_without_extension() {
        // Each goes through the other: only along z do both end within the region.
        let a = cuboid([-5.0, -1.0, -1.0], [5.0, 1.0, 1.5]);
        let b = cuboid([-1.0, -5.0, -1.5], [1.0, 5.0, 1.0]);
        let region = Region::between(a, b).expect("they meet");
        assert_eq!((region.axis, region.starts), (2, [Start::Near, Start::Far]));
    }
}
