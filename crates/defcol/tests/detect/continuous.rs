//! No impact is missed: queries whose true impact is known, and every degenerate family.

use crate::support::scenes::Random;
use defcol::detect::bvh::{Collider, Impact, ImpactFinder, Meeting, Split, Update};
use defcol::detect::primitive::ImpactSearch;
use defcol::math::Vector3;
use defcol::mesh::TriangleMesh;
use rayon::prelude::*;

/// What is special about a motion.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Family {
    Anywhere,
    /// The edges are parallel at all times, and overlap at the impact.
    Parallel,
    /// Everything stays in one plane.
    Coplanar,
    /// Nothing moves; the primitives touch all the time.
    AtRest,
    /// Corners coincide.
    Collapsed,
    /// A long way in one step.
    Fast,
    /// The weights of the impact are 0 or 1: at a corner or on an edge.
    AtCorners,
    /// Far from the origin.
    Far,
}

const FAMILIES: [Family; 8] = [
    Family::Anywhere,
    Family::Parallel,
    Family::Coplanar,
    Family::AtRest,
    Family::Collapsed,
    Family::Fast,
    Family::AtCorners,
    Family::Far,
];

/// Whole numbers, so that everything below is computed without rounding.
fn whole(random: &mut Random, size: f64) -> Vector3<f64> {
    (random.vector() * size).map(f64::round)
}

/// A multiple of 1/64.
fn fraction(random: &mut Random, family: Family) -> f64 {
    let steps = random.below(65) as f64;
    if family == Family::AtCorners { (steps / 64.0).round() } else { steps / 64.0 }
}

type Motion = [[Vector3<f64>; 4]; 2];

/// Four points that move, and the time at which they certainly meet. Points are multiples of 2^-24 or so: exact.
fn query(random: &mut Random, family: Family, edges: bool) -> (Motion, f64) {
    let size = 64.0;
    let speed = match family {
        Family::AtRest => 0.0,
        Family::Fast => 65536.0,
        _ => 64.0,
    };
    let flat =
        |p: Vector3<f64>| if family == Family::Coplanar { Vector3::new(p.x, p.y, 0.0) } else { p };
    let origin = if family == Family::Far { whole(random, 1e6) } else { Vector3::zeros() };
    let time = fraction(random, Family::Anywhere);
    // All but the last point, at the time of the impact, and how all of them move.
    let mut at: [Vector3<f64>; 4] = [(); 4].map(|()| flat(whole(random, size)) + origin);
    let mut velocity = [(); 4].map(|()| flat(whole(random, speed)));
    if family == Family::Collapsed {
        at[1 + random.below(2)] = at[random.below(4)];
        at[2] = at[3];
    }
    let (u, mut v) = (fraction(random, family), fraction(random, family));
    if edges {
        // The second edge is moved so that the points at u and v coincide.
        if family == Family::Parallel {
            at[3] = at[2] + (at[1] - at[0]) * (1.0 + random.below(3) as f64);
            velocity[1] = velocity[0];
            velocity[3] = velocity[2];
        }
        let shift = at[0] + (at[1] - at[0]) * u - (at[2] + (at[3] - at[2]) * v);
        at[2] += shift;
        at[3] += shift;
    } else {
        if u + v > 1.0 {
            v = 1.0 - u;
        }
        at[0] = at[1] + (at[2] - at[1]) * u + (at[3] - at[1]) * v;
    }
    let moved = |t: f64| std::array::from_fn(|k| at[k] + velocity[k] * (t - time));
    ([moved(0.0), moved(1.0)], time)
}

