use super::BodyPair;

/// Bodies that hang together through pairs: no body of one island can touch one of another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Islands {
    island_of: Vec<u32>,
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Islands {
    /// Sorts the bodies into islands, numbered by their smallest body.
    pub fn update(&mut self, bodies: usize, pairs: &[BodyPair]) {
        // Union-find towards the smaller number, so that every root is the smallest of its island.
        let root = &mut self.island_of;
        root.clear();
        root.extend(0..bodies as u32);
        for &[a, b] in pairs {
            let (a, b) = (find(root, a), find(root, b));
            root[a.max(b) as usize] = a.min(b);
        }
        self.starts.clear();
        self.starts.push(0);
        let mut count = 0;
        for body in 0..bodies {
            // Roots come before their members, and have been replaced by the number of the island.
            let above = root[body] as usize;
            if above == body {
                root[body] = count;
                count += 1;
                self.starts.push(0);
            } else {
                root[body] = root[above];
            }
            self.starts[root[body] as usize + 1] += 1;
        }
        for island in 1..self.starts.len() {
            self.starts[island] += self.starts[island - 1];
        }
        self.members.clear();
        self.members.resize(bodies, 0);
        // Backwards, each island is filled from its end, which moves every start to the right place.
        for body in (0..bodies).rev() {
            let end = &mut self.starts[root[body] as usize + 1];
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

fn find(root: &mut [u32], mut body: u32) -> u32 {
    while root[body as usize] != body {
        let above = root[body as usize];
        root[body as usize] = root[above as usize];
        body = above;
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn islands_hang_together_and_are_numbered_by_their_smallest_body() {
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
