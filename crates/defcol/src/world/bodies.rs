//! Bodies come, change and go.

use std::ops::Range;

use super::parameters::HUGE;
use super::{DragGoal, Dragger, Id, World};
use crate::error::WorldError;
use crate::math::{Real, Vector3};
use crate::mesh::{TetMesh, TriangleMesh};
use crate::model::{
    Articulated, Driven, Elastic, Elasticity, Elements, Embedded, Joint, MassPoints, Model, Moduli,
    Rigid, ShapeMatching, ShapeParameters,
};
use crate::state::{Binding, Collides};

/// What a body is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Material {
    /// Finite elements; for solids.
    Elements(Elastic, Elasticity),
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
pub struct Options {
    /// Mass per volume in kg/m³; of surfaces that are not rigid mass per area in kg/m²; of particles mass of each in kg.
    pub density: f64,
    /// With whom it may collide.
    pub collides: Collides,
    /// Where it starts: added to the positions of its mesh.
    pub position: Vector3<f64>,
    /// How fast it starts.
    pub velocity: Vector3<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            density: 100.0,
            collides: Collides::default(),
            position: Vector3::zeros(),
            velocity: Vector3::zeros(),
        }
    }
}

impl<R: Real> World<R> {
    /// Adds a solid. The mesh is its shape at rest.
    pub fn add_solid(
        &mut self,
        mesh: &TetMesh<R>,
        material: Material,
        options: &Options,
    ) -> Result<Id, WorldError> {
        let made = self.solid(mesh, material, options)?;
        self.system.bodies.add_solid(mesh, options.collides);
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
    /// use defcol::world::{Material, Options, World};
    /// use defcol_scenes::regular::box_grid;
    ///
    /// let mut world = World::<f64>::default();
    /// let bar = TetMesh::new(box_grid([4, 1, 1], 0.1))?;
    /// let id = world.add_solid(&bar, Material::Rigid, &Options::default())?;
    /// world.step()?;
    /// let half = TetMesh::new(box_grid([2, 1, 1], 0.1))?;
    /// world.replace_solid(id, &half, Material::Rigid, &Options::default())?;
    /// world.step()?;
    /// assert_eq!(world.positions(id)?.len(), half.positions().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace_solid(
        &mut self,
        id: Id,
        mesh: &TetMesh<R>,
        material: Material,
        options: &Options,
    ) -> Result<(), WorldError> {
        let index = self.index(id)?;
        self.check_carries_none(id)?;
        let vertices = mesh.positions().len();
        for dragger in self.draggers.iter() {
            for (body, own) in dragger.ends() {
                let lost = own.into_iter().find(|&vertex| vertex as usize >= vertices);
                if let Some(vertex) = lost.filter(|_| body == id) {
                    return Err(WorldError::NoSuchVertex { body: id.number(), vertex, vertices });
                }
            }
        }
        let made = self.solid(mesh, material, options)?;
        let own = self.system.bodies.replace_with_solid(index, mesh);
        self.put(index, own, made, options);
        self.contacts.clear();
        self.loads.volume_count = 0;
        Ok(())
    }

    /// What a solid is made of.
    fn solid(
        &self,
        mesh: &TetMesh<R>,
        material: Material,
        options: &Options,
    ) -> Result<Made<R>, WorldError> {
        let rest = self.placed(mesh.positions(), options)?;
        let tetrahedra = mesh.tetrahedra();
        let masses = lumped(&rest, tetrahedra, |corners: [Vector3<R>; 4]| {
            let [a, b, c, d] = corners;
            (b - a).cross(&(c - a)).dot(&(d - a)).abs().to_f64() / 6.0 * options.density
        });
        let model = match material {
            Material::Elements(elastic, elasticity) => {
                check_elastic(&elastic)?;
                Model::Elements(Elements::new(&rest, tetrahedra, elastic, elasticity))
            }
            Material::MassPoints(moduli) => {
                check_moduli(&moduli)?;
                let surface = mesh.surface();
                let number = |v: u32| surface.vertices()[v as usize];
                let triangles: Vec<_> =
                    surface.triangles().iter().map(|corners| corners.map(number)).collect();
                let edges = mesh.edges().ends();
                Model::MassPoints(MassPoints::new(&rest, edges, &triangles, tetrahedra, moduli))
            }
            Material::Shape(parameters) => {
                check_shape(&parameters)?;
                Model::Shape(ShapeMatching::new(&rest, &masses, parameters))
            }
            Material::Rigid => rigid(&rest, mesh.mass_properties(), options)?,
            Material::Driven => Model::Driven(Driven::still()),
        };
        Ok(Made { rest, masses, model })
    }

