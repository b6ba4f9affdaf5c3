use super::{Real, Vector3};

/// The points x with `normal · x = offset`. The normal has length 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane<R: Real> {
    /// Unit normal.
    pub normal: Vector3<R>,
    /// Distance from the origin along the normal.
    pub offset: R,
}

impl<R: Real> Plane<R> {
    /// The plane through a point; `None` if the direction has no length.
    pub fn through(point: Vector3<R>, direction: Vector3<R>) -> Option<Self> {
        // Scaling first keeps the length of tiny and huge directions representable.
        let largest = direction.amax();
        if !(largest > R::zero() && largest.is_finite()) {
            return None;
        }
        let normal = (direction / largest).normalize();
        Some(Self { normal, offset: normal.dot(&point) })
    }

    /// The plane of a triangle, its normal on the side from which the corners run
    /// counter-clockwise; `None` if the triangle has no area.
    pub fn of_triangle([a, b, c]: [Vector3<R>; 3]) -> Option<Self> {
        let (ab, ac) = (b - a, c - a);
        let scale = ab.amax().max(ac.amax());
        if !(scale > R::zero() && scale.is_finite()) {
            return None;
        }
        Self::through(a, (ab / scale).cross(&(ac / scale)))
    }

    /// Positive on the side of the normal.
    pub fn signed_distance(&self, point: Vector3<R>) -> R {
        self.normal.dot(&point) - self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plane_of_a_triangle_points_to_the_counter_clockwise_side() {
        for scale in [1e-18f32, 1.0, 1e12] {
            let [a, b, c] = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
                .map(|p| Vector3::from(p) * scale);
            let plane = Plane::of_triangle([a, b, c]).unwrap();
            assert_eq!(plane.normal, Vector3::z());
            assert!(
                (plane.signed_distance(Vector3::new(5.0, 5.0, 3.0) * scale) / scale - 2.0).abs()
                    < 1e-5
            );
        }
    }

    #[test]
    fn a_triangle_without_area_has_no_plane() {
        let point = Vector3::new(1.0, 2.0, 3.0);
        assert!(Plane::of_triangle([point; 3]).is_none());
        assert!(Plane::of_triangle([point, point * 2.0, point * 3.0]).is_none());
        assert!(Plane::through(point, Vector3::repeat(f64::NAN)).is_none());
    }
}
