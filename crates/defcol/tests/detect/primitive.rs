//! Tests between primitives against rational arithmetic and dense sampling.

use crate::support::scenes::Random;
use dashu_int::IBig;
use defcol::detect::primitive::{
    barycentric, crossing, edge_edge, point_in_tetrahedron, point_triangle, segment_meets_triangle,
};
use defcol::math::Vector3;

type Point = Vector3<f64>;

fn small(random: &mut Random, range: usize) -> Point {
    Vector3::from_fn(|_, _| random.below(range) as f64)
}

/// Six times the volume, exactly.
fn volume([a, b, c, d]: [Point; 4]) -> IBig {
    let whole = |v: Point| [v.x, v.y, v.z].map(|x| IBig::from(x as i64));
    let [u, v, w] = [b - a, c - a, d - a].map(whole);
    let minor = |i: usize, j: usize| &v[i] * &w[j] - &v[j] * &w[i];
    &u[0] * minor(1, 2) - &u[1] * minor(0, 2) + &u[2] * minor(0, 1)
}

#[test]
fn point_in_tetrahedron_is_exact_on_lattices() {
    let mut random = Random(1);
    let (mut inside, mut on_boundary, mut flat) = (0, 0, 0);
    for _ in 0..200_000 {
        let corners: [Point; 4] = std::array::from_fn(|_| small(&mut random, 4));
        let point = small(&mut random, 4);
        let whole = volume(corners);
        let parts: Vec<IBig> = (0..4)
            .map(|k| {
                let mut part = corners;
                part[k] = point;
                volume(part)
            })
            .collect();
        let zero = IBig::from(0);
        let expected = whole != zero
            && parts.iter().all(|part| if whole > zero { *part >= zero } else { *part <= zero });
        assert_eq!(point_in_tetrahedron(point, corners), expected);
        inside += usize::from(expected);
        on_boundary += usize::from(expected && parts.contains(&zero));
        flat += usize::from(whole == zero);
        if expected {
            let weights = barycentric(point, corners);
            let back: Point = (0..4).map(|k| corners[k] * weights[k]).sum();
            assert!((back - point).norm() < 1e-12 && weights.iter().all(|&w| w >= 0.0));
        }
    }
    assert!(inside > 1000 && on_boundary > 1000 && flat > 1000);
}

#[test]
fn neighbours_share_the_points_of_their_common_face_and_no_others() {
    let mut random = Random(7);
    let (mut shared, mut apart) = (0, 0);
    for _ in 0..100_000 {
        let [a, b, c, d, e]: [Point; 5] = std::array::from_fn(|_| small(&mut random, 5));
        let point = small(&mut random, 5);
        let zero = IBig::from(0);
        // Neighbours are on two sides of their face.
        let (above, below) = (volume([a, b, c, d]), volume([a, b, c, e]));
        if &above * &below >= zero {
            continue;
        }
        let in_both =
            point_in_tetrahedron(point, [a, b, c, d]) && point_in_tetrahedron(point, [a, b, c, e]);
        let on_face = volume([a, b, c, point]) == zero && point_in_tetrahedron(point, [a, b, c, d]);
        assert_eq!(in_both, on_face);
        shared += usize::from(in_both);
        apart += usize::from(!in_both);
    }
    assert!(shared > 1000 && apart > 1000);
}

#[test]
fn no_point_falls_between_two_neighbours() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let face: [Point; 3] = std::array::from_fn(|_| random.vector());
        let normal = (face[1] - face[0]).cross(&(face[2] - face[0]));
        let [above, below] =
            [normal * 2.0, -normal * 3.0].map(|n| (face[0] + face[1] + face[2]) / 3.0 + n);
        let (s, t) = (random.unit(), random.unit());
        let (s, t) = if s + t > 1.0 { (1.0 - s, 1.0 - t) } else { (s, t) };
        // Rounded, the point is a little above or below or on the face: never in none.
        let point = face[0] + (face[1] - face[0]) * s + (face[2] - face[0]) * t;
        let margin = s.min(t).min(1.0 - s - t);
        let in_upper = point_in_tetrahedron(point, [face[0], face[1], face[2], above]);
        let in_lower = point_in_tetrahedron(point, [face[2], face[1], face[0], below]);
        assert!(margin < 1e-6 || in_upper || in_lower);
    }
}

/// Whether a segment meets a triangle, told by the distances of many of its points and of the edges; `None`
/// where that is too close to tell.
fn meets_by_sampling(segment: [Point; 2], triangle: [Point; 3]) -> Option<bool> {
    let mut best = f64::INFINITY;
    for k in 0..=200 {
        let point = segment[0] + (segment[1] - segment[0]) * (f64::from(k) / 200.0);
        best = best.min(point_triangle(point, triangle, f64::INFINITY)?.distance);
    }
    for k in 0..3 {
        let edge = [triangle[k], triangle[(k + 1) % 3]];
        best = best.min(edge_edge(segment, edge, f64::INFINITY)?.distance);
    }
    let length = (segment[1] - segment[0]).norm();
    if best < 1e-12 {
        Some(true)
    } else if best > length / 200.0 {
        Some(false)
    } else {
        None
    }
}