    /// Adds a surface. The mesh is its shape at rest.
    pub fn add_surface(
        &mut self,
        mesh: &TriangleMesh<R>,
        material: Material,
        options: &Options,
    ) -> Result<Id, WorldError> {
        let rest = self.placed(mesh.positions(), options)?;
        let masses = surface_masses(&rest, mesh.triangles(), options);
        let model = match material {
            Material::Elements(..) => {
                return Err(WorldError::Unfit(
                    "finite elements need tetrahedra; tetrahedralize the surface, or choose mass points",
                ));
            }
            Material::MassPoints(moduli) => {
                check_moduli(&moduli)?;
                let (edges, triangles) = (mesh.edges().ends(), mesh.triangles());
                Model::MassPoints(MassPoints::new(&rest, edges, triangles, &[], moduli))
            }
            Material::Shape(parameters) => {
                check_shape(&parameters)?;
                Model::Shape(ShapeMatching::new(&rest, &masses, parameters))
            }
            Material::Rigid => rigid(&rest, mesh.mass_properties(), options)?,
            Material::Driven => Model::Driven(Driven::still()),
        };
        self.system.bodies.add_surface(mesh, options.collides);
        Ok(self.insert(Made { rest, masses, model }, options))
    }

    /// Adds points without forces between them.
    pub fn add_particles(
        &mut self,
        points: &[Vector3<R>],
        options: &Options,
    ) -> Result<Id, WorldError> {
        let rest = self.placed(points, options)?;
        let masses = vec![R::nearest(options.density); rest.len()];
        self.system.bodies.add_points(rest.len(), options.collides);
        Ok(self.insert(Made { rest, masses, model: Model::Particles }, options))
    }

    /// Adds a skin that follows joints: a binding for each vertex.
    pub fn add_articulated(
        &mut self,
        mesh: &TriangleMesh<R>,
        bindings: Vec<Binding<R>>,
        joints: Vec<Joint>,
        options: &Options,
    ) -> Result<Id, WorldError> {
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
        let model = Articulated::new(&rest, bindings, &masses, joints).ok_or(WorldError::Unfit(
            "the joints do not fit: each needs an axis, limits in order and a parent before it, bindings must name \
             joints that exist, and there may be no more joints than vertices, or 256",
        ))?;
        self.system.bodies.add_surface(mesh, options.collides);
        Ok(self.insert(Made { rest, masses, model: Model::Articulated(model) }, options))
    }

    /// Adds a surface that is blended between its mesh and other shapes, by [`World::set_weights`].
    pub fn add_morphed(
        &mut self,
        mesh: &TriangleMesh<R>,
        targets: &[Vec<Vector3<R>>],
        options: &Options,
    ) -> Result<Id, WorldError> {
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
        self.system.bodies.add_surface(mesh, options.collides);
        let model = Model::Driven(Driven::morphed(rest.clone(), moved));
        Ok(self.insert(Made { rest, masses, model }, options))
    }

