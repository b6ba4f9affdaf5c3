use super::Rows;

/// Each edge once, and where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edges {
    ends: Vec<[u32; 2]>,
    uses: Rows,
}

impl Edges {
    /// The edges of triangles over `vertices` vertices.
    pub(crate) fn of_triangles(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        Self::collect(vertices, 3 * triangles.len(), |slot| {
            let [a, b, c] = triangles[slot / 3];
            [[a, b], [b, c], [c, a]][slot % 3]
        })
    }

    /// The edges of tetrahedra over `vertices` vertices.
    pub(crate) fn of_tetrahedra(vertices: usize, tetrahedra: &[[u32; 4]]) -> Self {
        Self::collect(vertices, 6 * tetrahedra.len(), |slot| {
            let [a, b, c, d] = tetrahedra[slot / 6];
            [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]][slot % 6]
        })
    }

    fn collect(vertices: usize, slots: usize, ends: impl Fn(usize) -> [u32; 2]) -> Self {
        let groups = group(vertices, slots, |slot| {
            let [a, b] = ends(slot);
            (a.min(b), [a.max(b)])
        });
        Self { ends: groups.keys.iter().map(|&(a, [b])| [a, b]).collect(), uses: groups.members }
    }

    /// The two vertices of each edge, the smaller first; the edges are in ascending order.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// For each edge, ascending, the slots in which it is used. In a triangle mesh slot `3t + k` is
    /// the edge of triangle `t` from corner `k` to the next; in a tetrahedral mesh slot `6t + k`
    /// is the edge of tetrahedron `t` between its corners 01, 02, 03, 12, 13, 23 for `k` = 0 to 5.
    pub fn uses(&self) -> &Rows {
        &self.uses
    }

    /// For each vertex its neighbours along edges, ascending.
    pub(crate) fn neighbours(&self, vertices: usize) -> Rows {
        // Edges are sorted, so every neighbour below a vertex is met before those above it.
        Rows::collect(vertices, || self.ends.iter().flat_map(|&[a, b]| [(a, b), (b, a)]))
    }
}

/// Half-edges of triangles without an opposite, each as often as opposites are missing, ascending by undirected edge. A
/// surface is closed and consistently oriented if there are none.
pub(crate) fn unmatched_half_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut half_edges: Vec<([u32; 2], bool)> = Vec::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        half_edges.extend([[a, b], [b, c], [c, a]].map(|[p, q]| ([p.min(q), p.max(q)], p < q)));
    }
    half_edges.sort_unstable();
    let mut unmatched = Vec::new();
    for same in half_edges.chunk_by(|a, b| a.0 == b.0) {
        let forward = same.iter().filter(|half_edge| half_edge.1).count();
        let backward = same.len() - forward;
        let [low, high] = same[0].0;
        let edge = if forward > backward { [low, high] } else { [high, low] };
        unmatched.extend(std::iter::repeat_n(edge, forward.abs_diff(backward)));
    }
    unmatched
}

/// Equal elements brought together: unique keys ascending, and for each the elements that have it.
pub(super) struct Groups<const K: usize> {
    pub keys: Vec<(u32, [u32; K])>,
    pub members: Rows,
}

/// Groups elements by a key whose first part is a vertex: one counting pass over the vertices,
/// then a sort within each, which is short for any mesh met in practice and still
/// O(n log n) if all share one vertex.
pub(super) fn group<const K: usize>(
    vertices: usize,
    elements: usize,
    key: impl Fn(usize) -> (u32, [u32; K]),
) -> Groups<K> {
    let mut starts = vec![0u32; vertices + 1];
    for element in 0..elements {
        starts[key(element).0 as usize + 1] += 1;
    }
    for vertex in 0..vertices {
        starts[vertex + 1] += starts[vertex];
    }
    let mut next = starts.clone();
    let mut entries = vec![([0u32; K], 0u32); elements];
    for element in 0..elements {
        let (vertex, rest) = key(element);
        let slot = &mut next[vertex as usize];
        entries[*slot as usize] = (rest, element as u32);
        *slot += 1;
    }
    let mut keys = Vec::new();
    let mut ends = Vec::new();
    for vertex in 0..vertices {
        let range = starts[vertex] as usize..starts[vertex + 1] as usize;
        entries[range.clone()].sort_unstable();
        for index in range.clone() {
            let rest = entries[index].0;
            if index == range.start || entries[index - 1].0 != rest {
                keys.push((vertex as u32, rest));
                ends.push(index as u32 + 1);
            } else if let Some(end) = ends.last_mut() {
                *end = index as u32 + 1;
            }
        }
    }
    let members = Rows::from_ends(ends, entries.into_iter().map(|(_, element)| element).collect());
    Groups { keys, members }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_two_triangles() {
        let edges = Edges::of_triangles(4, &[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(edges.ends(), [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(edges.uses().row(2), [1, 3]);
        let neighbours = edges.neighbours(5);
        assert_eq!(neighbours.row(1), [0, 2, 3]);
        assert_eq!(neighbours.row(4), [0; 0]);
    }

    #[test]
    fn edges_of_a_tetrahedron() {
        let edges = Edges::of_tetrahedra(4, &[[3, 1, 0, 2]]);
        assert_eq!(edges.ends(), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(edges.uses().items(), [3, 5, 1, 4, 0, 2]);
    }
}