/// How many queries of each family were answered with a time that is too late, or not at all; how many were given up.
fn misses(seed: u64, count: usize) -> (usize, usize) {
    let parts = 64;
    let part = |part: usize| {
        let mut random = Random(seed * 1000 + part as u64);
        let (mut search, mut missed) = (ImpactSearch::default(), 0);
        for number in 0..count.div_ceil(parts) {
            let family = FAMILIES[number % FAMILIES.len()];
            let edges = (number / FAMILIES.len()).is_multiple_of(2);
            let ([start, end], time) = query(&mut random, family, edges);
            let found = if edges {
                search.edge_edge(start, end, 1.0)
            } else {
                search.vertex_triangle(start, end, 1.0)
            };
            // Asked until just then, it must be found as well.
            let again = if edges {
                search.edge_edge(start, end, time)
            } else {
                search.vertex_triangle(start, end, time)
            };
            if found.is_none_or(|found| found > time) || again.is_none() {
                missed += 1;
                println!("{family:?} edges: {edges} {start:?} {end:?} at {time}: {found:?}");
            }
        }
        (missed, search.take_work().given_up)
    };
    (0..parts).into_par_iter().map(part).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

#[test]
fn no_impact_is_missed() {
    assert_eq!(misses(1, 100_000).0, 0);
}

/// `cargo test --release -p defcol --test main detect::continuous:: -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes: ten million impacts"]
fn no_impact_is_missed_in_ten_million() {
    let count = 10_000_000;
    let (missed, given_up) = misses(2, count);
    println!("{count} impacts, {missed} missed, {given_up} given up");
    assert_eq!(missed, 0);
}

/// Motions with a gap at all times: how many are reported nevertheless.
#[test]
fn false_alarms_are_rare() {
    let mut random = Random(5);
    let mut search = ImpactSearch::default();
    for gap in [1e-1, 1e-3] {
        let (mut alarms, count) = (0, 20_000);
        for number in 0..count {
            // On both sides of a plane that turns with nothing: the gap is never less.
            let normal = random.vector().normalize();
            let edges = number % 2 == 0;
            let side = |k: usize| if (edges && k < 2) || k == 0 { 1.0 } else { -1.0 };
            let mut place = |k: usize| {
                let p = random.vector();
                let height = normal.dot(&p);
                p + normal * (side(k) * (height.abs() + gap) - height)
            };
            let start = [place(0), place(1), place(2), place(3)];
            let end = [place(0), place(1), place(2), place(3)];
            let found = if edges {
                search.edge_edge(start, end, 1.0)
            } else {
                search.vertex_triangle(start, end, 1.0)
            };
            alarms += usize::from(found.is_some());
        }
        println!("gap {gap}: {alarms} of {count} reported");
        assert!(alarms * 1000 <= count, "gap {gap}: {alarms} of {count}");
    }
}

#[test]
fn times_are_close_to_the_impact() {
    // A vertex falls through a resting triangle at time 0.3, and another passes beside it.
    let triangle = [[-1.0, -1.0, 0.0], [2.0, -1.0, 0.0], [-1.0, 2.0, 0.0]].map(Vector3::from);
    let [a, b, c] = triangle;
    let mut search = ImpactSearch::default();
    let mut fall = |x: f64| {
        let (start, end) = (Vector3::new(x, 0.0, 3.0), Vector3::new(x, 0.0, -7.0));
        search.vertex_triangle([start, a, b, c], [end, a, b, c], 1.0)
    };
    let time = fall(0.1).unwrap();
    assert!(time <= 0.3 && time > 0.3 - 2e-5, "{time}");
    assert_eq!(fall(1.1), None);
    let (start, end) = (Vector3::new(0.1, 0.0, 3.0), Vector3::new(0.1, 0.0, -7.0));
    assert_eq!(search.vertex_triangle([start, a, b, c], [end, a, b, c], 0.29), None);
}

/// Where each vertex begins and ends, and the mesh.
type Moving<'a> = (&'a [[Vector3<f64>; 2]], &'a TriangleMesh<f64>);

/// All impacts of two moving surfaces, or of one with itself, by comparing everything.
fn expected(first: Moving, second: Option<Moving>) -> Vec<Impact> {
    let itself = second.is_none();
    let second = second.unwrap_or(first);
    let mut search = ImpactSearch::default();
    let mut impacts = Vec::new();
    let at = |paths: [[Vector3<f64>; 2]; 4]| [paths.map(|p| p[0]), paths.map(|p| p[1])];
    for (turned, (moving, mesh), (others, other_mesh)) in
        [(false, first, second), (true, second, first)]
    {
        if turned && itself {
            break;
        }
        for vertex in 0..mesh.positions().len() as u32 {
            for (triangle, corners) in (0u32..).zip(other_mesh.triangles()) {
                if itself && corners.contains(&vertex) {
                    continue;
                }
                let [a, b, c] = corners.map(|corner| others[corner as usize]);
                let [start, end] = at([moving[vertex as usize], a, b, c]);
                let meeting = if turned {
                    Meeting::TriangleVertex { triangle, vertex }
                } else {
                    Meeting::VertexTriangle { vertex, triangle }
                };
                let time = search.vertex_triangle(start, end, 1.0);
                impacts.extend(time.map(|time| Impact { time, meeting }));
            }
        }
    }
    for &one in first.1.edges().ends() {
        for &other in second.1.edges().ends() {
            if itself && (other <= one || one.iter().any(|end| other.contains(end))) {
                continue;
            }
            let [a, b] = one.map(|end| first.0[end as usize]);
            let [c, d] = other.map(|end| second.0[end as usize]);
            let [start, end] = at([a, b, c, d]);
            let meeting = Meeting::EdgeEdge { first: one, second: other };
            let time = search.edge_edge(start, end, 1.0);
            impacts.extend(time.map(|time| Impact { time, meeting }));
        }
    }
    impacts.sort_unstable_by_key(|impact| impact.meeting);
    impacts
}

/// A surface on a random way.
fn moving(random: &mut Random, mesh: &TriangleMesh<f64>, way: f64) -> Vec<[Vector3<f64>; 2]> {
    let (from, to) = (random.vector() * 0.7, random.vector() * way);
    let folds = random.vector() * 1.5;
    let path = |p: &Vector3<f64>| [p + from, p + from + to + folds * (6.0 * p.x + 3.0 * p.y).sin()];
    mesh.positions().iter().map(path).collect()
}

#[test]
fn trees_find_the_impacts_that_comparing_everything_finds() {
    let mesh = TriangleMesh::new(defcol_scenes::regular::icosphere(0.6, 1)).unwrap();
    let mut random = Random(9);
    let (mut finder, mut impacts) = (ImpactFinder::<f64>::default(), Vec::new());
    let mut counts = [0; 2];
    let parts = |paths: &[[Vector3<f64>; 2]], k: usize| -> Vec<_> {
        paths.iter().map(|path| path[k]).collect()
    };
    for case in 0..6 {
        let paths = [moving(&mut random, &mesh, 3.0), moving(&mut random, &mesh, 3.0)];
        let [mut first, mut second] = paths.each_ref().map(|paths| {
            let mut body = Collider::deforming(&mesh, Split::default());
            body.set_positions(&parts(paths, 0), Update::Full).unwrap();
            body.set_motion(&parts(paths, 1)).unwrap();
            body.validate().unwrap();
            body
        });
        finder.all(&mut first, &mut second, &mut impacts);
        let all = expected((&paths[0], &mesh), Some((&paths[1], &mesh)));
        assert_eq!(impacts, all, "case {case}");
        counts[0] += all.len();
        let earliest = all.iter().map(|impact| impact.time).reduce(f64::min);
        let found = finder.earliest(&mut first, &mut second);
        assert_eq!(found.map(|impact| impact.time), earliest);
        finder.self_impacts(&mut first, &mut impacts);
        let own = expected((&paths[0], &mesh), None);
        assert_eq!(impacts, own, "case {case} with itself");
        counts[1] += own.len();
    }
    assert!(counts[0] > 500 && counts[1] > 100, "{counts:?}");
}
