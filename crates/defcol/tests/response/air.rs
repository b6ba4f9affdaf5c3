//! Air resistance against its definition: pressure is drag times the relative speed along the normal.

use defcol::math::Vector3;
use defcol::response::Air;

use crate::support::scenes::Random;

#[test]
fn the_force_on_a_triangle_is_its_area_times_drag_times_normal_speed() {
    let mut random = Random(5);
    for _ in 0..200 {
        let positions: [Vector3<f64>; 3] = std::array::from_fn(|_| random.vector() * 3.0);
        let velocities: [Vector3<f64>; 3] = std::array::from_fn(|_| random.vector());
        let air = Air { wind: random.vector() * 4.0, drag: 0.1 + random.unit() };
        let mut forces = [Vector3::zeros(); 3];
        air.add_forces(&[[0, 1, 2]], &positions, &velocities, &mut forces);
        let [a, b, c] = positions;
        let double_area = (b - a).cross(&(c - a));
        let (area, normal) = (0.5 * double_area.norm(), double_area.normalize());
        let relative = air.wind - velocities.iter().sum::<Vector3<f64>>() / 3.0;
        let expected = normal * (air.drag * area * relative.dot(&normal));
        let sum: Vector3<f64> = forces.iter().sum();
        assert!((sum - expected).norm() < 1e-12 * (1.0 + expected.norm()), "{sum} {expected}");
        // Each corner takes a third.
        assert!(
            forces
                .iter()
                .all(|force| (force - expected / 3.0).norm() < 1e-12 * (1.0 + expected.norm()))
        );
    }
}

#[test]
fn still_air_without_drag_and_triangles_without_area_feel_nothing() {
    let positions = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::x() * 2.0];
    let velocities = [Vector3::z(); 4];
    for (air, triangle) in [
        (Air { wind: Vector3::z() * 3.0, drag: 0.0 }, [0, 1, 2]),
        (Air { wind: Vector3::z(), drag: 2.0 }, [0, 1, 2]),
        (Air { wind: Vector3::z() * 3.0, drag: 2.0 }, [0, 1, 3]),
    ] {
        let mut forces = [Vector3::zeros(); 4];
        air.add_forces(&[triangle], &positions, &velocities, &mut forces);
        assert_eq!(forces, [Vector3::zeros(); 4], "{air:?} {triangle:?}");
    }
}