    /// Adds a surface that the tetrahedra of another body carry: for each vertex four vertices of the carrier, with
    /// weights of the sum 1. What collides is then up to the options of both.
    pub fn add_embedded(
        &mut self,
        mesh: &TriangleMesh<R>,
        carrier: Id,
        anchors: Vec<([u32; 4], [R; 4])>,
        options: &Options,
    ) -> Result<Id, WorldError> {
        let index = self.index(carrier)?;
        if !self.system.models[index].has_free_vertices() {
            return Err(WorldError::Unfit(
                "only bodies whose vertices move on their own carry others",
            ));
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
            return Err(WorldError::Unfit("the weights of anchors must be finite"));
        }
        let embedded = Embedded { carrier: index, anchors };
        let mut rest = vec![Vector3::zeros(); mesh.positions().len()];
        embedded.follow(&self.system.rest[own.clone()], &mut rest);
        check_vectors("positions that the anchors lead to", &rest, rest.len())?;
        let masses = vec![R::zero(); rest.len()];
        self.system.bodies.add_surface(mesh, options.collides);
        let made = Made { rest, masses, model: Model::Embedded(embedded) };
        let id = self.insert(made, &Options { velocity: Vector3::zeros(), ..options.clone() });
        self.weigh_carried();
        self.system.place();
        Ok(id)
    }

    /// Removes a body, and the draggers at it.
    pub fn remove_body(&mut self, id: Id) -> Result<(), WorldError> {
        let index = self.index(id)?;
        self.check_carries_none(id)?;
        self.ids.remove(id, "body")?;
        let vertices = self.system.bodies.remove(index);
        self.system.motion.replace(vertices.clone(), &[], &[], false);
        self.system.rest.drain(vertices);
        self.system.models.remove(index);
        for model in &mut self.system.models {
            if let Model::Embedded(embedded) = model
                && embedded.carrier > index
            {
                embedded.carrier -= 1;
            }
        }
        self.draggers.retain(|dragger| dragger.ends().all(|(body, _)| body != id));
        self.chosen.retain(|(pair, _)| !pair.contains(&id));
        self.contacts.clear();
        self.loads.volume_count = 0;
        self.forget();
        Ok(())
    }

    fn check_carries_none(&self, id: Id) -> Result<(), WorldError> {
        let index = self.index(id)?;
        for (carried, model) in self.system.models.iter().enumerate() {
            if let Model::Embedded(embedded) = model
                && embedded.carrier == index
            {
                let carried = self.ids.id(carried).number();
                return Err(WorldError::Carries { carrier: id.number(), carried });
            }
        }
        Ok(())
    }

    /// Pulls every vertex of a body to the vertex of the same number of another one, as flesh to a skeleton that its skin
    /// hangs on: add the skin with joints and let it collide with nothing, add the same mesh made of something soft, and
    /// attach it. Returns a dragger for each vertex.
    pub fn attach(
        &mut self,
        id: Id,
        to: Id,
        stiffness: f64,
        damping: f64,
    ) -> Result<Vec<Id>, WorldError> {
        let (given, expected) = (self.range(id)?.len(), self.range(to)?.len());
        if given != expected {
            return Err(WorldError::Count { what: "vertices to attach", given, expected });
        }
        if id == to {
            return Err(WorldError::Unfit("a body cannot be attached to itself"));
        }
        let dragger = |vertex: u32| Dragger {
            goal: DragGoal::Body { body: to, vertices: [vertex; 4], weights: [1.0, 0.0, 0.0, 0.0] },
            ..Dragger::new(id, vertex, Vector3::zeros(), stiffness, damping)
        };
        (0..given as u32).map(|vertex| self.add_dragger(dragger(vertex))).collect()
    }

