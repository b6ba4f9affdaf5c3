//! Bodies come and go.

use std::ops::Range;
use std::sync::Arc;

use super::checks::{check_elastic, check_moduli, check_positive, check_shape, check_vectors};
use super::{BodyId, World};
use crate::error::{InvalidRequest, WorldError};
use crate::math::{Real, Vector3};
use crate::mesh::{TetMesh, TriangleMesh};
use crate::model::{
    Articulated, ConstitutiveLaw, Driven, ElasticModuli, Elements, Embedded, Joint, MassPoints,
    Model, Moduli, Rigid, ShapeMatching, ShapeParameters,
};
use crate::state::{Binding, Collides, Mobility};

/// What a body is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BodyKind {
    /// Finite elements; for solids.
    Elements(ElasticModuli, ConstitutiveLaw),
    /// Mass points that keep distances, areas and volumes.
    MassPoints(Moduli),
    /// Kept in shape.
    Shape(ShapeParameters),
    /// One piece; for solids and closed surfaces.
    Rigid,
    /// It goes where it is told to; until then it stays.
    Driven,
}

/// A body that is not yet in the world.
struct Made<R: Real> {
    rest: Vec<Vector3<R>>,
    masses: Vec<R>,
    model: Model<R>,
}

/// What else is to be said about a body.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyOptions {
    /// Mass per volume of solids and rigid bodies, in kg/m³.
    pub density: f64,
    /// Mass per area of surfaces that are not rigid, in kg/m².
    pub area_density: f64,
    /// Mass of each particle, in kg.
    pub particle_mass: f64,
    /// With whom it may collide.
    pub collides: Collides,
    /// Where it starts: added to the positions of its mesh.
    pub position: Vector3<f64>,
    /// How fast it starts.
    pub velocity: Vector3<f64>,
}

impl Default for BodyOptions {
    fn default() -> Self {
        Self {
            density: 100.0,
            area_density: 100.0,
            particle_mass: 100.0,
            collides: Collides::default(),
            position: Vector3::zeros(),
            velocity: Vector3::zeros(),
        }
    }
}

impl Default for BodyKind {
    /// Soft foam of finite elements.
    fn default() -> Self {
        Self::Elements(ElasticModuli::default(), ConstitutiveLaw::default())
    }
}

impl<R: Real> World<R> {
    /// Adds a solid. The mesh is its shape at rest.
    pub fn add_solid(
        &mut self,
        mesh: &TetMesh<R>,
        material: BodyKind,
        options: &BodyOptions,
    ) -> Result<BodyId, WorldError> {
        let made = self.solid(mesh, material, options)?;
        Arc::make_mut(&mut self.state.system.bodies).add_solid(mesh, options.collides);
        Ok(self.insert(made, options))
    }

