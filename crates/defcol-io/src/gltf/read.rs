//! From documents to models.

use std::path::Path;

use nalgebra::Matrix4;

use super::accessor::{Document, table};
use super::nodes::Tree;
use crate::binary::{Bytes, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, FaultAt, Parsed, Problem, excerpt};
use crate::faces::Faces;
use crate::json::{Json, Value};
use crate::model::{Binding, Joint, Model, MorphTarget, Part, Skeleton};
use crate::text::check_coordinate;
use defcol::math::Vector3;

const MAGIC: &[u8] = b"glTF";

pub(crate) fn parse_glb(
    bytes: &[u8],
    folder: Option<&Path>,
    reading: &mut Reading,
) -> Parsed<Model> {
    if !bytes.starts_with(MAGIC) {
        let problem = Problem::WrongMagic { format: "GLB", expected: "`glTF`" };
        return Err(Fault::byte(0, problem));
    }
    let mut cursor = Bytes::new(bytes, 4, Endian::Little);
    let version = cursor.integer(Scalar::U32, "a version")?;
    if version != 2 {
        return Err(Fault::byte(
            4,
            Problem::Unsupported {
                what: format!("version {version} is"),
                way_out: "export the model as glTF 2.0",
            },
        ));
    }
    cursor.integer(Scalar::U32, "the length of the file")?;
    let mut json: Option<(usize, &[u8])> = None;
    let mut chunk: Option<&[u8]> = None;
    while !cursor.rest().is_empty() {
        let length = cursor.count(Scalar::U32, "bytes of a chunk", 1)?;
        let kind = cursor.take(4, "the kind of a chunk")?;
        let start = cursor.offset;
        let contents = cursor.take(length, "a chunk")?;
        match kind {
            b"JSON" if json.is_none() => json = Some((start, contents)),
            b"BIN\0" if chunk.is_none() => chunk = Some(contents),
            _ => {}
        }
        // The standard pads chunks to 4 bytes; some writers forget it at the end.
    }
    let Some((offset, text)) = json else {
        return Err(Fault::byte(bytes.len(), Problem::Truncated { expected: "a JSON chunk" }));
    };
    parse_document(text, offset, chunk, folder, reading).map_err(|fault| match fault.at {
        // Lines count in text files only.
        FaultAt::Text(at) => Fault::byte(at, fault.problem),
        _ => fault,
    })
}

pub(crate) fn parse_gltf(
    bytes: &[u8],
    folder: Option<&Path>,
    reading: &mut Reading,
) -> Parsed<Model> {
    parse_document(bytes, 0, None, folder, reading)
}

fn parse_document(
    text: &[u8],
    offset: usize,
    chunk: Option<&[u8]>,
    folder: Option<&Path>,
    reading: &mut Reading,
) -> Parsed<Model> {
    let trimmed = text.trim_ascii_start();
    let json = Json::parse(trimmed.trim_ascii_end(), reading).map_err(|fault| match fault.at {
        FaultAt::Text(at) => Fault::text(offset + text.len() - trimmed.len() + at, fault.problem),
        _ => fault,
    })?;
    let root = json.root();
    let offset = offset + text.len() - trimmed.len();
    let mut document = Document::new(&json, offset, chunk, folder, reading)?;
    check_asset(&document)?;
    let mut meshes = Vec::new();
    let tree = Tree::walk(&document, reading, |node, world, reading| {
        if let Some(mesh) = node.get("mesh") {
            // A vector that doubles takes three times what it holds.
            reading.take::<(Value, Value, Matrix4<f64>)>(3)?;
            meshes.push((node, mesh, *world));
        }
        Ok(())
    })?;
    let table_of_meshes = table(root, "meshes", reading)?;
    let mut builder = Builder::default();
    for (node, name, world) in meshes {
        let (_, mesh) = document.item(&table_of_meshes, "mesh", name)?;
        builder.add(&mut document, &tree, node, mesh, &world, reading)?;
    }
    builder.finish(reading)
}

