use super::components::DisjointSets;
use super::defects::Tally;
use super::edges::group;
use super::raw::{BadCoordinate, bad_coordinate, repeated_vertex};
use super::{
    Components, Defect, DefectKind, Edges, Place, RawMesh, area, first_coincident, mass_properties,
    outward_faces,
};
use crate::math::predicate::{collinear, orient3d};
use crate::math::{Bounds, Real, Sign, Vector3};

/// Facts and defects of a mesh.
///
/// Where there are tetrahedra, the surface is theirs; listed triangles are then only checked
/// for themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Vertices, unreferenced ones too.
    pub vertices: usize,
    /// Triangles of the surface.
    pub triangles: usize,
    /// Tetrahedra.
    pub tetrahedra: usize,
    /// There is a surface and no edge of it has an odd number of triangles.
    pub closed: bool,
    /// Every edge is run through equally often in both directions (at a border, once).
    pub oriented: bool,
    /// What the surface encloses; `None` unless it is closed and oriented.
    pub volume: Option<f64>,
    /// Area of the surface.
    pub area: f64,
    /// The box around all vertices; `None` if there are none.
    pub bounds: Option<Bounds<f64>>,
    /// Groups of vertices that hang together through primitives.
    pub components: u32,
    /// What is wrong, in the order of [`DefectKind::ALL`]; empty for a sound mesh.
    pub defects: Vec<Defect>,
}

impl Inspection {
    /// How often a kind of defect was found.
    pub fn count(&self, kind: DefectKind) -> usize {
        self.defects.iter().find(|defect| defect.kind == kind).map_or(0, |defect| defect.count)
    }
}

/// Looks at everything that can be told about a mesh without intersecting its triangles.
pub fn inspect<R: Real>(raw: &RawMesh<R>) -> Inspection {
    let mut tally = Tally::default();
    let positions: &[Vector3<R>] = &raw.positions;
    let finite = check_coordinates(positions, &mut tally);
    let triangles = usable_triangles(raw, &mut tally);
    let tetrahedra = usable_tetrahedra(raw, &mut tally);
    count_vertices(positions, &triangles, &tetrahedra, &mut tally);

    let solid = !tetrahedra.is_empty();
    let components = if solid {
        Components::collect(positions.len(), &tetrahedra)
    } else {
        Components::collect(positions.len(), &triangles)
    };
    let surface = if solid {
        let faces = outward_faces(positions, &tetrahedra);
        for &face in &faces.shared_by_many {
            tally.add(DefectKind::NonManifoldFace, Place::Face(face));
        }
        faces.triangles
    } else {
        triangles
    };
    let edges = Edges::of_triangles(positions.len(), &surface);
    let mut solid_parts = vec![true; components.count() as usize];
    let (closed, oriented) =
        check_edges(&edges, &surface, &components, &mut solid_parts, &mut tally);
    check_fans(&edges, &surface, positions.len(), &mut tally);
    let measurable = finite && !surface.is_empty();
    if measurable {
        find_inside_out(positions, &surface, &components, &solid_parts, &mut tally);
    }
    let bounds = Bounds::of(
        positions.iter().map(|p| p.map(|x| x.to_f64())).filter(|p| p.iter().all(|x| x.is_finite())),
    );
    Inspection {
        vertices: positions.len(),
        triangles: surface.len(),
        tetrahedra: raw.tetrahedra.len(),
        closed,
        oriented,
        volume: (measurable && closed && oriented)
            .then(|| mass_properties(positions, &surface).volume),
        area: if finite { area(positions, &surface) } else { f64::NAN },
        bounds: (!bounds.is_empty()).then_some(bounds),
        components: components.count(),
        defects: tally.into_sorted(),
    }
}

fn check_coordinates<R: Real>(positions: &[Vector3<R>], tally: &mut Tally) -> bool {
    let mut finite = true;
    for (vertex, position) in (0u32..).zip(positions) {
        match bad_coordinate(position) {
            None => {}
            Some((BadCoordinate::NonFinite, _)) => {
                finite = false;
                tally.add(DefectKind::NonFiniteCoordinate, Place::Vertex(vertex));
            }
            Some((BadCoordinate::OutOfRange, _)) => {
                finite = false;
                tally.add(DefectKind::OutOfRangeCoordinate, Place::Vertex(vertex));
            }
        }
    }
    finite
}

