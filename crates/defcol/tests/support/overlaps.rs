//! Bodies in each other and the ways to find their depths, for tests of contacts.

use defcol::contact::depth::{ConsistentDepth, DepthParameters, NearestDepth, Normals};
use defcol::contact::{CollidingPoints, Contacts};
use defcol::detect::hash::SpatialHash;
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use defcol_scenes::regular::box_grid;

use crate::support::solids::Solid;

/// Bodies, some of tetrahedra and some surfaces, and where they are.
#[derive(Default)]
pub struct World {
    pub bodies: Bodies,
    pub positions: Vec<Vector3<f64>>,
}

impl World {
    pub fn solid(
        &mut self,
        raw: RawMesh<f64>,
        place: impl Fn(&Vector3<f64>) -> Vector3<f64>,
    ) -> &mut Self {
        let mesh = TetMesh::new(raw).unwrap();
        self.bodies.add_solid(&mesh, Collides::with_all_and_itself());
        self.positions.extend(mesh.positions().iter().map(place));
        self
    }

    pub fn surface(&mut self, solid: &Solid) -> &mut Self {
        let raw = RawMesh {
            positions: solid.positions.clone(),
            triangles: solid.triangles.clone(),
            ..RawMesh::default()
        };
        self.bodies.add_surface(&TriangleMesh::new(raw).unwrap(), Collides::default());
        self.positions.extend(&solid.positions);
        self
    }

    pub fn hits(&self) -> Hits<f64> {
        let mut hits = Hits::default();
        SpatialHash::default()
            .detect(&self.bodies, &self.positions, Questions::default(), &mut hits)
            .unwrap();
        hits
    }

    pub fn points(&self) -> CollidingPoints<f64> {
        let mut points = CollidingPoints::default();
        points.collect(&self.bodies, &self.positions, &self.hits()).unwrap();
        points
    }

    pub fn consistent(&self, parameters: DepthParameters) -> (ConsistentDepth<f64>, Contacts<f64>) {
        let (mut depth, mut contacts) = (ConsistentDepth::with(parameters), Contacts::default());
        depth.find(&self.bodies, &self.positions, &self.points(), &mut contacts).unwrap();
        (depth, contacts)
    }

    pub fn nearest(&self) -> Contacts<f64> {
        let mut contacts = Contacts::default();
        NearestDepth::default()
            .find(&self.bodies, &self.positions, &self.points(), &mut contacts)
            .unwrap();
        contacts
    }
}

pub const NEVER_RESTING: DepthParameters = DepthParameters { normals: Normals::Flat, resting: 0.0 };

/// THESIS figure 6.9: two cubes of 625 tetrahedra, far in each other along x.
///
/// The cubes meet squarely: their sides are in the same planes, which counts as inside. If the second one is thinner, it
/// enters through the side of the first one.
pub fn cubes_in_each_other(deep: f64, thinner: f64) -> World {
    let mut world = World::default();
    world.solid(box_grid([5, 5, 5], 0.2), |p| *p);
    world.solid(box_grid([5, 5, 5], 0.2), |p| {
        let mut place = p + Vector3::new(1.0 - deep, 0.0, 0.0);
        place.y = 0.5 + (p.y - 0.5) * thinner;
        place.z = 0.5 + (p.z - 0.5) * thinner;
        place
    });
    world
}
