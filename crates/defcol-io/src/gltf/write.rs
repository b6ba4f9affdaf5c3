//! From models to GLB.

use std::io;

use nalgebra::Matrix4;

use crate::model::{Binding, Model};
use crate::output::Sink;
use defcol::math::{Bounds, Vector3};
use defcol::mesh::RawMesh;

/// JSON and binary chunk under construction.
#[derive(Default)]
struct Parts {
    accessors: Vec<String>,
    views: Vec<String>,
    binary: Vec<u8>,
}

impl Parts {
    /// Adds an accessor over bytes already encoded; gives its number.
    fn add(&mut self, bytes: &[u8], target: &str, description: &str) -> usize {
        let view = self.views.len();
        self.views.push(format!(
            "{{\"buffer\":0,\"byteOffset\":{},\"byteLength\":{}{target}}}",
            self.binary.len(),
            bytes.len()
        ));
        self.binary.extend_from_slice(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.accessors.push(format!("{{\"bufferView\":{view},{description}}}"));
        self.accessors.len() - 1
    }

    fn vectors(&mut self, vectors: &[Vector3<f64>]) -> usize {
        let bytes: Vec<u8> =
            vectors.iter().flatten().flat_map(|x| (*x as f32).to_le_bytes()).collect();
        let bounds = Bounds::of(vectors.iter().map(|v| v.map(|x| x as f32)));
        let list = |v: Vector3<f32>| format!("[{:?},{:?},{:?}]", v.x, v.y, v.z);
        let description = format!(
            "\"componentType\":5126,\"count\":{},\"type\":\"VEC3\",\"min\":{},\"max\":{}",
            vectors.len(),
            list(bounds.min),
            list(bounds.max)
        );
        self.add(&bytes, ",\"target\":34962", &description)
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            _ if char.is_control() => out.push_str(&format!("\\u{:04x}", char as u32)),
            _ => out.push(char),
        }
    }
    out.push('"');
    out
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

/// Writes one mesh; parts become its primitives, which share their vertices.
pub(crate) fn write_glb(model: &Model, mesh: &RawMesh<f64>, sink: &mut Sink) -> io::Result<()> {
    write_animated_glb(model, mesh, &[], sink)
}

/// Writes a GLB file with an animation: at the first of `times` (seconds) the mesh is undeformed, at each following time
/// it has the shape of its next morph target. Parts are coloured with [`COLOURS`](crate::COLOURS). Without times, no
/// animation is written.
pub fn write_animated_glb(
    model: &Model,
    mesh: &RawMesh<f64>,
    times: &[f64],
    sink: &mut Sink,
) -> io::Result<()> {
    let mut parts = Parts::default();
    // What belongs to vertices holds for the model's own, not for the surface of its tetrahedra.
    let own = model.mesh.tetrahedra.is_empty();
    let mut attributes = format!("\"POSITION\":{}", parts.vectors(&mesh.positions));
    let skeleton = model.skeleton.as_ref().filter(|_| own);
    if let Some(skeleton) = skeleton {
        attributes.push_str(&write_bindings(&skeleton.bindings, &mut parts));
    }
    let (targets, names, weights) =
        if own { write_targets(model, &mut parts) } else { Default::default() };
    let coloured = !times.is_empty();
    let primitives =
        write_primitives(model, mesh, own, &attributes, &targets, coloured, &mut parts);
    let mut mesh_json = format!("{{\"primitives\":[{}]", list(primitives));
    if !names.is_empty() {
        let names = list(names.iter().map(|name| quoted(name)));
        mesh_json.push_str(&format!(
            ",\"weights\":[{weights}],\"extras\":{{\"targetNames\":[{names}]}}"
        ));
    }
    mesh_json.push('}');

    let mut nodes =
        vec![format!("{{\"mesh\":0{}}}", if skeleton.is_some() { ",\"skin\":0" } else { "" })];
    let mut roots = vec![0];
    let mut skins = String::new();
    if let Some(skeleton) = skeleton {
        let matrix = |m: &Matrix4<f64>| list(m.iter().map(|x| format!("{x:?}")));
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); skeleton.joints.len()];
        for (child, joint) in skeleton.joints.iter().enumerate() {
            if let Some(list) = joint.parent.and_then(|parent| children.get_mut(parent as usize)) {
                list.push(child + 1);
            }
        }
        for (index, joint) in skeleton.joints.iter().enumerate() {
            let children = match &children[index] {
                none if none.is_empty() => String::new(),
                some => format!(",\"children\":[{}]", list(some)),
            };
            nodes.push(format!(
                "{{\"name\":{},\"matrix\":[{}]{children}}}",
                quoted(&joint.name),
                matrix(&joint.local)
            ));
            if joint.parent.is_none() {
                roots.push(index + 1);
            }
        }
        let bytes: Vec<u8> = skeleton
            .joints
            .iter()
            .flat_map(|joint| {
                joint
                    .inverse_bind
                    .iter()
                    .flat_map(|x| (*x as f32).to_le_bytes())
                    .collect::<Vec<_>>()
            })
            .collect();
        let description =
            format!("\"componentType\":5126,\"count\":{},\"type\":\"MAT4\"", skeleton.joints.len());
        let inverse = parts.add(&bytes, "", &description);
        let joints = list(1..=skeleton.joints.len());
        skins = format!(",\"skins\":[{{\"joints\":[{joints}],\"inverseBindMatrices\":{inverse}}}]");
    }
    let clip = if times.is_empty() {
        String::new()
    } else {
        write_animation(times, &mut parts) + &materials()
    };
    let json = format!(
        "{{\"asset\":{{\"version\":\"2.0\",\"generator\":\"defcol\"}},\"scene\":0,\
         \"scenes\":[{{\"nodes\":[{}]}}],\"nodes\":[{}],\"meshes\":[{mesh_json}]{skins}{clip},\
         \"accessors\":[{}],\"bufferViews\":[{}],\"buffers\":[{{\"byteLength\":{}}}]}}",
        list(roots),
        nodes.join(","),
        parts.accessors.join(","),
        parts.views.join(","),
        parts.binary.len()
    );
    write_chunks(json, &parts.binary, sink)
}