/// The triangles whose corners exist and differ.
fn usable_triangles<R: Real>(raw: &RawMesh<R>, tally: &mut Tally) -> Vec<[u32; 3]> {
    let positions = &raw.positions;
    let mut usable = Vec::with_capacity(raw.triangles.len());
    let mut index = Vec::with_capacity(raw.triangles.len());
    for (triangle, corners) in (0u32..).zip(&raw.triangles) {
        let place = Place::Triangle(triangle);
        if corners.iter().any(|&vertex| vertex as usize >= positions.len()) {
            tally.add(DefectKind::IndexOutOfRange, place);
            continue;
        }
        let [a, b, c] = corners.map(|vertex| positions[vertex as usize]);
        if repeated_vertex(corners).is_some() {
            tally.add(DefectKind::DegenerateTriangle, place);
            continue;
        }
        if all_usable(&[a, b, c]) && collinear(a, b, c) {
            tally.add(DefectKind::DegenerateTriangle, place);
        }
        usable.push(*corners);
        index.push(triangle);
    }
    let groups = group(positions.len(), usable.len(), |triangle| {
        let mut corners = usable[triangle];
        corners.sort_unstable();
        (corners[0], [corners[1], corners[2]])
    });
    for copies in groups.members.iter() {
        for &copy in &copies[1..] {
            tally.add(DefectKind::DuplicateTriangle, Place::Triangle(index[copy as usize]));
        }
    }
    usable
}

/// The tetrahedra whose corners exist and differ.
fn usable_tetrahedra<R: Real>(raw: &RawMesh<R>, tally: &mut Tally) -> Vec<[u32; 4]> {
    let positions = &raw.positions;
    let mut usable = Vec::with_capacity(raw.tetrahedra.len());
    let mut index = Vec::with_capacity(raw.tetrahedra.len());
    for (tetrahedron, corners) in (0u32..).zip(&raw.tetrahedra) {
        let place = Place::Tetrahedron(tetrahedron);
        if corners.iter().any(|&vertex| vertex as usize >= positions.len()) {
            tally.add(DefectKind::IndexOutOfRange, place);
            continue;
        }
        if repeated_vertex(corners).is_some() {
            tally.add(DefectKind::FlatTetrahedron, place);
            continue;
        }
        let points = corners.map(|vertex| positions[vertex as usize]);
        if all_usable(&points) {
            match orient3d(points[0], points[1], points[2], points[3]) {
                Sign::Positive => {}
                Sign::Zero => tally.add(DefectKind::FlatTetrahedron, place),
                Sign::Negative => tally.add(DefectKind::InvertedTetrahedron, place),
            }
        }
        usable.push(*corners);
        index.push(tetrahedron);
    }
    let groups = group(positions.len(), usable.len(), |tetrahedron| {
        let mut corners = usable[tetrahedron];
        corners.sort_unstable();
        (corners[0], [corners[1], corners[2], corners[3]])
    });
    for copies in groups.members.iter() {
        for &copy in &copies[1..] {
            tally.add(DefectKind::DuplicateTetrahedron, Place::Tetrahedron(index[copy as usize]));
        }
    }
    usable
}

fn all_usable<R: Real>(points: &[Vector3<R>]) -> bool {
    points.iter().all(|point| bad_coordinate(point).is_none())
}

fn count_vertices<R: Real>(
    positions: &[Vector3<R>],
    triangles: &[[u32; 3]],
    tetrahedra: &[[u32; 4]],
    tally: &mut Tally,
) {
    let mut used = vec![false; positions.len()];
    for &vertex in triangles.iter().flatten().chain(tetrahedra.iter().flatten()) {
        used[vertex as usize] = true;
    }
    for (vertex, first) in (0u32..).zip(first_coincident(positions)) {
        if !used[vertex as usize] {
            tally.add(DefectKind::UnreferencedVertex, Place::Vertex(vertex));
        }
        if first != vertex {
            tally.add(DefectKind::CoincidentVertex, Place::Vertex(vertex));
        }
    }
}

