//! The tree of nodes and its transforms.

use std::collections::HashMap;

use nalgebra::{Matrix4, Quaternion, UnitQuaternion, Vector3, Vector4};

use super::accessor::{Document, table};
use crate::budget::Reading;
use crate::error::{Parsed, Problem};
use crate::json::Value;

const MAX_DEPTH: usize = 1024;

/// The nodes of the scene.
pub(super) struct Tree<'a> {
    pub nodes: Vec<Value<'a>>,
    /// The parent of each node of the scene.
    parents: Vec<Option<u32>>,
}

impl<'a> Tree<'a> {
    /// Walks the scene and hands each node with its transform to the world to `visit`.
    pub fn walk(
        document: &Document<'a>,
        reading: &mut Reading,
        mut visit: impl FnMut(Value<'a>, &Matrix4<f64>, &mut Reading) -> Parsed<()>,
    ) -> Parsed<Self> {
        let nodes = table(document.root, "nodes", reading)?;
        let mut seen = reading.filled(false, nodes.len())?;
        let mut tree = Self { parents: reading.filled(None, nodes.len())?, nodes };
        for root in roots(document, &tree.nodes, reading)? {
            // One level for each generation: the children still to visit, and their parent.
            let mut levels: Vec<Level> =
                vec![(Box::new(std::iter::once(root)), None, Matrix4::identity())];
            while let Some((siblings, parent, above)) = levels.last_mut() {
                let Some(index) = siblings.next() else {
                    levels.pop();
                    continue;
                };
                let Some(&node) = tree.nodes.get(index) else {
                    let (what, count) = ("node", tree.nodes.len());
                    let index = i64::try_from(index).unwrap_or(-1);
                    let problem = Problem::IndexOutOfRange { what, index, count };
                    return Err(document.fault(document.root, problem));
                };
                if std::mem::replace(&mut seen[index], true) {
                    let text = format!("node {index} has two parents or is its own ancestor");
                    return Err(document.wrong(node, text));
                }
                let world = *above * local(document, node)?;
                tree.parents[index] = *parent;
                visit(node, &world, reading)?;
                document.account(reading)?;
                if let Some(children) = node.get("children") {
                    if levels.len() == MAX_DEPTH {
                        return Err(document.fault(children, Problem::TooDeep(MAX_DEPTH)));
                    }
                    levels.push((Box::new(children.items().map(named)), Some(index as u32), world));
                }
            }
        }
        Ok(tree)
    }

    /// For each of the given nodes the nearest one above it that is given too (by its place in
    /// the list), and the transform to it, or to the world where there is none.
    pub fn joints(
        &self,
        document: &Document<'a>,
        given: &[usize],
        reading: &mut Reading,
    ) -> Parsed<Vec<(Option<u32>, Matrix4<f64>)>> {
        // Looked up only.
        reading.take::<[usize; 4]>(given.len())?;
        let place: HashMap<usize, u32> = given.iter().copied().zip(0u32..).collect();
        let mut found = reading.vec(given.len())?;
        for &node in given {
            let mut transform = local(document, self.nodes[node])?;
            let mut above = self.parents[node];
            let mut steps = 1;
            while let Some(parent) = above.filter(|parent| !place.contains_key(&(*parent as usize)))
            {
                transform = local(document, self.nodes[parent as usize])? * transform;
                above = self.parents[parent as usize];
                steps += 1;
            }
            found.push((above.map(|parent| place[&(parent as usize)]), transform));
            reading.repeat(64 * steps)?;
        }
        Ok(found)
    }
}

/// The children still to visit, their parent, and its transform to the world.
type Level<'a> = (Box<dyn Iterator<Item = usize> + 'a>, Option<u32>, Matrix4<f64>);

/// The node that a value names; one that does not exist if it is no index at all.
fn named(value: Value) -> usize {
    value.index().unwrap_or(usize::MAX)
}

/// The nodes that the scene begins with; without a scene, those that are nobody's child.
fn roots(document: &Document, nodes: &[Value], reading: &mut Reading) -> Parsed<Vec<usize>> {
    let scenes = table(document.root, "scenes", reading)?;
    let scene = match document.root.get("scene") {
        Some(name) => Some(document.item(&scenes, "scene", name)?.1),
        None => scenes.first().copied(),
    };
    if let Some(scene) = scene {
        return Ok(table(scene, "nodes", reading)?.into_iter().map(named).collect());
    }
    let mut is_child = reading.filled(false, nodes.len())?;
    for child in nodes.iter().filter_map(|node| node.get("children")).flat_map(Value::items) {
        if let Some(child) = is_child.get_mut(named(child)) {
            *child = true;
        }
    }
    reading.take::<usize>(2 * nodes.len())?;
    Ok((0..nodes.len()).filter(|&node| !is_child[node]).collect())
}

/// The transform of a node to its parent.
fn local(document: &Document, node: Value) -> Parsed<Matrix4<f64>> {
    fn numbers<const N: usize>(
        document: &Document,
        node: Value,
        key: &str,
        default: [f64; N],
    ) -> Parsed<[f64; N]> {
        let Some(list) = node.get(key) else {
            return Ok(default);
        };
        let mut values = [0.0; N];
        let mut items = list.items();
        for value in &mut values {
            let number = items.next().and_then(Value::number).filter(|number| number.is_finite());
            *value = number.ok_or_else(|| {
                document.wrong(list, format!("`{key}` must be {N} finite numbers"))
            })?;
        }
        Ok(values)
    }
    if node.get("matrix").is_some() {
        return Ok(Matrix4::from_column_slice(&numbers::<16>(
            document, node, "matrix", [0.0; 16],
        )?));
    }
    let scale = Vector3::from(numbers(document, node, "scale", [1.0; 3])?);
    let turn = Vector4::from(numbers(document, node, "rotation", [0.0, 0.0, 0.0, 1.0])?);
    let shift = Vector3::from(numbers(document, node, "translation", [0.0; 3])?);
    let turn = UnitQuaternion::from_quaternion(Quaternion::from(turn)).to_homogeneous();
    Ok(Matrix4::new_translation(&shift) * turn * Matrix4::new_nonuniform_scaling(&scale))
}
