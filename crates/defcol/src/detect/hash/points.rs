//! Vertices in the cells of a grid.

use std::ops::Range;

use rayon::prelude::*;

use super::grid::{CellBox, STEP_BITS, Slots};
use super::{HashFunction, TableSize};

/// Entries that may be read behind the last one.
pub(super) const PADDING: usize = 64;

/// Below this many points one thread is quicker than several.
const WORTH_SHARING: usize = 1 << 15;

// A key packs the lowest bits of the steps along x, y and z, with a bit between that catches borrows:
// three differences are compared at once. 10, 10 and 9 bits: boxes up to 8 cells wide are told apart.
const BITS: [u32; 3] = [10, 10, 9];
const SHIFT: [u32; 3] = [0, 11, 22];

/// The bits between.
pub(super) const GUARD: u32 = (1 << 10) | (1 << 21) | (1 << 31);

/// Steps as a key, modulo the width of each field.
#[inline(always)]
pub(super) fn key(steps: [u32; 4]) -> u32 {
    let field = |axis: usize| (steps[axis] & ((1 << BITS[axis]) - 1)) << SHIFT[axis];
    field(0) | field(1) | field(2)
}

/// Widths of a box as a key; what is too wide passes everything.
#[inline(always)]
pub(super) fn width_key(widths: [u32; 4]) -> u32 {
    let field = |axis: usize| widths[axis].min((1 << BITS[axis]) - 1) << SHIFT[axis];
    field(0) | field(1) | field(2) | GUARD
}

/// The cell of a position given by its steps.
#[inline(always)]
pub(super) fn cell(steps: [u32; 4]) -> [u32; 3] {
    [steps[0] >> STEP_BITS, steps[1] >> STEP_BITS, steps[2] >> STEP_BITS]
}

/// Vertices sorted by slot: those of slot `s` are `starts[s]..starts[s + 1]`.
///
/// Counting and prefix sums rather than lists with time stamps (THESIS 4.2.2): a table is written from
/// one end to the other and read in runs. `cargo bench --bench hashing -- clearing` compares the two.
#[derive(Debug, Default)]
pub(super) struct PointTable {
    pub slots: Slots,
    pub starts: Vec<u32>,
    pub keys: Vec<u32>,
    pub vertices: Vec<u32>,
    members: Vec<u32>,
    slot_of: Vec<u32>,
}

impl PointTable {
    /// Puts the vertices of some ranges into cells; of those only the ones within `clip`.
    pub fn build(
        &mut self,
        steps: &[[u32; 4]],
        ranges: impl Iterator<Item = Range<usize>>,
        clip: Option<&CellBox>,
        function: HashFunction,
        size: TableSize,
    ) {
        self.members.clear();
        for range in ranges {
            let all = range.start as u32..range.end as u32;
            match clip {
                None => self.members.extend(all),
                Some(clip) => self.members.extend(all.filter(|&vertex| {
                    let cell = cell(steps[vertex as usize]);
                    (0..3).all(|k| clip.low[k] <= cell[k] && cell[k] <= clip.high[k])
                })),
            }
        }
        let members = &self.members;
        let around = |some: &[u32]| {
            let cells = some.iter().map(|&vertex| cell(steps[vertex as usize]));
            cells.fold(CellBox::EMPTY, CellBox::including)
        };
        let parts = members.par_chunks(WORTH_SHARING).map(around);
        let bounds = parts.reduce(|| CellBox::EMPTY, CellBox::union);
        self.slots = Slots::new(bounds, members.len(), function, size);
        let slots = &self.slots;
        self.slot_of.resize(members.len(), 0);
        self.slot_of
            .par_iter_mut()
            .zip(members)
            .with_min_len(WORTH_SHARING)
            .for_each(|(slot, &vertex)| *slot = slots.of(cell(steps[vertex as usize])));
        self.sort(steps);
        debug_assert!(self.validate(steps), "a vertex is not in the slot of its cell");
    }

    /// Whether slots follow one another without a gap, and every vertex is in the slot of its cell.
    pub fn validate(&self, steps: &[[u32; 4]]) -> bool {
        let count = self.slots.count();
        let in_order = self.starts.len() == count + 1
            && self.starts.is_sorted()
            && self.starts.first() == Some(&0)
            && self.starts.last() == Some(&(self.members.len() as u32));
        in_order
            && (0..count).all(|slot| {
                let range = self.starts[slot] as usize..self.starts[slot + 1] as usize;
                range.into_iter().all(|entry| {
                    let steps = steps[self.vertices[entry] as usize];
                    self.slots.of(cell(steps)) as usize == slot
                        && self.keys[entry] & !GUARD == key(steps)
                })
            })
    }

    /// Counting sort by slot. Several threads share the slots, each reads all points.
    fn sort(&mut self, steps: &[[u32; 4]]) {
        let (members, slot_of) = (&self.members, &self.slot_of);
        let count = self.slots.count();
        let parts = match members.len() {
            few if few < WORTH_SHARING => 1,
            _ => rayon::current_num_threads().min(16),
        };
        let part_slots = count.div_ceil(parts);
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        self.starts[..count].par_chunks_mut(part_slots).enumerate().for_each(|(part, counts)| {
            let first = (part * part_slots) as u32;
            for &slot in slot_of {
                if let Some(count) = counts.get_mut(slot.wrapping_sub(first) as usize) {
                    *count += 1;
                }
            }
        });
        let mut end = 0;
        for count in &mut self.starts {
            end += *count;
            *count = end;
        }
        self.keys.resize(members.len() + PADDING, 0);
        self.vertices.resize(members.len() + PADDING, u32::MAX);
        let points = Points { members, slot_of, steps, part_slots };
        let sorted = (&mut self.keys[..], &mut self.vertices[..]);
        points.fill(&mut self.starts[..count], sorted, 0, 0);
    }

    /// Whether there is no vertex in these cells.
    pub fn is_empty_in(&self, cells: &CellBox) -> bool {
        let mut empty = true;
        self.slots.runs(cells, |from, to| empty &= self.starts[from] == self.starts[to]);
        empty
    }
}

/// Points on their way into slots.
struct Points<'a> {
    members: &'a [u32],
    slot_of: &'a [u32],
    steps: &'a [[u32; 4]],
    part_slots: usize,
}

impl Points<'_> {
    /// Puts the points of some slots into their places. Filled backwards, every end of a slot moves to its
    /// start. The first of these slots is `first`, and its points begin at `offset`.
    fn fill(
        &self,
        ends: &mut [u32],
        (keys, vertices): (&mut [u32], &mut [u32]),
        first: u32,
        offset: u32,
    ) {
        if ends.len() > self.part_slots {
            let half = (ends.len() / 2).next_multiple_of(self.part_slots);
            let (left, right) = ends.split_at_mut(half);
            let middle = left.last().map_or(offset, |&end| end);
            let (left_keys, right_keys) = keys.split_at_mut((middle - offset) as usize);
            let (left_vertices, right_vertices) = vertices.split_at_mut((middle - offset) as usize);
            rayon::join(
                || self.fill(left, (left_keys, left_vertices), first, offset),
                || self.fill(right, (right_keys, right_vertices), first + half as u32, middle),
            );
            return;
        }
        for (&slot, &vertex) in self.slot_of.iter().zip(self.members).rev() {
            if let Some(end) = ends.get_mut(slot.wrapping_sub(first) as usize) {
                *end -= 1;
                let place = (*end - offset) as usize;
                keys[place] = key(self.steps[vertex as usize]) | GUARD;
                vertices[place] = vertex;
            }
        }
    }
}
