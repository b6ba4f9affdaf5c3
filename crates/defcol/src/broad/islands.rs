use super::BodyPair;
use crate::mesh::DisjointSets;

/// Connected components of the graph of overlapping body pairs: no body of one island can touch one of another.
#[derive(Debug, Default)]
pub struct Islands {
    sets: DisjointSets,
    island_of: Vec<u32>,
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Islands {
    /// Sorts the bodies into islands, numbered by their smallest body.
    pub fn update(&mut self, bodies: usize, pairs: &[BodyPair]) {
        self.sets.reset(bodies);
        for &[a, b] in pairs {
            self.sets.join(a, b);
        }
        self.island_of.clear();
        self.starts.clear();
        self.starts.push(0);
        for body in 0..bodies as u32 {
            // The representative is the smallest body of its island, so it comes first.
            let first = self.sets.find(body);
            let island = if first == body {
                self.starts.push(0);
                self.starts.len() as u32 - 2
            } else {
                self.island_of[first as usize]
            };
            self.island_of.push(island);
            self.starts[island as usize + 1] += 1;
        }
        for island in 1..self.starts.len() {
            self.starts[island] += self.starts[island - 1];
        }
        self.members.clear();
        self.members.resize(bodies, 0);
        // Backwards, each island is filled from its end, which moves every start to the right index.
        for body in (0..bodies).rev() {
            let end = &mut self.starts[self.island_of[body] as usize + 1];
            *end -= 1;
            self.members[*end as usize] = body as u32;
        }
        self.starts.remove(0);
        self.starts.push(bodies as u32);
    }

    /// How many islands there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bodies of an island, ascending.
    pub fn members(&self, island: usize) -> &[u32] {
        &self.members[self.starts[island] as usize..self.starts[island + 1] as usize]
    }

    /// The island of a body.
    pub fn of(&self, body: usize) -> usize {
        self.island_of[body] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn islands_are_connected_and_numbered_by_their_smallest_body() {
        let mut islands = Islands::default();
        islands.update(8, &[[3, 6], [1, 7], [6, 4], [7, 4]]);
        let all: Vec<_> = (0..islands.len()).map(|island| islands.members(island)).collect();
        assert_eq!(all, [&[0][..], &[1, 3, 4, 6, 7], &[2], &[5]]);
        assert_eq!(
            (0..8).map(|body| islands.of(body)).collect::<Vec<_>>(),
            [0, 1, 2, 1, 1, 3, 1, 1]
        );
        islands.update(0, &[]);
        assert!(islands.is_empty());
    }
}
