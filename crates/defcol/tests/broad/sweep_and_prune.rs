//! Sweep and prune finds what brute force finds, whatever happened before.

use crate::support::scenes::Random;
use defcol::broad::{Islands, Proxy, SweepAndPrune, brute_force_pairs};
use defcol::math::{Bounds, Real, Vector3};
use defcol::state::Collides;

fn proxy<R: Real>(random: &mut Random) -> Proxy<R> {
    let cast = |v: Vector3<f64>| v.map(R::nearest);
    // On a lattice, so that boxes touch; some flat, some empty, some large.
    let low = (random.vector() * 8.0).map(f64::round);
    let size =
        (random.vector() * if random.chance(0.1) { 8.0 } else { 1.5 }).map(|x| x.round().abs());
    let bounds = if random.chance(0.05) {
        Bounds::empty()
    } else {
        Bounds { min: cast(low), max: cast(low + size) }
    };
    let collides = Collides {
        enabled: random.chance(0.9),
        group: if random.chance(0.5) { u32::MAX } else { 4 },
        mask: if random.chance(0.5) { u32::MAX } else { 2 },
        ..Collides::default()
    };
    Proxy { bounds, collides }
}

fn walk<R: Real>(seed: u64) -> usize {
    let mut random = Random(seed);
    let mut proxies: Vec<Proxy<R>> = (0..60).map(|_| proxy(&mut random)).collect();
    let mut sweep = SweepAndPrune::default();
    let mut found = 0;
    for frame in 0..60 {
        match random.below(8) {
            0 => proxies.push(proxy(&mut random)),
            1 if !proxies.is_empty() => {
                let place = random.below(proxies.len());
                proxies.remove(place);
            }
            // The same number of bodies, but others.
            2 if !proxies.is_empty() => {
                let place = random.below(proxies.len());
                proxies[place] = proxy(&mut random);
            }
            3 => proxies = (0..random.below(90)).map(|_| proxy(&mut random)).collect(),
            4 => proxies.reverse(),
            _ => {
                for proxy in &mut proxies {
                    if random.chance(0.7) {
                        continue;
                    }
                    let step = Vector3::from_fn(|_, _| {
                        R::nearest(if random.chance(0.5) { 1.0 } else { -1.0 })
                    });
                    proxy.bounds.min += step;
                    proxy.bounds.max += step;
                    proxy.collides.enabled ^= random.chance(0.1);
                }
            }
        }
        let pairs = sweep.update(&proxies).to_vec();
        assert_eq!(pairs, brute_force_pairs(&proxies), "seed {seed}, frame {frame}");
        assert!(sweep.validate(&proxies));
        found += pairs.len();
        islands_are_right(&proxies, &pairs);
    }
    found
}

fn islands_are_right<R: Real>(proxies: &[Proxy<R>], pairs: &[[u32; 2]]) {
    let mut islands = Islands::default();
    islands.update(proxies.len(), pairs);
    let mut seen = 0;
    for island in 0..islands.len() {
        let members = islands.members(island);
        assert!(
            members.is_sorted() && members.iter().all(|&body| islands.of(body as usize) == island)
        );
        seen += members.len();
        // Everything can be reached from the first.
        let mut reached = vec![members[0]];
        let mut next = 0;
        while next < reached.len() {
            for &[a, b] in pairs {
                for [from, to] in [[a, b], [b, a]] {
                    if from == reached[next] && !reached.contains(&to) {
                        reached.push(to);
                    }
                }
            }
            next += 1;
        }
        reached.sort_unstable();
        assert_eq!(reached, members);
    }
    assert_eq!(seen, proxies.len());
}

#[test]
fn sweep_and_prune_equals_brute_force() {
    let found: usize = (0..30).map(|seed| walk::<f64>(seed) + walk::<f32>(seed + 100)).sum();
    assert!(found > 10_000, "{found} pairs");
}

#[test]
fn boxes_that_appear_together_meet() {
    let at = |low: f64, high: f64| Proxy {
        bounds: Bounds { min: Vector3::repeat(low), max: Vector3::repeat(high) },
        collides: Collides::default(),
    };
    let nothing = Proxy { bounds: Bounds::empty(), collides: Collides::default() };
    let mut no_number = at(0.0, 1.0);
    no_number.bounds.max.y = f64::NAN;
    let mut sweep = SweepAndPrune::default();
    for _ in 0..2 {
        assert!(sweep.update(&[nothing, nothing]).is_empty());
        assert_eq!(sweep.update(&[at(0.0, 1.0), at(0.5, 1.5)]), [[0, 1]]);
        assert!(sweep.update(&[no_number, at(0.5, 1.5)]).is_empty());
    }
}

#[test]
fn touching_boxes_meet_and_empty_ones_do_not() {
    let at = |low: f64, high: f64| Proxy {
        bounds: Bounds { min: Vector3::repeat(low), max: Vector3::repeat(high) },
        collides: Collides::default(),
    };
    let mut sweep = SweepAndPrune::default();
    assert_eq!(sweep.update(&[at(0.0, 1.0), at(1.0, 2.0), at(2.1, 3.0), at(5.0, 4.0)]), [[0, 1]]);
    assert_eq!(
        sweep.update(&[at(0.0, 1.0), at(1.1, 2.1), at(2.1, 3.0), at(0.0, 9.0)]),
        [[0, 3], [1, 2], [1, 3], [2, 3]]
    );
    assert!(sweep.update(&[]).is_empty());
}
