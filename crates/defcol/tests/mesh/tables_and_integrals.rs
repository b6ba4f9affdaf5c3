//! Tables, surfaces and integrals of meshes, compared with their definitions.

use std::collections::{BTreeMap, BTreeSet};

use defcol::error::MeshError;
use defcol::math::{Matrix3, Vector3};
use defcol::mesh::{Components, RawMesh, TetMesh, TriangleMesh};
use defcol_scenes::regular::{ball, box_grid, icosphere, torus};
use proptest::prelude::*;

fn positions(count: usize) -> Vec<Vector3<f64>> {
    (0..count)
        .map(|k| Vector3::new(k as f64, (k * k % 7) as f64, (k * k * k % 11) as f64))
        .collect()
}

/// Triangles on few vertices, some of them bad.
fn any_triangles() -> impl Strategy<Value = (usize, Vec<[u32; 3]>)> {
    (1usize..14).prop_flat_map(|vertices| {
        let index = 0..vertices as u32 + u32::from(vertices % 5 == 0);
        (Just(vertices), prop::collection::vec(prop::array::uniform3(index), 0..30))
    })
}

fn sound<const N: usize>(primitive: &[u32; N]) -> bool {
    primitive.iter().collect::<BTreeSet<_>>().len() == N
}

proptest! {
    #[test]
    fn construction_fails_exactly_on_bad_input(
        (vertices, triangles) in any_triangles(), bad in prop::option::weighted(0.3, (0usize..14, 0usize..3)),
    ) {
        let mut raw = RawMesh { positions: positions(vertices), triangles, tetrahedra: vec![] };
        if let Some((vertex, axis)) = bad && vertex < vertices {
            raw.positions[vertex][axis] = [f64::NAN, f64::INFINITY, -1e61][axis];
        }
        let good = raw.positions.iter().flatten().all(|x| x.abs() <= 1e60)
            && !raw.triangles.is_empty()
            && raw.triangles.iter().all(|t| sound(t) && t.iter().all(|&v| (v as usize) < vertices));
        prop_assert_eq!(TriangleMesh::new(raw).is_ok(), good);
    }

    #[test]
    fn tables_agree_with_their_definitions((vertices, mut triangles) in any_triangles()) {
        triangles.retain(|t| sound(t) && t.iter().all(|&v| (v as usize) < vertices));
        prop_assume!(!triangles.is_empty());
        let raw = RawMesh { positions: positions(vertices), triangles, tetrahedra: vec![] };
        let mesh = TriangleMesh::new(raw).unwrap();

        let mut uses: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        let mut neighbours = vec![BTreeSet::new(); vertices];
        let mut users = vec![Vec::new(); vertices];
        for (t, corners) in (0u32..).zip(mesh.triangles()) {
            for k in 0..3 {
                let [a, b] = [corners[k], corners[(k + 1) % 3]];
                uses.entry([a.min(b), a.max(b)]).or_default().push(3 * t + k as u32);
                neighbours[a as usize].insert(b);
                neighbours[b as usize].insert(a);
                users[a as usize].push(t);
            }
        }
        prop_assert!(mesh.edges().ends().iter().eq(uses.keys()));
        prop_assert!(mesh.edges().uses().iter().eq(uses.values()));
        prop_assert!(mesh.vertex_triangles().iter().eq(&users));
        for (row, expected) in mesh.vertex_neighbours().iter().zip(&neighbours) {
            prop_assert!(row.iter().eq(expected));
        }
        // Two vertices are in one component if a walk along edges joins them.
        let components = mesh.components();
        for (start, users) in users.iter().enumerate() {
            let mut reached = BTreeSet::from([start as u32]);
            let mut open = vec![start as u32];
            while let Some(vertex) = open.pop() {
                open.extend(neighbours[vertex as usize].iter().filter(|&&n| reached.insert(n)));
            }
            let label = components.of_vertex()[start];
            prop_assert_eq!(label == Components::NONE, users.is_empty());
            for other in 0..vertices {
                let together = label != Components::NONE && components.of_vertex()[other] == label;
                prop_assert_eq!(together, reached.contains(&(other as u32)) && label != Components::NONE);
            }
        }
    }

    #[test]
    fn surface_does_not_depend_on_the_order_of_corners(
        swaps in prop::collection::vec(any::<bool>(), 2 * 2 * 3 * 5),
    ) {
        let mut raw = box_grid([2, 2, 3], 1.0);
        let reference = TetMesh::new(raw.clone()).unwrap();
        for (tetrahedron, swap) in raw.tetrahedra.iter_mut().zip(swaps) {
            if swap {
                tetrahedron.swap(0, 2);
            }
        }
        let mesh = TetMesh::new(raw).unwrap();
        let faces = |mesh: &TetMesh<f64>| -> BTreeSet<[u32; 3]> {
            mesh.surface().triangles().iter().map(|&t| {
                let lowest = (0..3).min_by_key(|&k| t[k]).unwrap();
                [0, 1, 2].map(|k| t[(lowest + k) % 3])
            }).collect()
        };
        prop_assert_eq!(faces(&mesh), faces(&reference));
        prop_assert_eq!(mesh.surface().vertices(), reference.surface().vertices());
        prop_assert!((mesh.volume() - 12.0).abs() < 1e-12);
    }
}

