/// Which vertices hang together through primitives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    count: u32,
    of_vertex: Vec<u32>,
}

impl Components {
    /// The label of a vertex that no primitive uses.
    pub const NONE: u32 = u32::MAX;

    /// Vertices that share a primitive are in one component. Components are numbered in the order
    /// of their lowest vertex.
    pub(crate) fn collect<const N: usize>(vertices: usize, primitives: &[[u32; N]]) -> Self {
        let mut sets = DisjointSets::new(vertices);
        let mut used = vec![false; vertices];
        for primitive in primitives {
            for &vertex in primitive {
                used[vertex as usize] = true;
                sets.join(primitive[0], vertex);
            }
        }
        let mut of_vertex = vec![Self::NONE; vertices];
        let mut count = 0;
        for vertex in 0..vertices {
            if used[vertex] {
                // The representative is the lowest vertex of its set, so it is labelled first.
                let lowest = sets.find(vertex as u32) as usize;
                if lowest == vertex {
                    of_vertex[vertex] = count;
                    count += 1;
                } else {
                    of_vertex[vertex] = of_vertex[lowest];
                }
            }
        }
        Self { count, of_vertex }
    }

    /// How many components there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The component of each vertex, [`Components::NONE`] where no primitive uses it.
    pub fn of_vertex(&self) -> &[u32] {
        &self.of_vertex
    }
}

/// Union-find whose representative is the lowest member, so that labels do not depend on the
/// order of the unions.
#[derive(Debug, Default)]
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    pub fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    /// Starts again with `count` sets of one, keeping the allocation.
    pub fn reset(&mut self, count: usize) {
        self.parent.clear();
        self.parent.extend(0..count as u32);
    }

    pub fn find(&mut self, mut member: u32) -> u32 {
        while self.parent[member as usize] != member {
            let above = self.parent[self.parent[member as usize] as usize];
            self.parent[member as usize] = above;
            member = above;
        }
        member
    }

    /// Makes every member know its representative, for [`settled`](Self::settled).
    pub fn settle(&mut self) {
        // A representative is the lowest of its set, so those below are settled before.
        for member in 0..self.parent.len() {
            self.parent[member] = self.parent[self.parent[member] as usize];
        }
    }

    /// The representative, after [`settle`](Self::settle).
    pub fn settled(&self, member: u32) -> u32 {
        self.parent[member as usize]
    }

    /// Joins two sets; false if they were one already.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_by_their_lowest_vertex() {
        let components = Components::collect(8, &[[6, 7, 5], [4, 0, 1], [1, 4, 2]]);
        assert_eq!(components.count(), 2);
        assert_eq!(components.of_vertex(), [0, 0, 0, Components::NONE, 0, 1, 1, 1]);
    }
}
