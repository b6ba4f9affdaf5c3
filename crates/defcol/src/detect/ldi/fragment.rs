/// Where a ray crosses a triangle: in the upper half the depth, then the triangle, and in the lowest bit
/// whether the ray leaves the body there. Fragments of a ray in ascending order are in the order of depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Fragment(u64);

/// Added to this, a number that is not negative leaves the nearest whole number in the lowest bits.
pub(super) const WHOLE: f64 = (1u64 << 52) as f64;

impl Fragment {
    /// Everything but the depth. Rays run along their axis, so they leave through a triangle that is seen
    /// counter-clockwise from where they go.
    #[inline(always)]
    pub(super) fn id(triangle: u32, exit: bool) -> u32 {
        triangle << 1 | u32::from(exit)
    }

    /// A fragment at a depth between zero and [`MAX_DEPTH`](super::MAX_DEPTH), rounded.
    #[inline(always)]
    pub(super) fn new(depth: f64, id: u32) -> Self {
        Self((depth + WHOLE).to_bits() << 32 | u64::from(id))
    }

    /// The fragment as a number, and back.
    #[inline(always)]
    pub(super) fn number(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(super) fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// How far along the ray, in steps of depth.
    #[inline(always)]
    pub fn depth(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The triangle, in the numbering of the surface.
    #[inline(always)]
    pub fn triangle(self) -> u32 {
        (self.0 as u32) >> 1
    }

    /// Whether the ray leaves the body here.
    #[inline(always)]
    pub fn is_exit(self) -> bool {
        self.0 & 1 != 0
    }

    /// What is added to the winding number: one where the ray enters the body, minus one where it leaves.
    #[inline(always)]
    pub fn winding(self) -> i32 {
        1 - 2 * (self.0 & 1) as i32
    }
}
