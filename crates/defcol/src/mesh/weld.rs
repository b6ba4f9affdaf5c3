use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::math::{Real, Vector3};
use rayon::prelude::*;

/// For each vertex the lowest vertex at the very same place: itself if it is the first there.
/// Vertices with a coordinate that is NaN coincide with nothing.
pub fn first_coincident<R: Real>(positions: &[Vector3<R>]) -> Vec<u32> {
    let hashes: Vec<u32> =
        positions.par_iter().with_min_len(4096).map(|position| hash(&bits(position))).collect();
    let first: Vec<AtomicU32> = (0..positions.len() as u32).map(AtomicU32::new).collect();
    // Each shard has its own hashes, so the number of shards does not show in the result.
    let shards = rayon::current_num_threads().min(positions.len() / 4096 + 1) as u32;
    let found_all = (0..shards).into_par_iter().all(|shard| {
        let own = |hash: u32| (u64::from(hash) * u64::from(shards)) >> 32 == u64::from(shard);
        find_in_table(positions, &hashes, own, &first)
    });
    if !found_all {
        find_by_sorting(positions, &hashes, &first);
    }
    first.into_iter().map(AtomicU32::into_inner).collect()
}

/// Looks each vertex of a shard up in a table of those before it. Gives up, false, if the hashes
/// collide so often that somebody must have meant them to.
fn find_in_table<R: Real>(
    positions: &[Vector3<R>],
    hashes: &[u32],
    own: impl Fn(u32) -> bool,
    first: &[AtomicU32],
) -> bool {
    const EMPTY: u32 = u32::MAX;
    const MAX_STEPS: usize = 256;
    let count = hashes.iter().filter(|&&hash| own(hash)).count();
    let mask = (2 * count).next_power_of_two() - 1;
    let mut table = vec![EMPTY; mask + 1];
    for (vertex, &hash) in (0u32..).zip(hashes).filter(|&(_, &hash)| own(hash)) {
        let mut slot = hash as usize & mask;
        let mut steps = 0;
        loop {
            let other = table[slot];
            if other == EMPTY {
                table[slot] = vertex;
                break;
            }
            if hashes[other as usize] == hash
                && positions[other as usize] == positions[vertex as usize]
            {
                first[vertex as usize].store(other, Ordering::Relaxed);
                break;
            }
            steps += 1;
            if steps > MAX_STEPS {
                return false;
            }
            slot = (slot + 1) & mask;
        }
    }
    true
}

/// The same for any input in O(n log n).
fn find_by_sorting<R: Real>(positions: &[Vector3<R>], hashes: &[u32], first: &[AtomicU32]) {
    let mut order: Vec<(u32, u32)> = hashes.iter().copied().zip(0u32..).collect();
    order.par_sort_unstable();
    for run in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        run.sort_unstable_by_key(|&(_, vertex)| (bits(&positions[vertex as usize]), vertex));
        for same in run.chunk_by(|a, b| positions[a.1 as usize] == positions[b.1 as usize]) {
            for &(_, vertex) in same {
                first[vertex as usize].store(same[0].1, Ordering::Relaxed);
            }
        }
    }
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

fn hash(key: &[u64; 3]) -> u32 {
    let mixed = key.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &word| {
        let mixed = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 32)
    });
    mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53).rotate_left(32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coincident_vertices_point_to_the_first() {
        let positions = [[0.0, 1.0, 2.0], [3.0; 3], [-0.0, 1.0, 2.0], [f64::NAN; 3], [3.0; 3]]
            .map(Vector3::from);
        assert_eq!(first_coincident(&positions), [0, 1, 0, 3, 1]);
        assert_eq!(first_within(&positions, 0.0), [0, 1, 0, 3, 1]);
    }

    #[test]
    fn table_and_sorting_agree_for_any_hashes_and_threads() {
        let positions: Vec<_> = (0..20_000u32)
            .map(|k| Vector3::new(k % 1000, k * k % 7, k % 3).map(f64::from))
            .collect();
        let expected = first_coincident(&positions);
        assert!((0..20_000).any(|k| expected[k] != k as u32));
        // The worst hash there is makes the table give up.
        let hashes = vec![7; positions.len()];
        let first: Vec<AtomicU32> = (0..20_000).map(AtomicU32::new).collect();
        assert!(!find_in_table(&positions, &hashes, |_| true, &first));
        find_by_sorting(&positions, &hashes, &first);
        assert!(first.iter().map(|f| f.load(Ordering::Relaxed)).eq(expected.iter().copied()));
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| first_coincident(&positions)), expected);
        }
    }

    #[test]
    fn within_a_tolerance_a_chain_does_not_collapse_to_one_point() {
        let positions: Vec<_> =
            (0..6).map(|k| Vector3::new(0.6 * f64::from(k), 0.0, 0.0)).collect();
        assert_eq!(first_within(&positions, 1.0), [0, 0, 2, 2, 4, 4]);
    }
}