/// Weights that are one in turn.
fn write_animation(times: &[f64], parts: &mut Parts) -> String {
    let (count, targets) = (times.len(), times.len() - 1);
    let bytes: Vec<u8> = times.iter().flat_map(|time| (*time as f32).to_le_bytes()).collect();
    let [first, last] = [times[0], times[targets]].map(|time| time as f32);
    let description = format!(
        "\"componentType\":5126,\"count\":{count},\"type\":\"SCALAR\",\"min\":[{first:?}],\"max\":[{last:?}]"
    );
    let input = parts.add(&bytes, "", &description);
    let mut bytes = Vec::with_capacity(4 * count * targets);
    for time in 0..count {
        for target in 0..targets {
            let weight = if time == target + 1 { 1f32 } else { 0.0 };
            bytes.extend_from_slice(&weight.to_le_bytes());
        }
    }
    let description =
        format!("\"componentType\":5126,\"count\":{},\"type\":\"SCALAR\"", count * targets);
    let output = parts.add(&bytes, "", &description);
    format!(
        ",\"animations\":[{{\"samplers\":[{{\"input\":{input},\"output\":{output},\"interpolation\":\"LINEAR\"}}],\
         \"channels\":[{{\"sampler\":0,\"target\":{{\"node\":0,\"path\":\"weights\"}}}}]}}]"
    )
}

/// The colours of bodies, in order.
fn materials() -> String {
    let one = |colour: [u8; 3]| {
        let [r, g, b] = colour.map(|part| (f32::from(part) / 255.0).powi(2));
        format!(
            "{{\"pbrMetallicRoughness\":{{\"baseColorFactor\":[{r:?},{g:?},{b:?},1.0],\"metallicFactor\":0.0,\
             \"roughnessFactor\":0.8}},\"doubleSided\":true}}"
        )
    };
    format!(",\"materials\":[{}]", list(crate::COLOURS.map(one)))
}