#[test]
fn segments_meet_triangles_as_distances_say() {
    let mut random = Random(3);
    let (mut met, mut apart, mut in_plane) = (0, 0, 0);
    for round in 0..40_000 {
        let point = |random: &mut Random| {
            if round % 2 == 0 {
                let mut p = small(random, 4);
                // Half of them in one plane.
                if round % 4 == 0 {
                    p.z = p.x;
                }
                p
            } else {
                random.vector()
            }
        };
        let triangle: [Point; 3] = std::array::from_fn(|_| point(&mut random));
        let segment: [Point; 2] = std::array::from_fn(|_| point(&mut random));
        let [a, b, c] = triangle;
        if (b - a).cross(&(c - a)).norm() == 0.0 {
            assert!(!segment_meets_triangle(segment, triangle), "no area, no hit");
            continue;
        }
        let actual = segment_meets_triangle(segment, triangle);
        if let Some(expected) = meets_by_sampling(segment, triangle) {
            assert_eq!(actual, expected, "{segment:?} {triangle:?}");
            met += usize::from(expected);
            apart += usize::from(!expected);
            in_plane += usize::from(expected && round % 4 == 0);
        }
        assert_eq!(actual, segment_meets_triangle([segment[1], segment[0]], [c, a, b]));
        if actual {
            let found = crossing(segment, triangle);
            let on_segment = segment[0] + (segment[1] - segment[0]) * found.parameter;
            let on_triangle: Point = (0..3).map(|k| triangle[k] * found.weights[k]).sum();
            assert!((on_segment - on_triangle).norm() < 1e-9, "{segment:?} {triangle:?} {found:?}");
        }
    }
    assert!(met > 3000 && apart > 3000 && in_plane > 1000);
}

#[test]
fn closest_points_are_closest() {
    let mut random = Random(4);
    for round in 0..3_000 {
        let lattice = round % 3 == 0;
        let mut point = || if lattice { small(&mut random, 3) } else { random.vector() };
        let triangle: [Point; 3] = std::array::from_fn(|_| point());
        let (p, q, r, s) = (point(), point(), point(), point());
        let nearest = point_triangle(p, triangle, f64::INFINITY).unwrap();
        let on_triangle: Point = (0..3).map(|k| triangle[k] * nearest.second[k]).sum();
        assert!((nearest.distance - (p - on_triangle).norm()).abs() < 1e-12);
        let pair = edge_edge([p, q], [r, s], f64::INFINITY).unwrap();
        let (x, y) =
            (p * pair.first[0] + q * pair.first[1], r * pair.second[0] + s * pair.second[1]);
        assert!((pair.distance - (x - y).norm()).abs() < 1e-12);
        for i in 0..=20 {
            for j in 0..=20 {
                let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                let sample = (p + (q - p) * u) - (r + (s - r) * v);
                assert!(pair.distance <= sample.norm() + 1e-12);
                if i + j <= 20 {
                    let sample = triangle[0] * (1.0 - u - v) + triangle[1] * u + triangle[2] * v;
                    assert!(nearest.distance <= (p - sample).norm() + 1e-12);
                }
            }
        }
        // Just within reach, and just out of it.
        assert!(point_triangle(p, triangle, nearest.distance).is_some());
        assert!(
            nearest.distance < 1e-9
                || point_triangle(p, triangle, nearest.distance * 0.999).is_none()
        );
        assert!(pair.distance < 1e-9 || edge_edge([p, q], [r, s], pair.distance * 0.999).is_none());
    }
}

#[test]
fn weights_of_a_crossing_sum_to_one_also_for_degenerate_triangles() {
    let mut random = Random(77);
    for number in 0..2000 {
        let [p, q, a, b, c] = std::array::from_fn(|_| random.vector());
        let triangle = match number % 4 {
            0 => [a, a, a],
            1 => [a, b, b],
            2 => [a, b, (a + b) * 0.5],
            _ => [a, b, c],
        };
        let crossing = crossing([p, q], triangle);
        let sum: f64 = crossing.weights.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{triangle:?}: {crossing:?}");
        assert!(crossing.weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
        assert!((0.0..=1.0).contains(&crossing.parameter));
    }
    let point = Point::new(1.0, 2.0, 3.0);
    let at_a_point = crossing([point, point + Point::x()], [point; 3]);
    assert_eq!(at_a_point.weights, [1.0 / 3.0; 3]);
}
