//! Random scenes of every nasty kind, for tests that compare detectors.

use defcol::math::{Real, Vector3};
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};

/// Small reproducible random numbers (splitmix64).
#[derive(Clone, Copy)]
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| 2.0 * self.unit() - 1.0)
    }
}

/// What is nasty about a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Primitives of about one size at random places.
    Soup,
    /// Corners on a coarse lattice: shared faces, edges and corners, points on planes, cells on borders.
    Lattice,
    /// Flat tetrahedra, needles, corners at the same place.
    Degenerate,
    /// Sizes that differ by a factor of a million.
    Sizes,
    /// Small primitives far from the origin, and clusters far apart.
    Far,
    /// One primitive that covers everything.
    Giant,
}

pub const KINDS: [Kind; 6] =
    [Kind::Soup, Kind::Lattice, Kind::Degenerate, Kind::Sizes, Kind::Far, Kind::Giant];

/// Bodies and their positions.
pub struct Scene<R: Real> {
    pub bodies: Bodies,
    pub positions: Vec<Vector3<R>>,
}

/// A primitive's corners around a place.
fn corners(kind: Kind, random: &mut Random, count: usize) -> Vec<Vector3<f64>> {
    let spread = 4.0;
    let place = random.vector() * spread;
    match kind {
        Kind::Soup => (0..count).map(|_| place + random.vector()).collect(),
        Kind::Lattice => {
            (0..count).map(|_| (place + random.vector() * 1.5).map(|x| (x * 1.0).round())).collect()
        }
        Kind::Degenerate => {
            let (along, across) = (random.vector(), random.vector());
            let flat = random.below(4);
            (0..count)
                .map(|_| {
                    let (s, t) = (random.unit(), random.unit());
                    match flat {
                        0 => place.map(f64::round) + along * s + across * t,
                        1 => place.map(f64::round) + along * (s * 4.0).round(),
                        2 => place.map(|x| x.round()),
                        _ => place.map(f64::round) + random.vector().map(f64::round),
                    }
                })
                .collect()
        }
        Kind::Sizes => {
            let size = 10f64.powf(6.0 * random.unit() - 5.0);
            (0..count).map(|_| place + random.vector() * size).collect()
        }
        Kind::Far => {
            let cluster = [1e3, -1e3, 2e5][random.below(3)];
            (0..count)
                .map(|_| place * 0.2 + random.vector() * 0.3 + Vector3::repeat(cluster))
                .collect()
        }
        Kind::Giant => {
            let size = if random.chance(0.02) { 1e5 } else { 0.5 };
            (0..count).map(|_| place + random.vector() * size).collect()
        }
    }
}

/// Primitives that share some of their corners.
fn soup<const N: usize>(
    kind: Kind,
    random: &mut Random,
    count: usize,
) -> (Vec<Vector3<f64>>, Vec<[u32; N]>) {
    let (mut positions, mut primitives) = (Vec::new(), Vec::<[u32; N]>::new());
    for _ in 0..count {
        let first = positions.len() as u32;
        positions.extend(corners(kind, random, N));
        let mut primitive: [u32; N] = std::array::from_fn(|k| first + k as u32);
        if let Some(&other) = primitives.last().filter(|_| random.chance(0.5)) {
            let shared = 1 + random.below(N - 1);
            primitive[..shared].copy_from_slice(&other[..shared]);
        }
        primitives.push(primitive);
    }
    (positions, primitives)
}

/// A scene with a few bodies of `count` primitives each, solids and surfaces.
pub fn scene<R: Real>(kind: Kind, seed: u64, count: usize) -> Scene<R> {
    let mut random = Random(seed);
    let (mut bodies, mut positions) = (Bodies::default(), Vec::new());
    for body in 0..1 + random.below(4) {
        let collides = Collides {
            enabled: random.chance(0.9),
            with_itself: random.chance(0.7) || body == 0,
            group: if random.chance(0.8) { u32::MAX } else { 1 },
            mask: if random.chance(0.8) { u32::MAX } else { 2 },
        };
        let mut raw = RawMesh::<f64>::default();
        let solid = random.chance(0.7);
        if solid {
            (raw.positions, raw.tetrahedra) = soup(kind, &mut random, count);
        } else {
            (raw.positions, raw.triangles) = soup(kind, &mut random, count);
        }
        let raw = raw.cast::<R>();
        positions.extend_from_slice(&raw.positions);
        if solid {
            bodies.add_solid(&TetMesh::new(raw).unwrap(), collides);
        } else {
            bodies.add_surface(&TriangleMesh::new(raw).unwrap(), collides);
        }
    }
    if random.chance(0.3) {
        let points = 20;
        bodies.add_points(points, Collides::default());
        positions.extend((0..points).map(|_| (random.vector() * 4.0).map(R::nearest)));
    }
    Scene { bodies, positions }
}

/// A surface of `count` triangles that share some of their corners.
pub fn surface<R: Real>(kind: Kind, random: &mut Random, count: usize) -> TriangleMesh<R> {
    let (positions, triangles) = soup(kind, random, count);
    TriangleMesh::new(RawMesh { positions, triangles, tetrahedra: vec![] }.cast()).unwrap()
}
