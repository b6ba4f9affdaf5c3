//! Exact signs, compared with rational arithmetic.

use dashu_ratio::RBig;
use defcol::math::predicate::{collinear, orient2d, orient3d};
use defcol::math::{Real, Sign, Vector2, Vector3};
use proptest::prelude::*;

fn exact<R: Real>(x: R) -> RBig {
    RBig::try_from(x.to_f64()).unwrap()
}

fn sign(value: &RBig) -> Sign {
    match value.cmp(&RBig::ZERO) {
        std::cmp::Ordering::Less => Sign::Negative,
        std::cmp::Ordering::Equal => Sign::Zero,
        std::cmp::Ordering::Greater => Sign::Positive,
    }
}

fn difference<R: Real>(a: Vector3<R>, b: Vector3<R>) -> [RBig; 3] {
    [0, 1, 2].map(|k| exact(a[k]) - exact(b[k]))
}

fn det2([a, b]: [&RBig; 2], [c, d]: [&RBig; 2]) -> RBig {
    a * d - b * c
}

fn oracle3<R: Real>([a, b, c, d]: [Vector3<R>; 4]) -> Sign {
    let [u, v, w] = [b, c, d].map(|p| difference(p, a));
    let det = &u[0] * det2([&v[1], &v[2]], [&w[1], &w[2]])
        - &u[1] * det2([&v[0], &v[2]], [&w[0], &w[2]])
        + &u[2] * det2([&v[0], &v[1]], [&w[0], &w[1]]);
    sign(&det)
}

fn oracle_collinear<R: Real>([a, b, c]: [Vector3<R>; 3]) -> bool {
    let [u, v] = [b, c].map(|p| difference(p, a));
    [(0, 1), (1, 2), (2, 0)]
        .iter()
        .all(|&(i, j)| det2([&u[i], &u[j]], [&v[i], &v[j]]) == RBig::ZERO)
}

/// Coordinates that make ties likely: few bits, plus now and then one unit in the last place.
fn nasty() -> impl Strategy<Value = f64> {
    (-3i32..=3, -4i32..=4, prop::bool::weighted(0.3)).prop_map(|(mantissa, exponent, nudge)| {
        let x = f64::from(mantissa) * 2f64.powi(exponent);
        if nudge && x != 0.0 { x.next_up() } else { x }
    })
}

/// The whole range in which signs are promised to be exact.
fn wide() -> impl Strategy<Value = f64> {
    prop_oneof![nasty(), (-1.0f64..1.0, -300i32..199).prop_map(|(x, e)| x * 2f64.powi(e)),]
        .prop_map(|x| if x.abs() < 1e-92 { 0.0 } else { x })
}

fn points<const N: usize>(
    coordinate: impl Strategy<Value = f64> + Clone,
) -> impl Strategy<Value = [Vector3<f64>; N]> {
    prop::array::uniform(prop::array::uniform3(coordinate).prop_map(Vector3::from))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn orient3d_is_exact_near_ties(p in points::<4>(nasty().boxed())) {
        prop_assert_eq!(orient3d(p[0], p[1], p[2], p[3]), oracle3(p));
        let single = p.map(|point| point.map(|x| x as f32));
        prop_assert_eq!(orient3d(single[0], single[1], single[2], single[3]), oracle3(single));
    }

    #[test]
    fn orient3d_is_exact_over_the_whole_range(p in points::<4>(wide().boxed())) {
        prop_assert_eq!(orient3d(p[0], p[1], p[2], p[3]), oracle3(p));
    }

    #[test]
    fn orient3d_of_points_in_a_plane_up_to_rounding(
        p in points::<3>((-1.0f64..1.0).boxed()), u in 0.0f64..1.0, v in 0.0f64..1.0,
    ) {
        let d = p[0] + (p[1] - p[0]) * u + (p[2] - p[0]) * v;
        prop_assert_eq!(orient3d(p[0], p[1], p[2], d), oracle3([p[0], p[1], p[2], d]));
    }

    #[test]
    fn collinear_is_exact(p in points::<3>(nasty().boxed()), t in -2i32..3) {
        prop_assert_eq!(collinear(p[0], p[1], p[2]), oracle_collinear(p));
        let on_line = p[0] + (p[1] - p[0]) * f64::from(t);
        prop_assert_eq!(
            collinear(p[0], p[1], on_line), oracle_collinear([p[0], p[1], on_line])
        );
    }
}

#[test]
fn conventions() {
    let [o, x, y, z] = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    assert_eq!(orient3d(o, x, y, z), Sign::Positive);
    assert_eq!(orient3d::<f64>(o, y, x, z), Sign::Negative);
    let [o, x, y] = [Vector2::zeros(), Vector2::x(), Vector2::y()];
    assert_eq!(orient2d::<f32>(o, x, y), Sign::Positive);
}