#[test]
fn errors_name_the_place() {
    let raw = |positions: Vec<Vector3<f32>>, triangles| RawMesh {
        positions,
        triangles,
        tetrahedra: vec![],
    };
    let three = vec![Vector3::zeros(), Vector3::x(), Vector3::y()];
    assert_eq!(
        TriangleMesh::new(raw(three.clone(), vec![])).unwrap_err(),
        MeshError::Empty("triangles")
    );
    assert_eq!(
        TriangleMesh::new(raw(three.clone(), vec![[0, 1, 2], [0, 1, 3]])).unwrap_err(),
        MeshError::IndexOutOfRange { primitive: "triangle", index: 1, vertex: 3, vertices: 3 },
    );
    let mut large = three.clone();
    large[2].y = 2e12;
    let error = TriangleMesh::new(raw(large, vec![[0, 1, 2]])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "vertex 2 has the coordinate 1.999999991808e12, beyond ±1e12; choose a larger unit of length"
    );
    let solid = RawMesh { positions: three, triangles: vec![], tetrahedra: vec![[0, 1, 2, 1]] };
    assert_eq!(
        TetMesh::new(solid).unwrap_err(),
        MeshError::RepeatedVertex { primitive: "tetrahedron", index: 0, vertex: 1 },
    );
}

#[test]
fn surface_of_a_solid_maps_back_to_it() {
    let mesh = TetMesh::new(box_grid([3, 3, 3], 1.0)).unwrap();
    let surface = mesh.surface();
    assert_eq!(surface.vertices().len(), 64 - 8);
    assert_eq!(surface.triangles().len(), 6 * 9 * 2);
    for (triangle, &tetrahedron) in surface.triangles().iter().zip(surface.tetrahedra()) {
        let corners = mesh.tetrahedra()[tetrahedron as usize];
        assert!(triangle.iter().all(|&v| corners.contains(&surface.vertices()[v as usize])));
    }
    let moved: Vec<_> = mesh.positions().iter().map(|p| p * 2.0).collect();
    let mut gathered = vec![];
    surface.gather(&moved, &mut gathered);
    assert!(gathered.iter().zip(surface.mesh().positions()).all(|(a, b)| *a == b * 2.0));
    assert_eq!(mesh.vertex_tetrahedra().items().len(), 4 * 27 * 5);
    assert_eq!(mesh.components().count(), 1);
    // Euler: V - E + F - C = 1 with F = (4C + boundary) / 2.
    let cells = mesh.tetrahedra().len();
    let faces = (4 * cells + surface.triangles().len()) / 2;
    assert_eq!(64 + faces, 1 + mesh.edges().ends().len() + cells);
}

#[test]
fn a_body_deformed_until_elements_invert_keeps_an_oriented_surface() {
    let mut raw = box_grid([2, 2, 2], 1.0);
    raw.positions[26] = Vector3::new(0.9, 0.9, 0.9);
    let facts = defcol::mesh::inspect(&raw);
    assert!(facts.count(defcol::mesh::DefectKind::InvertedTetrahedron) > 0);
    assert!(facts.closed && facts.oriented);
}

#[test]
fn mass_of_a_box_anywhere() {
    for offset in [0.0, 1000.0] {
        let mut raw = box_grid([2, 3, 4], 0.5);
        raw.positions.iter_mut().for_each(|p| *p += Vector3::repeat(offset));
        let mass = TetMesh::new(raw).unwrap().mass_properties();
        let [x, y, z] = [1.0f64, 1.5, 2.0];
        let volume = x * y * z;
        assert!((mass.volume - volume).abs() < 1e-10);
        let center = Vector3::new(x, y, z) / 2.0 + Vector3::repeat(offset);
        assert!((mass.centroid - center).norm() < 1e-9);
        let expected =
            Matrix3::from_diagonal(&Vector3::new(y * y + z * z, x * x + z * z, x * x + y * y))
                * (volume / 12.0);
        assert!((mass.inertia - expected).norm() < 1e-7, "{}", mass.inertia);
    }
    assert!(
        (TetMesh::new(ball(1.0)).unwrap().mass_properties().inertia.fixed_view::<2, 1>(1, 0))
            .norm()
            < 1e-15
    );
}

#[test]
fn normals_of_a_sphere_are_radial_and_weighted_by_area() {
    let sphere = TriangleMesh::new(icosphere(3.0, 4)).unwrap();
    let mut normals = vec![];
    sphere.vertex_normals(sphere.positions(), &mut normals);
    for (normal, position) in normals.iter().zip(sphere.positions()) {
        assert!((normal - position / 3.0).norm() < 1e-2);
    }
    // A large triangle in the xy plane outweighs a small one in the yz plane 100 to 1.
    let raw = RawMesh {
        positions: [
            [0.0, 0.0, 0.0],
            [10.0, 0.0, 0.0],
            [0.0, 10.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [9.0; 3],
        ]
        .map(Vector3::from)
        .to_vec(),
        triangles: vec![[0, 1, 2], [0, 3, 4]],
        tetrahedra: vec![],
    };
    let mesh = TriangleMesh::new(raw).unwrap();
    mesh.vertex_normals(mesh.positions(), &mut normals);
    let expected = Vector3::new(1.0, 0.0, 100.0).normalize();
    assert!((normals[0] - expected).norm() < 1e-15);
    assert_eq!(normals[5], Vector3::zeros());
}

#[test]
fn normals_have_the_same_bits_for_any_number_of_threads() {
    let mesh = TriangleMesh::new(torus(2.0, 0.7, 300, 200).cast::<f32>()).unwrap();
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut normals = vec![];
        pool.install(|| mesh.vertex_normals(mesh.positions(), &mut normals));
        normals
            .iter()
            .flat_map(|n| n.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            .collect::<Vec<u32>>()
    };
    assert!(bits(1) == bits(2) && bits(1) == bits(5));
}