fn write_chunks(mut json: String, binary: &[u8], sink: &mut Sink) -> io::Result<()> {
    while !json.len().is_multiple_of(4) {
        json.push(' ');
    }
    let length = |size: usize| {
        u32::try_from(size)
            .map_err(|_| io::Error::other("a GLB holds at most 4 GiB; write another format"))
    };
    sink.text("glTF")?;
    sink.bytes(&2u32.to_le_bytes())?;
    sink.bytes(&length(12 + 8 + json.len() + 8 + binary.len())?.to_le_bytes())?;
    sink.bytes(&length(json.len())?.to_le_bytes())?;
    sink.text("JSON")?;
    sink.text(&json)?;
    sink.bytes(&length(binary.len())?.to_le_bytes())?;
    sink.bytes(b"BIN\0")?;
    binary.chunks(1 << 16).try_for_each(|piece| sink.bytes(piece))
}

fn write_bindings(bindings: &[Binding], parts: &mut Parts) -> String {
    let count = bindings.len();
    let joints: Vec<u8> = bindings
        .iter()
        .flat_map(|b| b.joints)
        .flat_map(|joint| (joint as u16).to_le_bytes())
        .collect();
    let weights: Vec<u8> =
        bindings.iter().flat_map(|b| b.weights).flat_map(f32::to_le_bytes).collect();
    let describe =
        |kind: u32| format!("\"componentType\":{kind},\"count\":{count},\"type\":\"VEC4\"");
    let joints = parts.add(&joints, ",\"target\":34962", &describe(5123));
    let weights = parts.add(&weights, ",\"target\":34962", &describe(5126));
    format!(",\"JOINTS_0\":{joints},\"WEIGHTS_0\":{weights}")
}

/// Morph targets of one name act together and become one. Gives their JSON, names and weights.
fn write_targets(model: &Model, parts: &mut Parts) -> (String, Vec<String>, String) {
    let mut names: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for target in &model.morph_targets {
        if known.insert(&target.name) {
            names.push(target.name.clone());
        }
    }
    let mut targets = Vec::new();
    let mut weights = Vec::new();
    for name in &names {
        let mut all = vec![Vector3::zeros(); model.mesh.positions.len()];
        let own = model.morph_targets.iter().filter(|target| target.name == *name);
        for target in own.clone() {
            all[target.first_vertex as usize..][..target.displacements.len()]
                .copy_from_slice(&target.displacements);
        }
        targets.push(format!("{{\"POSITION\":{}}}", parts.vectors(&all)));
        weights.push(format!("{:?}", own.map(|target| target.weight).next().unwrap_or(0.0)));
    }
    let json = if targets.is_empty() {
        String::new()
    } else {
        format!(",\"targets\":[{}]", list(targets))
    };
    (json, names, list(weights))
}

fn write_primitives(
    model: &Model,
    mesh: &RawMesh<f64>,
    own: bool,
    attributes: &str,
    targets: &str,
    coloured: bool,
    parts: &mut Parts,
) -> Vec<String> {
    // Named runs and the unnamed ones between them.
    let mut runs = Vec::new();
    let mut done = 0;
    for part in model.parts.iter().filter(|_| own) {
        runs.push((None, done..part.triangles.start));
        runs.push((Some(&part.name), part.triangles.clone()));
        done = part.triangles.end;
    }
    runs.push((None, done..mesh.triangles.len() as u32));
    let mut primitives = Vec::new();
    for (name, run) in runs {
        if run.is_empty() {
            continue;
        }
        let corners = mesh.triangles[run.start as usize..run.end as usize].as_flattened();
        let bytes: Vec<u8> = corners.iter().flat_map(|vertex| vertex.to_le_bytes()).collect();
        let description =
            format!("\"componentType\":5125,\"count\":{},\"type\":\"SCALAR\"", corners.len());
        let indices = parts.add(&bytes, ",\"target\":34963", &description);
        let material = if coloured {
            format!(",\"material\":{}", primitives.len() % crate::COLOURS.len())
        } else {
            String::new()
        };
        let extras = name
            .map_or_else(String::new, |name| format!(",\"extras\":{{\"name\":{}}}", quoted(name)));
        primitives.push(format!(
            "{{\"attributes\":{{{attributes}}},\"indices\":{indices}{targets}{material}{extras}}}"
        ));
    }
    if primitives.is_empty() {
        // Points: a mesh needs a primitive.
        primitives.push(format!("{{\"attributes\":{{{attributes}}},\"mode\":0}}"));
    }
    primitives
}
