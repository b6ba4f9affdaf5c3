use std::fmt;

macro_rules! defect_kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal,)*) => {
        /// What may be wrong with a mesh.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DefectKind { $($(#[$doc])* $kind,)* }

        impl DefectKind {
            /// All kinds, in the order in which they are reported.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The name in JSON documents.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

defect_kinds! {
    /// A coordinate is NaN or infinite.
    NonFiniteCoordinate "non_finite_coordinate",
    /// A coordinate is beyond [`Real::MAX_COORDINATE`](crate::math::Real::MAX_COORDINATE).
    OutOfRangeCoordinate "out_of_range_coordinate",
    /// A primitive names a vertex that does not exist.
    IndexOutOfRange "index_out_of_range",
    /// A triangle names a vertex twice or has no area.
    DegenerateTriangle "degenerate_triangle",
    /// A triangle has the same three vertices as an earlier one.
    DuplicateTriangle "duplicate_triangle",
    /// A tetrahedron names a vertex twice or has no volume.
    FlatTetrahedron "flat_tetrahedron",
    /// A tetrahedron lists its corners in the order that makes its volume negative.
    InvertedTetrahedron "inverted_tetrahedron",
    /// A tetrahedron has the same four vertices as an earlier one.
    DuplicateTetrahedron "duplicate_tetrahedron",
    /// More than two tetrahedra share a face.
    NonManifoldFace "non_manifold_face",
    /// An edge has an odd number of triangles: the surface has a border there.
    OpenEdge "open_edge",
    /// More than two triangles share an edge.
    NonManifoldEdge "non_manifold_edge",
    /// The triangles around a vertex form more than one fan.
    NonManifoldVertex "non_manifold_vertex",
    /// Neighbouring triangles run around their common edge in the same direction.
    InconsistentOrientation "inconsistent_orientation",
    /// A closed component is inside out: its volume is negative and it is not the wall of a
    /// cavity in another one.
    InsideOutComponent "inside_out_component",
    /// No primitive uses a vertex.
    UnreferencedVertex "unreferenced_vertex",
    /// A vertex is at the very place of an earlier one.
    CoincidentVertex "coincident_vertex",
}

impl fmt::Display for DefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where in a mesh something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// A vertex.
    Vertex(u32),
    /// An edge by its two vertices.
    Edge([u32; 2]),
    /// A face of tetrahedra by its three vertices.
    Face([u32; 3]),
    /// A triangle.
    Triangle(u32),
    /// A tetrahedron.
    Tetrahedron(u32),
    /// A connected component by its lowest vertex.
    ComponentOf(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vertex(vertex) => write!(f, "vertex {vertex}"),
            Self::Edge([a, b]) => write!(f, "edge {a}-{b}"),
            Self::Face([a, b, c]) => write!(f, "face {a}-{b}-{c}"),
            Self::Triangle(triangle) => write!(f, "triangle {triangle}"),
            Self::Tetrahedron(tetrahedron) => write!(f, "tetrahedron {tetrahedron}"),
            Self::ComponentOf(vertex) => write!(f, "component of vertex {vertex}"),
        }
    }
}

/// One kind of defect: how often, and the first place. Indices count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defect {
    /// What is wrong.
    pub kind: DefectKind,
    /// In how many places.
    pub count: usize,
    /// The first of them.
    pub example: Place,
}

/// Counts defects while a mesh is looked through.
#[derive(Default)]
pub(super) struct Tally {
    found: Vec<Defect>,
}

impl Tally {
    pub fn add(&mut self, kind: DefectKind, example: Place) {
        match self.found.iter_mut().find(|defect| defect.kind == kind) {
            Some(defect) => defect.count += 1,
            None => self.found.push(Defect { kind, count: 1, example }),
        }
    }

    pub fn into_sorted(mut self) -> Vec<Defect> {
        self.found.sort_by_key(|defect| defect.kind);
        self.found
    }
}