    /// All bodies, in the order in which they were added.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Id> {
        (0..self.system.bodies.len()).map(|index| self.ids.id(index))
    }

    /// Where the vertices of a body are.
    pub fn positions(&self, id: Id) -> Result<&[Vector3<R>], WorldError> {
        Ok(&self.system.motion.positions[self.range(id)?])
    }

    /// How the vertices of a body move.
    pub fn velocities(&self, id: Id) -> Result<&[Vector3<R>], WorldError> {
        Ok(&self.system.motion.velocities[self.range(id)?])
    }

    /// The mass of a body, in kg.
    pub fn mass(&self, id: Id) -> Result<f64, WorldError> {
        let index = self.index(id)?;
        let own = self.range(id)?;
        Ok(match &self.system.models[index] {
            Model::Rigid(rigid) => rigid.mass.to_f64(),
            _ => self.system.motion.masses[own].iter().map(|mass| mass.to_f64()).sum(),
        })
    }

    /// Sets where the vertices of a body are that move on their own, or sets the goal of a driven body for the end of the
    /// next frame.
    pub fn set_positions(&mut self, id: Id, positions: &[Vector3<R>]) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        check_vectors("positions", positions, own.len())?;
        match &mut self.system.models[index] {
            Model::Driven(driven) => driven.set_goal(positions),
            model if model.has_free_vertices() => {
                self.system.motion.coordinates[own].copy_from_slice(positions);
                self.system.place();
                self.forget();
            }
            _ => return Err(WorldError::Unfit("vertices of this body follow something else")),
        }
        Ok(())
    }

    /// Sets how the vertices of a body move, or one velocity for a rigid body.
    pub fn set_velocity(
        &mut self,
        id: Id,
        velocity: Vector3<f64>,
        spin: Vector3<f64>,
    ) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        check_vectors("velocities", &[velocity, spin], 2)?;
        let (velocity, spin) = (velocity.map(R::nearest), spin.map(R::nearest));
        let motion = &mut self.system.motion;
        match &self.system.models[index] {
            Model::Rigid(_) => {
                motion.rates[own.start] = velocity;
                motion.rates[own.start + 1] = spin;
            }
            model if model.has_free_vertices() => {
                let masses = &motion.masses[own.clone()];
                let total = masses.iter().fold(R::zero(), |sum, mass| sum + *mass);
                let places = motion.positions[own.clone()].iter().zip(masses);
                let centre =
                    places.fold(Vector3::zeros(), |sum, (p, mass)| sum + p * *mass) / total;
                for vertex in own {
                    let arm = motion.positions[vertex] - centre;
                    if motion.inverse_masses[vertex] > R::zero() {
                        motion.rates[vertex] = velocity + spin.cross(&arm);
                    }
                }
            }
            _ => return Err(WorldError::Unfit("this body follows something else")),
        }
        self.system.follow_rates();
        Ok(())
    }

    /// Sets how each vertex of a body moves whose vertices move on their own.
    pub fn set_velocities(&mut self, id: Id, velocities: &[Vector3<R>]) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        check_vectors("velocities", velocities, own.len())?;
        if !self.system.models[index].has_free_vertices() {
            return Err(WorldError::Unfit("vertices of this body follow something else"));
        }
        let motion = &mut self.system.motion;
        for (vertex, velocity) in own.zip(velocities) {
            if motion.inverse_masses[vertex] > R::zero() {
                motion.rates[vertex] = *velocity;
            }
        }
        self.system.follow_rates();
        Ok(())
    }

    /// Blends the shapes of a morphed body by the end of the next frame: a weight for each target.
    pub fn set_weights(&mut self, id: Id, weights: &[f64]) -> Result<(), WorldError> {
        let index = self.index(id)?;
        let Model::Driven(driven) = &mut self.system.models[index] else {
            return Err(WorldError::Unfit("only morphed bodies have weights"));
        };
        if weights.len() != driven.targets() {
            let (given, expected) = (weights.len(), driven.targets());
            return Err(WorldError::Count { what: "weights of targets", given, expected });
        }
        if weights.iter().any(|weight| !weight.is_finite()) {
            return Err(WorldError::Unfit("weights must be finite"));
        }
        let blended = driven.blended(weights);
        check_vectors("positions that the weights lead to", &blended, blended.len())?;
        driven.set_goal(&blended);
        Ok(())
    }

    /// Sets the angle that the motor of a joint pulls it to; it stays within its limits.
    pub fn set_joint_target(&mut self, id: Id, joint: usize, angle: f64) -> Result<(), WorldError> {
        let index = self.index(id)?;
        let Model::Articulated(skin) = &mut self.system.models[index] else {
            return Err(WorldError::Unfit("this body has no joints"));
        };
        if joint >= skin.joints().len() || !angle.is_finite() {
            return Err(WorldError::Unfit("there is no such joint, or the angle is not finite"));
        }
        skin.set_target(joint, angle);
        Ok(())
    }

    /// The angle of a joint.
    pub fn joint_angle(&self, id: Id, joint: usize) -> Result<f64, WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        match &self.system.models[index] {
            Model::Articulated(skin) if joint < skin.joints().len() => {
                Ok(self.system.motion.coordinates[own.start + joint].x.to_f64())
            }
            _ => Err(WorldError::Unfit("there is no such joint")),
        }
    }

    /// Holds vertices where they are, or lets them go.
    pub fn set_fixed(&mut self, id: Id, vertices: &[u32], fixed: bool) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        if !self.system.models[index].has_free_vertices() {
            return Err(WorldError::Unfit("only vertices that move on their own can be held"));
        }
        if let Some(&vertex) = vertices.iter().find(|&&vertex| vertex as usize >= own.len()) {
            let (body, vertices) = (id.number(), own.len());
            return Err(WorldError::NoSuchVertex { body, vertex, vertices });
        }
        let motion = &mut self.system.motion;
        for &vertex in vertices {
            let vertex = own.start + vertex as usize;
            let mass = motion.masses[vertex];
            let free = !fixed && mass > R::zero();
            motion.inverse_masses[vertex] = if free { R::one() / mass } else { R::zero() };
            if fixed {
                motion.rates[vertex] = Vector3::zeros();
                motion.velocities[vertex] = Vector3::zeros();
            }
        }
        self.weigh_carried();
        self.revision += 1;
        Ok(())
    }

    /// How much carried vertices give way: as much as what carries them.
    fn weigh_carried(&mut self) {
        let inverse = &mut self.system.motion.inverse_masses;
        for (number, model) in self.system.models.iter().enumerate() {
            let Model::Embedded(embedded) = model else { continue };
            let carrier = self.system.bodies.list()[embedded.carrier].vertices.start;
            let own = self.system.bodies.list()[number].vertices.clone();
            for (vertex, (corners, weights)) in own.zip(&embedded.anchors) {
                let parts = corners.iter().zip(weights);
                inverse[vertex] = parts.fold(R::zero(), |sum, (corner, weight)| {
                    sum + *weight * *weight * inverse[carrier + *corner as usize]
                });
            }
        }
    }

    /// Changes what a body with finite elements is made of.
    pub fn set_elastic(&mut self, id: Id, elastic: Elastic) -> Result<(), WorldError> {
        check_elastic(&elastic)?;
        let index = self.index(id)?;
        let Model::Elements(elements) = &mut self.system.models[index] else {
            return Err(WorldError::Unfit("this body has no finite elements"));
        };
        elements.set_elastic(elastic);
        self.revision += 1;
        Ok(())
    }

    /// Changes how strongly a body of mass points keeps its measures. What has given way stays so.
    pub fn set_moduli(&mut self, id: Id, moduli: Moduli) -> Result<(), WorldError> {
        check_moduli(&moduli)?;
        let index = self.index(id)?;
        let Model::MassPoints(model) = &mut self.system.models[index] else {
            return Err(WorldError::Unfit("this body is not made of mass points"));
        };
        if !model.set_moduli(moduli) {
            return Err(WorldError::Unfit(
                "a measure that had no stiffness when the body was made cannot get one; make the body anew",
            ));
        }
        Ok(())
    }

    /// Changes how a body is kept in shape, but for its clusters and how these may be changed to fit.
    pub fn set_shape(&mut self, id: Id, parameters: ShapeParameters) -> Result<(), WorldError> {
        check_shape(&parameters)?;
        let index = self.index(id)?;
        let Model::Shape(model) = &mut self.system.models[index] else {
            return Err(WorldError::Unfit("this body is not kept in shape"));
        };
        let old = *model.parameters();
        if (old.clusters, old.matching) != (parameters.clusters, parameters.matching) {
            return Err(WorldError::Unfit("clusters and matching are chosen when a body is made"));
        }
        model.set_parameters(parameters);
        Ok(())
    }

    /// Changes the stiffness, in N m per radian, and the damping, in N m s per radian, of the motor of a joint.
    pub fn set_joint_motor(
        &mut self,
        id: Id,
        joint: usize,
        motor: [f64; 2],
    ) -> Result<(), WorldError> {
        let index = self.index(id)?;
        let Model::Articulated(skin) = &mut self.system.models[index] else {
            return Err(WorldError::Unfit("this body has no joints"));
        };
        if joint >= skin.joints().len() || motor.iter().any(|x| !(x.is_finite() && *x >= 0.0)) {
            return Err(WorldError::Unfit(
                "there is no such joint, or its motor is not finite or negative",
            ));
        }
        skin.set_motor(joint, motor);
        Ok(())
    }

    /// Changes with whom a body may collide.
    pub fn set_collides(&mut self, id: Id, collides: Collides) -> Result<(), WorldError> {
        let index = self.index(id)?;
        self.system.bodies.set_collides(index, collides);
        self.near.forget();
        Ok(())
    }

    /// Where vertices start, if all is well.
    fn placed(
        &self,
        positions: &[Vector3<R>],
        options: &Options,
    ) -> Result<Vec<Vector3<R>>, WorldError> {
        check_positive("density", options.density)?;
        check_vectors("velocities", &[options.velocity], 1)?;
        let shift = options.position.map(R::nearest);
        let moved: Vec<Vector3<R>> = positions.iter().map(|place| place + shift).collect();
        check_vectors("positions", &moved, positions.len())?;
        Ok(moved)
    }

    /// Puts a body behind all others.
    fn insert(&mut self, made: Made<R>, options: &Options) -> Id {
        let (index, end) = (self.system.models.len(), self.system.motion.positions.len());
        let id = self.ids.add(());
        self.put(index, end..end, made, options);
        id
    }

    /// Puts a body in the place of another with these vertices, or behind all.
    fn put(&mut self, index: usize, old: Range<usize>, made: Made<R>, options: &Options) {
        let Made { rest, mut masses, model } = made;
        let movable = model.has_free_vertices();
        if let Model::Rigid(rigid) = &model {
            // For the stiffness of contacts only.
            masses.fill(rigid.mass / R::nearest(rest.len() as f64));
        }
        let gives_way = movable || matches!(model, Model::Rigid(_) | Model::Articulated(_));
        self.system.motion.replace(old.clone(), &rest, &masses, gives_way);
        let own = old.start..old.start + rest.len();
        self.system.rest.splice(old, rest);
        let motion = &mut self.system.motion;
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
        let behind = self.system.models.len().min(index + 1);
        self.system.models.splice(index..behind, [model]);
        self.system.place();
        self.system.follow_rates();
        self.forget();
    }
}

