//! Bodies come and go.

use std::ops::Range;

use super::checks::{check_elastic, check_moduli, check_positive, check_shape, check_vectors};
use super::{BodyId, World};
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
    ) -> Result<BodyId, WorldError> {
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
        id: BodyId,
        mesh: &TetMesh<R>,
        material: Material,
        options: &Options,
    ) -> Result<(), WorldError> {
        let index = self.index(id)?;
        self.check_carries_none(id)?;
        let vertices = mesh.positions().len();
        for dragger in self.draggers.values() {
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
    ) -> Result<BodyId, WorldError> {
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
    ) -> Result<BodyId, WorldError> {
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
        self.system.bodies.add_surface(mesh, options.collides);
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
        options: &Options,
    ) -> Result<BodyId, WorldError> {
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
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), WorldError> {
        let index = self.index(id)?;
        self.check_carries_none(id)?;
        self.ids.remove(id)?;
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

    fn check_carries_none(&self, id: BodyId) -> Result<(), WorldError> {
        let index = self.index(id)?;
        for (carried, model) in self.system.models.iter().enumerate() {
            if let Model::Embedded(embedded) = model
                && embedded.carrier == index
            {
                let carried = self.ids.handle(carried).number();
                return Err(WorldError::Carries { carrier: id.number(), carried });
            }
        }
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
    fn insert(&mut self, made: Made<R>, options: &Options) -> BodyId {
        let (index, end) = (self.system.models.len(), self.system.motion.positions.len());
        let id = self.ids.insert(());
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
