//! Penetration depth and direction of the vertices of two bodies.

use std::time::Instant;

use defcol::contact::depth::{
    ConsistentDepth, DepthParameters, EdgeDepth, NearestDepth, Normals, WayOut,
};
use defcol::contact::{CollidingPoints, Contact, Contacts, Source};
use defcol::detect::hash::SpatialHash;
use defcol::detect::{Detector, Hits, Questions};
use defcol::error::DetectError;
use serde::Serialize;

use crate::{MeshScene, NamedMesh, QueryError};

/// How depths are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DepthMethod {
    /// Consistent penetration depth, propagated from the border inwards (THESIS ch. 6).
    #[default]
    Consistent,
    /// Distance to the nearest point of the surface.
    Nearest,
}

/// Settings of [`depth`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DepthOptions {
    /// How depths are computed.
    pub method: DepthMethod,
    /// Interpolate vertex normals over triangles; consistent depth only.
    pub smooth: bool,
    /// Give enclosed points a common separation direction; consistent depth only.
    pub way_out: bool,
    /// Also find edges that pass through the other body without a vertex inside.
    pub edges: bool,
    /// Also find self-collisions; consistent depth only.
    pub self_collision: bool,
}

/// Penetration depths of two meshes.
#[derive(Debug, Clone, Serialize)]
pub struct DepthReport {
    /// `defcol.depth/1`.
    pub schema: &'static str,
    /// How depths were computed.
    pub method: DepthMethod,
    /// Vertices of either body inside the other.
    pub points: usize,
    /// Those of them with a neighbor outside; `None` for the nearest surface.
    pub border_points: Option<usize>,
    /// Largest depth; `None` if no point has one.
    pub max_depth: Option<f64>,
    /// Mean depth; `None` if no point has one.
    pub mean_depth: Option<f64>,
    /// Points without a consistent depth: not connected by edges to a border point.
    pub enclosed: usize,
    /// Edges through the other body without a vertex inside; `None` if not asked for.
    pub edges: Option<usize>,
    /// The same for each ordered pair of bodies with contacts.
    pub pairs: Vec<DepthPairReport>,
    /// Computation time.
    pub seconds: f64,
}

/// Penetration of the vertices of a body into another.
#[derive(Debug, Clone, Serialize)]
pub struct DepthPairReport {
    /// Name of the body whose vertices penetrate.
    pub of: String,
    /// Name of the body that they penetrate.
    pub within: String,
    /// Whether both are the same body, and not only of the same name.
    #[serde(rename = "self")]
    pub self_collision: bool,
    /// Number of vertices inside.
    pub points: usize,
    /// Largest depth; `None` if no point has one.
    pub max_depth: Option<f64>,
    /// Mean depth; `None` if no point has one.
    pub mean_depth: Option<f64>,
    /// Mean confidence of the directions, 0 to 1; `None` if no point has a depth.
    pub mean_confidence: Option<f64>,
    /// Points without a consistent depth: not connected by edges to a border point.
    pub enclosed: usize,
    /// Whether the whole body is inside the other.
    pub whole: bool,
    /// Edges through the other body without a vertex inside; `None` if not asked for.
    pub edges: Option<usize>,
}

/// Result of [`depth`].
#[derive(Debug, Clone)]
pub struct Depths {
    /// Counts and depths.
    pub report: DepthReport,
    /// Both meshes as bodies.
    pub scene: MeshScene,
    /// All contacts.
    pub contacts: Contacts<f64>,
    /// Names of the meshes that are open surfaces, which nothing can penetrate.
    pub open_surfaces: Vec<String>,
}

impl Depths {
    /// One line per contact.
    pub fn csv(&self) -> String {
        let mut text = String::from("body,vertex,in,x,y,z,depth,dx,dy,dz,confidence,source\n");
        for contact in self.contacts.iter() {
            let [of, within] = contact.bodies;
            let first_vertex = self.scene.bodies.list()[of as usize].vertices.start;
            let vertex = contact.first.vertices[0] as usize - first_vertex;
            let (p, d) = (contact.position, contact.direction);
            text.push_str(&format!(
                "{of},{vertex},{within},{},{},{},{},{},{},{},{},{}\n",
                p.x,
                p.y,
                p.z,
                contact.depth,
                d.x,
                d.y,
                d.z,
                contact.confidence,
                source_name(contact.source)
            ));
        }
        text
    }

    /// The largest depth at each vertex of both bodies, 0 outside.
    pub fn vertex_depths(&self) -> Vec<f64> {
        let mut depths = vec![0.0f64; self.scene.positions.len()];
        for contact in self.contacts.iter() {
            for (vertex, _) in contact.first.parts() {
                let deepest = &mut depths[vertex as usize];
                *deepest = deepest.max(contact.depth);
            }
        }
        depths
    }
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::Border => "border",
        Source::Propagated => "propagated",
        Source::Nearest => "nearest",
        Source::WayOut => "way-out",
        Source::Edges => "edges",
        Source::Through => "through",
        Source::Volume => "volume",
        Source::Proximity => "near",
    }
}

