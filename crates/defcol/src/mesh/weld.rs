use std::collections::HashMap;

use crate::math::{Real, Vector3};
use rayon::prelude::*;

/// For each vertex the lowest vertex at the very same place: itself if it is the first there.
/// Vertices with a coordinate that is NaN coincide with nothing.
pub fn first_coincident<R: Real>(positions: &[Vector3<R>]) -> Vec<u32> {
    // Sorting by a hash instead of filling a table: no input is slow, and no order is random.
    let mut hashed: Vec<(u64, u32)> = positions
        .par_iter()
        .enumerate()
        .with_min_len(4096)
        .map(|(vertex, position)| (hash(&bits(position)), vertex as u32))
        .collect();
    hashed.par_sort_unstable();
    let mut first: Vec<u32> = (0..positions.len() as u32).collect();
    for run in hashed
        .chunk_by_mut(|a, b| a.0 == b.0)
        .filter(|run| run.len() > 1)
    {
        run.sort_unstable_by_key(|&(_, vertex)| (bits(&positions[vertex as usize]), vertex));
        for same in run.chunk_by(|a, b| positions[a.1 as usize] == positions[b.1 as usize]) {
            for &(_, vertex) in same {
                first[vertex as usize] = same[0].1;
            }
        }
    }
    first
}

/// For each vertex the lowest earlier vertex that was kept and is no farther than `tolerance`:
/// itself, and then it is kept, if there is none.
pub(super) fn first_within<R: Real>(positions: &[Vector3<R>], tolerance: f64) -> Vec<u32> {
    if tolerance == 0.0 {
        return first_coincident(positions);
    }
    // Kept vertices are more than the tolerance apart, so a cell of that size holds few of them.
    // The table is only looked up, never iterated: its order cannot show in the result.
    let mut cells: HashMap<[u64; 3], Vec<u32>> = HashMap::new();
    let mut first: Vec<u32> = Vec::with_capacity(positions.len());
    for (vertex, position) in (0u32..).zip(positions) {
        let position = position.map(|x| x.to_f64());
        let cell = position.map(|x| (x / tolerance).floor());
        let near = (0..27)
            .filter_map(|k| {
                let step = Vector3::new(k % 3, k / 3 % 3, k / 9).map(|s: i32| f64::from(s - 1));
                cells.get(&bits(&(cell + step)))
            })
            .flatten()
            .copied()
            .filter(|&kept| {
                let offset = positions[kept as usize].map(|x| x.to_f64()) - position;
                offset.norm() <= tolerance
            })
            .min();
        first.push(near.unwrap_or(vertex));
        if near.is_none() {
            cells.entry(bits(&cell)).or_default().push(vertex);
        }
    }
    first
}

/// The same for +0 and -0.
fn bits<R: Real>(position: &Vector3<R>) -> [u64; 3] {
    [position.x, position.y, position.z].map(|x| (x.to_f64() + 0.0).to_bits())
}

fn hash(key: &[u64; 3]) -> u64 {
    key.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &word| {
        let mixed = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coincident_vertices_point_to_the_first() {
        let positions = [
            [0.0, 1.0, 2.0],
            [3.0; 3],
            [-0.0, 1.0, 2.0],
            [f64::NAN; 3],
            [3.0; 3],
        ]
        .map(Vector3::from);
        assert_eq!(first_coincident(&positions), [0, 1, 0, 3, 1]);
        assert_eq!(first_within(&positions, 0.0), [0, 1, 0, 3, 1]);
    }

    #[test]
    fn within_a_tolerance_a_chain_does_not_collapse_to_one_point() {
        let positions: Vec<_> = (0..6)
            .map(|k| Vector3::new(0.6 * f64::from(k), 0.0, 0.0))
            .collect();
        assert_eq!(first_within(&positions, 1.0), [0, 0, 2, 2, 4, 4]);
    }
}