/// Tells whether the surface is closed and whether it is oriented, and which components are both.
fn check_edges(
    edges: &Edges,
    triangles: &[[u32; 3]],
    components: &Components,
    solid_parts: &mut [bool],
    tally: &mut Tally,
) -> (bool, bool) {
    let mut closed = !triangles.is_empty();
    let mut oriented = true;
    for (&[a, b], uses) in edges.ends().iter().zip(edges.uses().iter()) {
        let place = Place::Edge([a, b]);
        let forward = uses
            .iter()
            .filter(|&&slot| triangles[slot as usize / 3][slot as usize % 3] == a)
            .count();
        if uses.len() % 2 == 1 {
            closed = false;
            solid_parts[components.of_vertex()[a as usize] as usize] = false;
            tally.add(DefectKind::OpenEdge, place);
        }
        if uses.len() > 2 {
            tally.add(DefectKind::NonManifoldEdge, place);
        }
        if forward.abs_diff(uses.len() - forward) > uses.len() % 2 {
            oriented = false;
            solid_parts[components.of_vertex()[a as usize] as usize] = false;
            tally.add(DefectKind::InconsistentOrientation, place);
        }
    }
    (closed, oriented)
}

/// Around a manifold vertex the opposite edges of its triangles form one path or ring.
fn check_fans(edges: &Edges, triangles: &[[u32; 3]], vertices: usize, tally: &mut Tally) {
    let neighbours = edges.neighbours(vertices);
    let opposite = super::Rows::collect(vertices, || {
        (0u32..).zip(triangles).flat_map(|(triangle, corners)| corners.map(|v| (v, triangle)))
    });
    let mut fans = DisjointSets::new(0);
    for vertex in 0..vertices {
        let ring = neighbours.row(vertex);
        let position = |other: u32| ring.partition_point(|&neighbour| neighbour < other) as u32;
        fans.reset(ring.len());
        let mut count = ring.len();
        for &triangle in opposite.row(vertex) {
            let [a, b, c] = triangles[triangle as usize];
            let [p, q] = match vertex as u32 {
                v if v == a => [b, c],
                v if v == b => [c, a],
                _ => [a, b],
            };
            count -= usize::from(fans.join(position(p), position(q)));
        }
        if count > 1 {
            tally.add(DefectKind::NonManifoldVertex, Place::Vertex(vertex as u32));
        }
    }
}

fn find_inside_out<R: Real>(
    positions: &[Vector3<R>],
    triangles: &[[u32; 3]],
    components: &Components,
    solid_parts: &[bool],
    tally: &mut Tally,
) {
    struct Part {
        volume: f64,
        bounds: Bounds<f64>,
        lowest_vertex: u32,
    }
    let count = components.count() as usize;
    let lists = super::Rows::collect(count, || {
        (0u32..)
            .zip(triangles)
            .map(|(index, corners)| (components.of_vertex()[corners[0] as usize], index))
    });
    let mut own: Vec<[u32; 3]> = Vec::new();
    let parts: Vec<Part> = lists
        .iter()
        .zip(solid_parts)
        .filter(|(_, is_solid)| **is_solid)
        .map(|(list, _)| {
            own.clear();
            own.extend(list.iter().map(|&index| triangles[index as usize]));
            let corners = own.iter().flatten();
            Part {
                volume: mass_properties(positions, &own).volume,
                bounds: Bounds::of(
                    corners.clone().map(|&vertex| positions[vertex as usize].map(|x| x.to_f64())),
                ),
                lowest_vertex: corners.copied().min().unwrap_or(0),
            }
        })
        .collect();
    // What may enclose a part begins before it: those that do, and of them the farthest end so far.
    let mut outer: Vec<&Part> = parts.iter().filter(|part| part.volume > 0.0).collect();
    outer.sort_by(|a, b| a.bounds.min.x.total_cmp(&b.bounds.min.x));
    let ends: Vec<f64> = outer
        .iter()
        .scan(f64::NEG_INFINITY, |end, part| {
            *end = end.max(part.bounds.max.x);
            Some(*end)
        })
        .collect();
    for part in parts.iter().filter(|part| part.volume < 0.0) {
        let before = outer.partition_point(|outer| outer.bounds.min.x < part.bounds.min.x);
        let is_enclosed = (0..before)
            .rev()
            .take_while(|&k| ends[k] > part.bounds.max.x)
            .any(|k| outer[k].bounds.encloses(&part.bounds));
        if !is_enclosed {
            let place = Place::ComponentOf(part.lowest_vertex);
            tally.add(DefectKind::InsideOutComponent, place);
        }
    }
}