    /// Makes a body anew, of another mesh or another material: after a cut, for example. It keeps its number, the draggers
    /// at it and with whom it collides; it starts where and as fast as `options` say, see also [`World::set_positions`] and
    /// [`World::set_velocities`].
    ///
    /// A body that carries another cannot be replaced, nor one with a dragger at a vertex that is not there any more.
    ///
    /// ```
    /// use defcol::mesh::TetMesh;
    /// use defcol::world::{BodyKind, BodyOptions, World};
    /// use defcol_scenes::regular::box_grid;
    ///
    /// let mut world = World::<f64>::default();
    /// let bar = TetMesh::new(box_grid([4, 1, 1], 0.1))?;
    /// let id = world.add_solid(&bar, BodyKind::Rigid, &BodyOptions::default())?;
    /// world.step()?;
    /// let half = TetMesh::new(box_grid([2, 1, 1], 0.1))?;
    /// world.replace_solid(id, &half, BodyKind::Rigid, &BodyOptions::default())?;
    /// world.step()?;
    /// assert_eq!(world.positions(id)?.len(), half.positions().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace_solid(
        &mut self,
        id: BodyId,
        mesh: &TetMesh<R>,
        material: BodyKind,
        options: &BodyOptions,
    ) -> Result<(), WorldError> {
        let index = self.index(id)?;
        self.check_carries_none(id)?;
        let vertices = mesh.positions().len();
        for dragger in self.scene.draggers.values() {
            for (body, own) in dragger.ends() {
                let lost = own.into_iter().find(|&vertex| vertex as usize >= vertices);
                if let Some(vertex) = lost.filter(|_| body == id) {
                    return Err(WorldError::NoSuchVertex { body: id.number(), vertex, vertices });
                }
            }
        }
        let made = self.solid(mesh, material, options)?;
        let own = Arc::make_mut(&mut self.state.system.bodies).replace_with_solid(index, mesh);
        self.put(index, own, made, options);
        Ok(())
    }

    /// What a solid is made of.
    fn solid(
        &self,
        mesh: &TetMesh<R>,
        material: BodyKind,
        options: &BodyOptions,
    ) -> Result<Made<R>, WorldError> {
        let rest = self.placed(mesh.positions(), options)?;
        let tetrahedra = mesh.tetrahedra();
        let masses = lumped(&rest, tetrahedra, |corners: [Vector3<R>; 4]| {
            let [a, b, c, d] = corners;
            (b - a).cross(&(c - a)).dot(&(d - a)).abs().to_f64() / 6.0 * options.density
        });
        let model = match material {
            BodyKind::Elements(elastic, elasticity) => {
                check_elastic(&elastic)?;
                Model::Elements(Elements::new(&rest, tetrahedra, elastic, elasticity))
            }
            BodyKind::MassPoints(moduli) => {
                check_moduli(&moduli)?;
                let surface = mesh.surface();
                let number = |v: u32| surface.vertices()[v as usize];
                let triangles: Vec<_> =
                    surface.triangles().iter().map(|corners| corners.map(number)).collect();
                let edges = mesh.edges().ends();
                Model::MassPoints(MassPoints::new(&rest, edges, &triangles, tetrahedra, moduli))
            }
            BodyKind::Shape(parameters) => {
                check_shape(&parameters)?;
                Model::Shape(ShapeMatching::new(&rest, &masses, parameters))
            }
            BodyKind::Rigid => rigid(&rest, mesh.mass_properties(), options)?,
            BodyKind::Driven => Model::Driven(Driven::still()),
        };
        Ok(Made { rest, masses, model })
    }

    /// Adds a surface. The mesh is its shape at rest.
    pub fn add_surface(
        &mut self,
        mesh: &TriangleMesh<R>,
        material: BodyKind,
        options: &BodyOptions,
    ) -> Result<BodyId, WorldError> {
        let rest = self.placed(mesh.positions(), options)?;
        let masses = surface_masses(&rest, mesh.triangles(), options);
        let model = match material {
            BodyKind::Elements(..) => {
                return Err(InvalidRequest::ElementsNeedTetrahedra.into());
            }
            BodyKind::MassPoints(moduli) => {
                check_moduli(&moduli)?;
                let (edges, triangles) = (mesh.edges().ends(), mesh.triangles());
                Model::MassPoints(MassPoints::new(&rest, edges, triangles, &[], moduli))
            }
            BodyKind::Shape(parameters) => {
                check_shape(&parameters)?;
                Model::Shape(ShapeMatching::new(&rest, &masses, parameters))
            }
            BodyKind::Rigid => rigid(&rest, mesh.mass_properties(), options)?,
            BodyKind::Driven => Model::Driven(Driven::still()),
        };
        Arc::make_mut(&mut self.state.system.bodies).add_surface(mesh, options.collides);
        Ok(self.insert(Made { rest, masses, model }, options))
    }

    /// Adds points without forces between them.
    pub fn add_particles(
        &mut self,
        points: &[Vector3<R>],
        options: &BodyOptions,
    ) -> Result<BodyId, WorldError> {
        let rest = self.placed(points, options)?;
        let masses = vec![R::nearest(options.particle_mass); rest.len()];
        Arc::make_mut(&mut self.state.system.bodies).add_points(rest.len(), options.collides);
        Ok(self.insert(Made { rest, masses, model: Model::Particles }, options))
    }

    /// Adds a skin that follows joints: a binding for each vertex.
    pub fn add_articulated(
        &mut self,
        mesh: &TriangleMesh<R>,
        bindings: Vec<Binding<R>>,
        joints: Vec<Joint>,
        options: &BodyOptions,
    ) -> Result<BodyId, WorldError> {
        let rest = self.placed(mesh.positions(), options)?;
        if bindings.len() != rest.len() {
            let (given, expected) = (bindings.len(), rest.len());
            return Err(WorldError::Count { what: "bindings", given, expected });
        }
        let joints = joints
            .into_iter()
            .map(|joint| Joint { pivot: joint.pivot + options.position, ..joint })
            .collect();
        let masses = surface_masses(&rest, mesh.triangles(), options);
        let model =
            Articulated::new(&rest, bindings, &masses, joints).ok_or(InvalidRequest::Joints)?;
        Arc::make_mut(&mut self.state.system.bodies).add_surface(mesh, options.collides);
        Ok(self.insert(Made { rest, masses, model: Model::Articulated(model) }, options))
    }

    /// Adds a surface that is blended between its mesh and other shapes, by [`World::set_weights`].
    pub fn add_morphed(
        &mut self,
        mesh: &TriangleMesh<R>,
        targets: &[Vec<Vector3<R>>],
        options: &BodyOptions,
    ) -> Result<BodyId, WorldError> {
        let rest = self.placed(mesh.positions(), options)?;
        let mut moved = vec![];
        for target in targets {
            if target.len() != rest.len() {
                let (given, expected) = (target.len(), rest.len());
                return Err(WorldError::Count { what: "positions of a target", given, expected });
            }
            moved.push(self.placed(target, options)?);
        }
        let masses = surface_masses(&rest, mesh.triangles(), options);
        Arc::make_mut(&mut self.state.system.bodies).add_surface(mesh, options.collides);
        let model = Model::Driven(Driven::morphed(rest.clone(), moved));
        Ok(self.insert(Made { rest, masses, model }, options))
    }

    /// Adds a surface that the tetrahedra of another body carry: for each vertex four vertices of the carrier, with
    /// weights of the sum 1. What collides is then up to the options of both.
    pub fn add_embedded(
        &mut self,
        mesh: &TriangleMesh<R>,
        carrier: BodyId,
        anchors: Vec<([u32; 4], [R; 4])>,
        options: &BodyOptions,
    ) -> Result<BodyId, WorldError> {
        let index = self.index(carrier)?;
        if !self.state.system.models[index].has_free_vertices() {
            return Err(InvalidRequest::Host.into());
        }
        let own = self.range(carrier)?;
        if anchors.len() != mesh.positions().len() {
            let (given, expected) = (anchors.len(), mesh.positions().len());
            return Err(WorldError::Count { what: "anchors", given, expected });
        }
        let all = anchors.iter().flat_map(|anchor| anchor.0);
        if let Some(vertex) = all.into_iter().find(|&vertex| vertex as usize >= own.len()) {
            let (body, vertices) = (carrier.number(), own.len());
            return Err(WorldError::NoSuchVertex { body, vertex, vertices });
        }
        if anchors.iter().flat_map(|anchor| anchor.1).any(|weight| !weight.is_finite()) {
            return Err(InvalidRequest::EmbeddingWeights.into());
        }
        let embedded = Embedded { carrier: index, anchors: anchors.into() };
        let mut rest = vec![Vector3::zeros(); mesh.positions().len()];
        embedded.follow(&self.state.system.rest[own.clone()], &mut rest);
        check_vectors("positions that the anchors lead to", &rest, rest.len())?;
        let masses = vec![R::zero(); rest.len()];
        Arc::make_mut(&mut self.state.system.bodies).add_surface(mesh, options.collides);
        let made = Made { rest, masses, model: Model::Embedded(embedded) };
        let id = self.insert(made, &BodyOptions { velocity: Vector3::zeros(), ..options.clone() });
        self.weigh_carried();
        self.state.system.place();
        Ok(id)
    }

    /// Removes a body, and the draggers at it.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), WorldError> {
        let index = self.index(id)?;
        self.check_carries_none(id)?;
        self.scene.bodies.remove(id)?;
        let vertices = Arc::make_mut(&mut self.state.system.bodies).remove(index);
        self.state.system.motion.replace(vertices.clone(), &[], &[], Mobility::Immovable);
        Arc::make_mut(&mut self.state.system.rest).drain(vertices);
        self.state.system.thickness.remove(index);
        self.state.system.models.remove(index);
        for model in &mut self.state.system.models {
            if let Model::Embedded(embedded) = model
                && embedded.carrier > index
            {
                embedded.carrier -= 1;
            }
        }
        self.scene.draggers.retain(|dragger| dragger.ends().all(|(body, _)| body != id));
        self.scene.detection.retain(|(pair, _)| !pair.contains(&id));
        self.restart_solver();
        Ok(())
    }

    fn check_carries_none(&self, id: BodyId) -> Result<(), WorldError> {
        let index = self.index(id)?;
        for (carried, model) in self.state.system.models.iter().enumerate() {
            if let Model::Embedded(embedded) = model
                && embedded.carrier == index
            {
                let carried = self.scene.bodies.handles()[carried].number();
                return Err(WorldError::Carries { carrier: id.number(), carried });
            }
        }
        Ok(())
    }

    /// Where vertices start, if all is well.
    fn placed(
        &self,
        positions: &[Vector3<R>],
        options: &BodyOptions,
    ) -> Result<Vec<Vector3<R>>, WorldError> {
        check_positive("density", options.density)?;
        check_positive("area_density", options.area_density)?;
        check_positive("particle_mass", options.particle_mass)?;
        check_vectors("velocities", &[options.velocity], 1)?;
        let shift = options.position.map(R::nearest);
        let moved: Vec<Vector3<R>> = positions.iter().map(|place| place + shift).collect();
        check_vectors("positions", &moved, positions.len())?;
        Ok(moved)
    }

    /// Puts a body behind all others.
    fn insert(&mut self, made: Made<R>, options: &BodyOptions) -> BodyId {
        let (index, end) =
            (self.state.system.models.len(), self.state.system.motion.positions.len());
        let id = self.scene.bodies.insert(());
        self.put(index, end..end, made, options);
        id
    }

    /// Computes the thickness of a body at rest and puts it in its place.
    fn put_thickness(&mut self, index: usize, rest: &[Vector3<R>]) {
        let system = &mut self.state.system;
        let body = &system.bodies.list()[index];
        let first = body.vertices.start as u32;
        let corners = system.bodies.triangles()[body.triangles.clone()].iter();
        let [volume, area] = corners.fold([0.0; 2], |[volume, area], corners| {
            let [a, b, c] = corners.map(|corner| rest[(corner - first) as usize].map(R::to_f64));
            let normal = (b - a).cross(&(c - a));
            [volume + a.dot(&normal) / 6.0, area + normal.norm() / 2.0]
        });
        let hollow = !system.bodies.is_closed(index) || area == 0.0;
        let thickness = if hollow { 0.0 } else { 2.0 * volume.abs() / area };
        let behind = system.thickness.len().min(index + 1);
        system.thickness.splice(index..behind, [thickness]);
    }

    /// Puts a body in the place of another with these vertices, or behind all.
    fn put(&mut self, index: usize, old: Range<usize>, made: Made<R>, options: &BodyOptions) {
        let Made { rest, mut masses, model } = made;
        let movable = model.has_free_vertices();
        if let Model::Rigid(rigid) = &model {
            // For the stiffness of contacts only.
            masses.fill(rigid.mass / R::nearest(rest.len() as f64));
        }
        let mobility = if movable || matches!(model, Model::Rigid(_) | Model::Articulated(_)) {
            Mobility::Movable
        } else {
            Mobility::Immovable
        };
        self.state.system.motion.replace(old.clone(), &rest, &masses, mobility);
        let own = old.start..old.start + rest.len();
        self.put_thickness(index, &rest);
        Arc::make_mut(&mut self.state.system.rest).splice(old, rest);
        let motion = &mut self.state.system.motion;
        let velocity = options.velocity.map(R::nearest);
        match &model {
            Model::Rigid(rigid) => {
                rigid.start(&mut motion.coordinates[own.clone()]);
                motion.rates[own.start] = velocity;
            }
            Model::Articulated(skin) => {
                motion.coordinates[own.clone()].fill(Vector3::zeros());
                skin.start(&mut motion.coordinates[own]);
            }
            _ if movable => motion.rates[own].fill(velocity),
            _ => {}
        }
        let behind = self.state.system.models.len().min(index + 1);
        self.state.system.models.splice(index..behind, [model]);
        self.state.system.place();
        self.state.system.follow_rates();
        self.restart_solver();
    }
}