fn rigid<R: Real>(
    rest: &[Vector3<R>],
    mut solid: crate::mesh::MassProperties,
    options: &Options,
) -> Result<Model<R>, WorldError> {
    solid.centroid += options.position;
    Rigid::new(rest, &solid, options.density).map(Model::Rigid).ok_or(WorldError::Unfit(
        "a rigid body needs a volume: a closed surface with its triangles outward, or tetrahedra",
    ))
}

fn surface_masses<R: Real>(
    rest: &[Vector3<R>],
    triangles: &[[u32; 3]],
    options: &Options,
) -> Vec<R> {
    lumped(rest, triangles, |[a, b, c]: [Vector3<R>; 3]| {
        (b - a).cross(&(c - a)).norm().to_f64() / 2.0 * options.density
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

fn check_vectors<R: Real>(
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

fn check_elastic(elastic: &Elastic) -> Result<(), WorldError> {
    let Elastic { young, poisson, damping } = *elastic;
    check_positive("young", young)?;
    check_number("poisson", poisson, (0.0..=0.49).contains(&poisson), "from 0 to 0.49")?;
    check_not_negative("damping", damping)
}

fn check_positive(name: &'static str, value: f64) -> Result<(), WorldError> {
    check_number(name, value, (1.0 / HUGE..=HUGE).contains(&value), "from 1e-30 to 1e30")
}

fn check_not_negative(name: &'static str, value: f64) -> Result<(), WorldError> {
    check_number(name, value, (0.0..=HUGE).contains(&value), "from 0 to 1e30")
}

fn check_moduli(moduli: &Moduli) -> Result<(), WorldError> {
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

fn check_shape(shape: &ShapeParameters) -> Result<(), WorldError> {
    use crate::model::Matching;
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
