//! Which numbers bodies may be made of.

use super::parameters::HUGE;
use crate::error::WorldError;
use crate::math::{Real, Vector3};
use crate::model::{ElasticModuli, Matching, Moduli, ShapeParameters};

pub(super) fn check_vectors<R: Real>(
    what: &'static str,
    vectors: &[Vector3<R>],
    expected: usize,
) -> Result<(), WorldError> {
    let given = vectors.len();
    if given != expected {
        return Err(WorldError::Count { what, given, expected });
    }
    let usable = |x: &R| x.is_finite() && x.to_f64().abs() <= R::MAX_COORDINATE;
    match vectors.iter().flat_map(|vector| vector.iter()).find(|x| !usable(x)) {
        Some(x) => {
            let (value, allowed) = (x.to_f64(), "finite and not huge");
            Err(WorldError::Parameter { name: what, value, allowed })
        }
        None => Ok(()),
    }
}

fn check_number(
    name: &'static str,
    value: f64,
    good: bool,
    allowed: &'static str,
) -> Result<(), WorldError> {
    if good { Ok(()) } else { Err(WorldError::Parameter { name, value, allowed }) }
}

pub(super) fn check_elastic(elastic: &ElasticModuli) -> Result<(), WorldError> {
    let ElasticModuli { young, poisson, damping } = *elastic;
    check_positive("young", young)?;
    check_number("poisson", poisson, (0.0..=0.49).contains(&poisson), "from 0 to 0.49")?;
    check_not_negative("damping", damping)
}

pub(super) fn check_positive(name: &'static str, value: f64) -> Result<(), WorldError> {
    check_number(name, value, (1.0 / HUGE..=HUGE).contains(&value), "from 1e-30 to 1e30")
}

pub(super) fn check_not_negative(name: &'static str, value: f64) -> Result<(), WorldError> {
    check_number(name, value, (0.0..=HUGE).contains(&value), "from 0 to 1e30")
}

pub(super) fn check_moduli(moduli: &Moduli) -> Result<(), WorldError> {
    for (name, value) in [
        ("moduli.distance", moduli.distance),
        ("moduli.area", moduli.area),
        ("moduli.volume", moduli.volume),
        ("moduli.damping", moduli.damping),
        ("moduli.creep", moduli.creep),
    ] {
        check_not_negative(name, value)?;
    }
    let value = moduli.yield_strain;
    check_number("moduli.yield_strain", value, value > 0.0, "positive; infinite means never")
}

pub(super) fn check_shape(shape: &ShapeParameters) -> Result<(), WorldError> {
    let (value, most) = (shape.frequency, 1e4);
    check_number("shape.frequency", value, value > 0.0 && value <= most, "positive, up to 10000")?;
    for (name, value) in [
        ("shape.creep", shape.creep),
        ("shape.largest_strain", shape.largest_strain),
        ("shape.damping", shape.damping),
    ] {
        check_not_negative(name, value)?;
    }
    let value = shape.yield_strain;
    check_number("shape.yield_strain", value, value > 0.0, "positive; infinite means never")?;
    let share = match shape.matching {
        Matching::Rigid => 0.0,
        Matching::Linear(share) | Matching::Quadratic(share) => share,
    };
    check_number("shape.matching", share, (0.0..=1.0).contains(&share), "from 0 to 1")?;
    let clusters = f64::from(shape.clusters);
    check_number("shape.clusters", clusters, (1.0..=64.0).contains(&clusters), "from 1 to 64")
}