fn rigid<R: Real>(
    rest: &[Vector3<R>],
    mut solid: crate::mesh::MassProperties,
    options: &BodyOptions,
) -> Result<Model<R>, WorldError> {
    solid.centroid += options.position;
    Ok(Rigid::new(rest, &solid, options.density)
        .map(Model::Rigid)
        .ok_or(InvalidRequest::RigidNeedsVolume)?)
}

fn surface_masses<R: Real>(
    rest: &[Vector3<R>],
    triangles: &[[u32; 3]],
    options: &BodyOptions,
) -> Vec<R> {
    lumped(rest, triangles, |[a, b, c]: [Vector3<R>; 3]| {
        (b - a).cross(&(c - a)).norm().to_f64() / 2.0 * options.area_density
    })
}

/// The mass of each primitive shared out among its corners. A vertex of no primitive gets a little, so that it moves.
fn lumped<R: Real, const N: usize>(
    rest: &[Vector3<R>],
    primitives: &[[u32; N]],
    mass: impl Fn([Vector3<R>; N]) -> f64,
) -> Vec<R> {
    let mut masses = vec![0.0; rest.len()];
    for corners in primitives {
        let share = mass(corners.map(|corner| rest[corner as usize])) / N as f64;
        corners.iter().for_each(|&corner| masses[corner as usize] += share);
    }
    let mean = masses.iter().sum::<f64>() / masses.len().max(1) as f64;
    let least = (mean * 1e-6).max(1e-30);
    masses.into_iter().map(|mass: f64| R::nearest(mass.max(least))).collect()
}
