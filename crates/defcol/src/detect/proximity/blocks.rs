//! Boxes side by side, eight at a time, and boxes around these: what meets a box is found from the top down.

use fearless_simd::{Level, Simd};

use crate::detect::bvh::{BoundingBox, BoundingVolume};
use crate::math::{Real, dispatch};

/// Boxes of a block.
const LANES: usize = 8;

/// Blocks that wait to be looked at: seven of each level, and no number has more than eleven digits of three bits.
const MOST_OPEN: usize = 7 * 11 + 1;

type Block<R> = <BoundingBox<R> as BoundingVolume<R>>::Block<LANES>;

/// Boxes in the order in which they were given; what follows each other should be near each other.
#[derive(Debug, Default)]
pub(super) struct Blocks<R: Real> {
    /// What the boxes are around.
    numbers: Vec<u32>,
    /// Level after level: first the boxes themselves, then one box for each block of the level before, at last one block.
    blocks: Vec<Block<R>>,
    /// Where each level begins.
    starts: Vec<usize>,
}

impl<R: Real> Blocks<R> {
    /// Takes numbers with their boxes.
    pub fn fill(&mut self, boxes: impl Iterator<Item = (u32, BoundingBox<R>)>) {
        self.numbers.clear();
        self.blocks.clear();
        self.starts.clear();
        self.starts.push(0);
        for (number, own) in boxes {
            self.put(self.numbers.len(), own);
            self.numbers.push(number);
        }
        let mut level = 0..self.blocks.len();
        while level.len() > 1 {
            self.starts.push(level.end);
            for place in 0..level.len() {
                let all = BoundingBox::union_of_block(&self.blocks[level.start + place]);
                self.put(place, all);
            }
            level = level.end..self.blocks.len();
        }
    }

    /// Adds a box to the last level.
    fn put(&mut self, place: usize, own: BoundingBox<R>) {
        if place.is_multiple_of(LANES) {
            self.blocks.push(BoundingBox::empty_block());
        }
        if let Some(block) = self.blocks.last_mut() {
            own.set_lane(block, place % LANES);
        }
    }

    /// Adds every pair of numbers whose boxes meet, one of others and one of these; those of one of the others follow each
    /// other. Others that follow each other should be near each other, too. `blocks` is memory.
    pub fn meeting(
        &self,
        level: Level,
        others: &[(u32, BoundingBox<R>)],
        blocks: &mut Vec<u32>,
        found: &mut Vec<[u32; 2]>,
    ) {
        for some in others.chunks(LANES) {
            dispatch!(level, simd => self.meeting_some(simd, some, blocks, found));
        }
    }

    #[inline(always)]
    fn meeting_some<S: Simd>(
        &self,
        simd: S,
        others: &[(u32, BoundingBox<R>)],
        blocks: &mut Vec<u32>,
        found: &mut Vec<[u32; 2]>,
    ) {
        let mut all = BoundingBox::empty();
        for (_, around) in others {
            all = all.union(*around);
        }
        self.blocks_meeting(simd, &all, blocks);
        for (other, around) in others {
            for &place in &*blocks {
                let mut mask = around.meeting(simd, &self.blocks[place as usize]);
                while mask != 0 {
                    let below = place as usize * LANES + mask.trailing_zeros() as usize;
                    mask &= mask - 1;
                    // Lanes beyond the last meet nothing, unless something is not a number.
                    if let Some(&number) = self.numbers.get(below) {
                        found.push([*other, number]);
                    }
                }
            }
        }
    }

    /// Finds the blocks of the first level that may have something that meets a box.
    #[inline(always)]
    fn blocks_meeting<S: Simd>(&self, simd: S, around: &BoundingBox<R>, blocks: &mut Vec<u32>) {
        blocks.clear();
        let mut open = [(0u32, 0u32); MOST_OPEN];
        open[0] = (self.starts.len() as u32 - 1, 0);
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let (level, place) = open[waiting];
            let number = self.starts[level as usize] + place as usize;
            let Some(block) = self.blocks.get(number) else { continue };
            let mut mask = around.meeting(simd, block);
            if level == 0 {
                if mask != 0 {
                    blocks.push(place);
                }
                continue;
            }
            while mask != 0 {
                open[waiting] = (level - 1, place * LANES as u32 + mask.trailing_zeros());
                mask &= mask - 1;
                waiting += 1;
            }
        }
    }
}