fn check_asset(document: &Document) -> Parsed<()> {
    let root = document.root;
    let version = root.get("asset").and_then(|asset| asset.get("version"));
    match version.and_then(Value::string) {
        Some(version) if version.starts_with("2.") => {}
        Some(version) => {
            return Err(document.fault(
                root,
                Problem::Unsupported {
                    what: format!("version {version} is"),
                    way_out: "export the model as glTF 2.0",
                },
            ));
        }
        None => {
            let problem =
                Problem::WrongMagic { format: "glTF", expected: "`asset` with a `version`" };
            return Err(document.fault(root, problem));
        }
    }
    for required in root.get("extensionsRequired").into_iter().flat_map(Value::items) {
        let name = required.string().unwrap_or_default();
        if name.contains("draco") || name.contains("meshopt") {
            return Err(document.fault(
                required,
                Problem::Unsupported {
                    what: format!("the compression {} is", excerpt(name.as_bytes())),
                    way_out: "export the model without compression",
                },
            ));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Builder {
    model: Model,
    faces: Faces,
    /// The skins met so far, and where their joints begin in the skeleton.
    skins: Vec<(usize, u32)>,
    passed_over: usize,
    more_weights: usize,
}

/// Where a node puts the vertices of its mesh.
struct Placement {
    world: Matrix4<f64>,
    /// Where the joints of its skin begin.
    first_joint: Option<u32>,
}

impl Builder {
    /// Adds a mesh as a node places it.
    fn add(
        &mut self,
        document: &mut Document,
        tree: &Tree,
        node: Value,
        mesh: Value,
        world: &Matrix4<f64>,
        reading: &mut Reading,
    ) -> Parsed<()> {
        let first_joint = match node.get("skin") {
            None => None,
            Some(skin) => Some(self.add_skin(document, tree, skin, reading)?),
        };
        // The joints place a skinned mesh, not its node.
        let world = if first_joint.is_some() { Matrix4::identity() } else { *world };
        let placement = Placement { world, first_joint };
        // Primitives of one mesh often share their vertices.
        let mut shared: Option<(Value, u32)> = None;
        for primitive in mesh.get("primitives").into_iter().flat_map(Value::items) {
            let mode = primitive.get("mode").and_then(Value::index).unwrap_or(4);
            if !matches!(mode, 0 | 4..=6) {
                self.passed_over += 1;
                continue;
            }
            let first_vertex = match shared {
                Some((other, first)) if same_vertices(other, primitive) => first,
                _ => self.add_vertices(document, node, mesh, primitive, &placement, reading)?,
            };
            shared = Some((primitive, first_vertex));
            document.account(reading)?;
            // Points are vertices and nothing else.
            if mode == 0 {
                continue;
            }
            let first_triangle = self.faces.triangles.len() as u32;
            self.add_triangles(document, primitive, mode, first_vertex, &placement, reading)?;
            let own = primitive.get("extras").and_then(|extras| extras.get("name"));
            let named = own.or(node.get("name")).or(mesh.get("name"));
            let name = named.and_then(Value::string).unwrap_or_default();
            let triangles = first_triangle..self.faces.triangles.len() as u32;
            if !name.is_empty() && !triangles.is_empty() {
                reading.take::<[Part; 2]>(1)?;
                reading.take::<u8>(name.len())?;
                self.model.parts.push(Part { name: name.into_owned(), triangles });
            }
        }
        Ok(())
    }

    fn add_vertices(
        &mut self,
        document: &mut Document,
        node: Value,
        mesh: Value,
        primitive: Value,
        placement: &Placement,
        reading: &mut Reading,
    ) -> Parsed<u32> {
        let attributes = primitive.get("attributes");
        let Some(name) = attributes.and_then(|list| list.get("POSITION")) else {
            return Err(document.wrong(primitive, "the primitive has no POSITION"));
        };
        let mut positions = document.vectors(name, reading)?;
        let count = positions.len();
        let first = self.model.mesh.positions.len() as u32;
        // Left alone where nothing moves: even a product with the identity turns -0 into 0.
        let moves = placement.world != Matrix4::identity();
        if moves {
            for position in &mut positions {
                *position = placement.world.transform_point(&(*position).into()).coords;
            }
        }
        if let Some(problem) = positions.iter().flatten().find_map(|&x| check_coordinate(x).err()) {
            return Err(document.fault(name, problem));
        }
        // Growing the vector may need as much again.
        reading.take::<Vector3<f64>>(2 * count)?;
        self.model.mesh.positions.append(&mut positions);
        let attributes = attributes.unwrap_or(primitive);
        self.add_bindings(document, attributes, placement, count, reading)?;

        let weights = node.get("weights").or(mesh.get("weights"));
        let names = mesh.get("extras").and_then(|extras| extras.get("targetNames"));
        let targets = primitive.get("targets").into_iter().flat_map(Value::items);
        let mut names = names.into_iter().flat_map(Value::items);
        let mut weights = weights.into_iter().flat_map(Value::items);
        for (k, target) in targets.enumerate() {
            let name = names.next().and_then(Value::string);
            let weight = weights.next().and_then(Value::number).unwrap_or(0.0);
            let Some(accessor) = target.get("POSITION") else {
                continue;
            };
            let mut displacements = document.vectors(accessor, reading)?;
            if displacements.len() != count {
                return Err(document.wrong(
                    accessor,
                    format!(
                        "the morph target has {} displacements for {count} vertices",
                        displacements.len()
                    ),
                ));
            }
            if moves {
                for displacement in &mut displacements {
                    *displacement = placement.world.transform_vector(displacement);
                }
            }
            if let Some(problem) =
                displacements.iter().flatten().find_map(|&x| check_coordinate(x).err())
            {
                return Err(document.fault(accessor, problem));
            }
            reading.take::<[MorphTarget; 3]>(1)?;
            reading.take::<u8>(name.as_ref().map_or(0, |name| name.len()))?;
            let name = name.map_or_else(|| format!("target {k}"), |name| name.into_owned());
            self.model.morph_targets.push(MorphTarget {
                name,
                first_vertex: first,
                displacements,
                weight,
            });
        }
        Ok(first)
    }

    fn add_bindings(
        &mut self,
        document: &mut Document,
        attributes: Value,
        placement: &Placement,
        count: usize,
        reading: &mut Reading,
    ) -> Parsed<()> {
        let vertices = self.model.mesh.positions.len();
        let (Some(first_joint), Some(skeleton)) = (placement.first_joint, &mut self.model.skeleton)
        else {
            return Ok(());
        };
        let (Some(joints), Some(weights)) =
            (attributes.get("JOINTS_0"), attributes.get("WEIGHTS_0"))
        else {
            return Ok(());
        };
        self.more_weights += usize::from(attributes.get("JOINTS_1").is_some());
        reading.take::<Binding>(3 * (vertices - skeleton.bindings.len()))?;
        skeleton.bindings.resize(vertices - count, Binding::default());
        let before = reading.taken();
        let (joint_numbers, joint_count) = document.numbers(joints, 4, reading)?;
        let (weight_numbers, weight_count) = document.numbers(weights, 4, reading)?;
        if joint_count != count || weight_count != count {
            let text = format!(
                "there are {joint_count} JOINTS_0 and {weight_count} WEIGHTS_0 for {count} vertices"
            );
            return Err(document.wrong(joints, text));
        }
        let own = skeleton.joints.len() - first_joint as usize;
        for (joint, weight) in joint_numbers.chunks_exact(4).zip(weight_numbers.chunks_exact(4)) {
            let mut binding = Binding::default();
            for k in 0..4 {
                if weight[k] == 0.0 {
                    continue;
                }
                if !(weight[k].is_finite() && weight[k] > 0.0) {
                    return Err(
                        document.wrong(weights, format!("the weight {} is no weight", weight[k]))
                    );
                }
                if joint[k] as usize >= own {
                    let problem = Problem::IndexOutOfRange {
                        what: "joint",
                        index: joint[k] as i64,
                        count: own,
                    };
                    return Err(document.fault(joints, problem));
                }
                binding.joints[k] = first_joint + joint[k] as u32;
                binding.weights[k] = weight[k] as f32;
            }
            skeleton.bindings.push(binding);
        }
        drop((joint_numbers, weight_numbers));
        reading.release_to(before)
    }

    fn add_triangles(
        &mut self,
        document: &mut Document,
        primitive: Value,
        mode: usize,
        first_vertex: u32,
        placement: &Placement,
        reading: &mut Reading,
    ) -> Parsed<()> {
        let count = self.model.mesh.positions.len() as u32 - first_vertex;
        let before = reading.taken();
        let corners: Vec<u32> = match primitive.get("indices") {
            None => {
                reading.take::<u32>(count as usize)?;
                (0..count).collect()
            }
            Some(name) => document.indices(name, count as usize, reading)?,
        };
        if mode == 4 && !corners.len().is_multiple_of(3) {
            return Err(document.wrong(
                primitive,
                format!("{} corners do not make whole triangles", corners.len()),
            ));
        }
        // A mirrored node turns its triangles over.
        let mirrored = placement.world.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        let triangles = match mode {
            4 => corners.len() / 3,
            _ => corners.len().saturating_sub(2),
        };
        for k in 0..triangles {
            let [a, b, c] = match mode {
                4 => [3 * k, 3 * k + 1, 3 * k + 2],
                5 if k % 2 == 1 => [k + 1, k, k + 2],
                5 => [k, k + 1, k + 2],
                _ => [0, k + 1, k + 2],
            }
            .map(|corner| first_vertex + corners[corner]);
            // A corner that repeats only bends a strip.
            if mode == 4 || (a != b && b != c && c != a) {
                self.faces.push(&if mirrored { [a, c, b] } else { [a, b, c] });
            }
        }
        drop(corners);
        reading.release_to(before)?;
        reading.take::<[u32; 3]>(3 * triangles)
    }

    /// Adds the joints of a skin, once; gives where they begin.
    fn add_skin(
        &mut self,
        document: &mut Document,
        tree: &Tree,
        name: Value,
        reading: &mut Reading,
    ) -> Parsed<u32> {
        let (index, skin) = document.item(&document.skins, "skin", name)?;
        if let Some(&(_, first)) = self.skins.iter().find(|(known, _)| *known == index) {
            return Ok(first);
        }
        let before = reading.taken();
        let names = table(skin, "joints", reading)?;
        let mut nodes = reading.vec(names.len())?;
        for joint in names {
            nodes.push(document.item(&tree.nodes, "node", joint)?.0);
        }
        let mut inverse = Vec::new();
        if let Some(name) = skin.get("inverseBindMatrices") {
            let (numbers, count) = document.numbers(name, 16, reading)?;
            if count < nodes.len() || numbers.iter().any(|x| !x.is_finite()) {
                let text =
                    format!("{} joints need as many finite inverseBindMatrices", nodes.len());
                return Err(document.wrong(name, text));
            }
            inverse = numbers;
        }
        let hierarchy = tree.joints(document, &nodes, reading)?;
        let skeleton = self.model.skeleton.get_or_insert_with(Skeleton::default);
        let first = skeleton.joints.len() as u32;
        skeleton.joints.reserve_exact(nodes.len());
        for (joint, &node) in nodes.iter().enumerate() {
            let (parent, local) = hierarchy[joint];
            let name = tree.nodes[node].get("name").and_then(Value::string).unwrap_or_default();
            skeleton.joints.push(Joint {
                name: name.into_owned(),
                parent: parent.map(|parent| parent + first),
                local,
                inverse_bind: inverse
                    .get(16 * joint..16 * joint + 16)
                    .map_or_else(Matrix4::identity, Matrix4::from_column_slice),
            });
        }
        let names: usize =
            skeleton.joints[first as usize..].iter().map(|joint| joint.name.len()).sum();
        let count = nodes.len();
        drop((nodes, inverse, hierarchy));
        reading.release_to(before)?;
        // The old joints are copied when room for the new ones is made.
        reading.take::<[Joint; 2]>(count)?;
        reading.take::<u8>(names)?;
        reading.take::<[(usize, u32); 3]>(1)?;
        self.skins.push((index, first));
        Ok(first)
    }

    fn finish(mut self, reading: &mut Reading) -> Parsed<Model> {
        let vertices = self.model.mesh.positions.len();
        if let Some(skeleton) = &mut self.model.skeleton {
            reading.take::<Binding>(vertices - skeleton.bindings.len())?;
            skeleton.bindings.resize(vertices, Binding::default());
        }
        reading.note(self.passed_over, "primitives of lines are no surface and were left out");
        reading.note(
            self.more_weights,
            "primitives bind vertices to more than four joints: four were kept",
        );
        self.model.mesh.triangles = self.faces.finish(&self.model.mesh.positions, reading)?;
        Ok(self.model)
    }
}

/// Whether two primitives of a mesh name the same vertices.
fn same_vertices(a: Value, b: Value) -> bool {
    let named = |primitive: Value, key: &str| {
        primitive.get("attributes").and_then(|list| list.get(key)).and_then(Value::index)
    };
    fn targets(primitive: Value) -> impl Iterator<Item = Option<usize>> {
        let list = primitive.get("targets").into_iter().flat_map(Value::items);
        list.map(|target| target.get("POSITION").and_then(Value::index))
    }
    ["POSITION", "JOINTS_0", "WEIGHTS_0"].iter().all(|key| named(a, key) == named(b, key))
        && targets(a).eq(targets(b))
}