/// Computes the penetration depth of every vertex of two meshes inside the other one.
///
/// # Errors
/// If options do not apply to the method, or neither mesh encloses a volume.
pub fn depth(
    first: &NamedMesh,
    second: &NamedMesh,
    options: &DepthOptions,
) -> Result<Depths, QueryError> {
    options.check()?;
    let scene = MeshScene::new([first, second], options.self_collision)?;
    let open_surfaces = scene.open_surfaces()?;
    let start = Instant::now();
    let found = find(options, &scene)?;
    let report = report(options, &scene, &found, start.elapsed().as_secs_f64());
    Ok(Depths { report, scene, contacts: found.contacts, open_surfaces })
}

impl DepthOptions {
    /// Checks that the options apply to the method.
    ///
    /// # Errors
    /// Names the option that does not.
    pub fn check(&self) -> Result<(), QueryError> {
        if self.method == DepthMethod::Consistent {
            return Ok(());
        }
        let wrong = [
            (self.self_collision, "self-collision"),
            (self.smooth, "interpolated normals"),
            (self.way_out, "a separation direction for enclosed points"),
        ];
        match wrong.into_iter().find(|(given, _)| *given) {
            Some((_, what)) => {
                Err(QueryError::Request(format!("{what} needs the method of consistent depth")))
            }
            None => Ok(()),
        }
    }
}

struct Found {
    points: CollidingPoints<f64>,
    consistent: Option<ConsistentDepth<f64>>,
    contacts: Contacts<f64>,
    edges: Option<usize>,
}

fn find(options: &DepthOptions, scene: &MeshScene) -> Result<Found, DetectError> {
    let (bodies, positions) = (&scene.bodies, &scene.positions[..]);
    let (mut hits, mut points) = (Hits::default(), CollidingPoints::default());
    let questions =
        Questions { points_in_tetrahedra: true, edges_through_triangles: options.edges };
    SpatialHash::default().detect(bodies, positions, questions, &mut hits)?;
    points.collect(bodies, positions, &hits)?;
    let (mut contacts, mut consistent) = (Contacts::default(), None);
    match options.method {
        DepthMethod::Nearest => {
            NearestDepth::default().find(bodies, positions, &points, &mut contacts)?;
        }
        DepthMethod::Consistent => {
            let normals = if options.smooth { Normals::Interpolated } else { Normals::Flat };
            let mut depth =
                ConsistentDepth::with(DepthParameters { normals, ..DepthParameters::default() });
            depth.find(bodies, positions, &points, &mut contacts)?;
            if options.way_out {
                let mut out = Contacts::default();
                WayOut::default().find(bodies, positions, &depth, &mut out)?;
                contacts.merge(&out);
            }
            consistent = Some(depth);
        }
    }
    let mut edges = None;
    if options.edges {
        let mut found = Contacts::default();
        EdgeDepth::default().find(bodies, positions, &hits, &points, &mut found)?;
        edges = Some(found.len());
        contacts.merge(&found);
    }
    Ok(Found { points, consistent, contacts, edges })
}

fn report(options: &DepthOptions, scene: &MeshScene, found: &Found, seconds: f64) -> DepthReport {
    let mut pairs = Vec::new();
    let count = scene.bodies.len() as u32;
    for [of, within] in (0..count).flat_map(|a| (0..count).map(move |b| [a, b])) {
        let points = found.points.list().iter().filter(|point| {
            [scene.bodies.body_of(point.vertex) as u32, point.body] == [of, within]
        });
        let points = points.count();
        let is_point = |c: &Contact<f64>| !matches!(c.source, Source::Edges | Source::Through);
        let all = found.contacts.iter().filter(|c| c.bodies == [of, within]);
        let own: Vec<_> = all.clone().filter(is_point).collect();
        let edges = found.edges.map(|_| all.clone().count() - own.len());
        let enclosed = found.consistent.as_ref().and_then(|consistent| {
            consistent.enclosed().iter().find(|group| group.bodies == [of, within])
        });
        if points == 0 && all.count() == 0 {
            continue;
        }
        let mean = |value: fn(&Contact<f64>) -> f64| {
            (!own.is_empty()).then(|| own.iter().map(value).sum::<f64>() / own.len() as f64)
        };
        pairs.push(DepthPairReport {
            of: scene.names[of as usize].clone(),
            within: scene.names[within as usize].clone(),
            self_collision: of == within,
            points,
            max_depth: own.iter().map(|c| c.depth).reduce(f64::max),
            mean_depth: mean(|c| c.depth),
            mean_confidence: mean(|c| c.confidence),
            enclosed: enclosed.map_or(0, |group| group.points.len()),
            edges,
            whole: enclosed.is_some_and(|group| group.whole),
        });
    }
    let depths: Vec<f64> = found
        .contacts
        .iter()
        .filter(|c| !matches!(c.source, Source::Edges | Source::Through))
        .map(|c| c.depth)
        .collect();
    let statistics = found.consistent.as_ref().map(|consistent| *consistent.statistics());
    DepthReport {
        schema: "defcol.depth/1",
        method: options.method,
        points: found.points.list().len(),
        border_points: statistics.map(|statistics| statistics.border_points),
        max_depth: depths.iter().copied().reduce(f64::max),
        mean_depth: (!depths.is_empty()).then(|| depths.iter().sum::<f64>() / depths.len() as f64),
        enclosed: statistics.map_or(0, |statistics| statistics.enclosed),
        edges: found.edges,
        pairs,
        seconds,
    }
}
