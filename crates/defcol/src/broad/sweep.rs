use super::{BodyPair, Proxy};
use crate::math::Real;

/// Swaps per box, on all axes together, beyond which sorting anew is cheaper than mending the old order.
const PATIENCE: usize = 32;

/// One end of a box on one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct End<R> {
    value: R,
    body: u32,
    upper: bool,
}

impl<R: Real> End<R> {
    /// Lower ends first where values are equal, so that boxes that touch overlap.
    fn comes_before(&self, other: &Self) -> bool {
        self.value < other.value || (self.value == other.value && !self.upper && other.upper)
    }
}

/// Sweep and prune on three axes (Cohen et al. 1995).
///
/// The ends of all boxes stay sorted on each axis. A call mends the order by insertion, which takes
/// almost linear time if little moved, and looks again only at pairs whose ends changed places. The
/// result does not depend on earlier calls; bodies may come, go and change at any time.
#[derive(Debug, Clone, Default)]
pub struct SweepAndPrune<R: Real> {
    axes: [Vec<End<R>>; 3],
    /// Which boxes are empty.
    empty: Vec<bool>,
    /// Pairs whose boxes meet, whether or not they may collide.
    meeting: Vec<BodyPair>,
    touched: Vec<BodyPair>,
    merged: Vec<BodyPair>,
    pairs: Vec<BodyPair>,
    open: Vec<u32>,
}

impl<R: Real> SweepAndPrune<R> {
    /// All pairs of bodies that may collide and whose boxes meet, ascending.
    pub fn update(&mut self, proxies: &[Proxy<R>]) -> &[BodyPair] {
        // The ends of empty boxes have no order among themselves that would change when they appear.
        let same = empty(proxies).eq(self.empty.iter().copied());
        if !same || !self.mend(proxies) {
            self.rebuild(proxies);
        }
        debug_assert!(self.validate(proxies), "the ends are not sorted");
        self.pairs.clear();
        let may =
            |&&[a, b]: &&BodyPair| proxies[a as usize].collides.with(&proxies[b as usize].collides);
        self.pairs.extend(self.meeting.iter().filter(may));
        &self.pairs
    }

    /// The pairs of the last call.
    pub fn pairs(&self) -> &[BodyPair] {
        &self.pairs
    }

    /// Whether the ends are all there, up to date and in order.
    pub fn validate(&self, proxies: &[Proxy<R>]) -> bool {
        self.axes.iter().enumerate().all(|(axis, ends)| {
            let current = |end: &End<R>| *end == end_of(proxies, axis, end.body, end.upper);
            ends.len() == 2 * proxies.len()
                && ends.iter().all(current)
                && ends.windows(2).all(|two| !two[1].comes_before(&two[0]))
        })
    }

    /// Brings the old order up to date; false if too much has changed.
    fn mend(&mut self, proxies: &[Proxy<R>]) -> bool {
        self.touched.clear();
        let mut patience = PATIENCE * (proxies.len() + 1);
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            for place in 0..ends.len() {
                let end = end_of(proxies, axis, ends[place].body, ends[place].upper);
                let mut to = place;
                while to > 0 && end.comes_before(&ends[to - 1]) {
                    let passed = ends[to - 1];
                    if passed.upper != end.upper {
                        self.touched.push(ordered(passed.body, end.body));
                    }
                    ends[to] = passed;
                    to -= 1;
                    if patience == 0 {
                        ends[to] = end;
                        return false;
                    }
                    patience -= 1;
                }
                ends[to] = end;
            }
        }
        self.look_again(proxies);
        true
    }

    /// Pairs whose ends changed places join or leave the list; all others stay as they were.
    fn look_again(&mut self, proxies: &[Proxy<R>]) {
        if self.touched.is_empty() {
            return;
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        self.merged.clear();
        let meets =
            |[a, b]: BodyPair| proxies[a as usize].bounds.overlaps(&proxies[b as usize].bounds);
        let mut old = self.meeting.iter().copied().peekable();
        for &pair in &self.touched {
            while let Some(before) = old.next_if(|&before| before < pair) {
                self.merged.push(before);
            }
            old.next_if_eq(&pair);
            if meets(pair) {
                self.merged.push(pair);
            }
        }
        self.merged.extend(old);
        std::mem::swap(&mut self.meeting, &mut self.merged);
    }

    /// Sorts all ends and sweeps along the axis on which the fewest boxes overlap.
    fn rebuild(&mut self, proxies: &[Proxy<R>]) {
        self.empty.clear();
        self.empty.extend(empty(proxies));
        let mut best = (usize::MAX, 0);
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            ends.clear();
            for body in 0..proxies.len() as u32 {
                ends.extend([false, true].map(|upper| end_of(proxies, axis, body, upper)));
            }
            ends.sort_unstable_by(|a, b| {
                let equal = || (a.upper, a.body).cmp(&(b.upper, b.body));
                a.value.partial_cmp(&b.value).unwrap_or(std::cmp::Ordering::Equal).then_with(equal)
            });
            best = best.min((overlaps(ends), axis));
        }
        self.meeting.clear();
        self.open.clear();
        for end in &self.axes[best.1] {
            if self.empty[end.body as usize] {
                continue;
            }
            let bounds = &proxies[end.body as usize].bounds;
            if end.upper {
                self.open.retain(|&body| body != end.body);
                continue;
            }
            for &other in &self.open {
                if proxies[other as usize].bounds.overlaps(bounds) {
                    self.meeting.push(ordered(other, end.body));
                }
            }
            self.open.push(end.body);
        }
        self.meeting.sort_unstable();
    }
}

/// How many pairs of intervals overlap on an axis.
fn overlaps<R: Real>(ends: &[End<R>]) -> usize {
    let (mut open, mut pairs) = (0usize, 0usize);
    for end in ends {
        if end.upper {
            open = open.saturating_sub(1);
        } else {
            pairs += open;
            open += 1;
        }
    }
    pairs
}

/// An end as it is now. Those of an empty box stand together at the far end, whatever its numbers.
fn end_of<R: Real>(proxies: &[Proxy<R>], axis: usize, body: u32, upper: bool) -> End<R> {
    let bounds = &proxies[body as usize].bounds;
    let value = if bounds.is_empty() {
        R::nearest(f64::INFINITY)
    } else if upper {
        bounds.max[axis]
    } else {
        bounds.min[axis]
    };
    End { value, body, upper }
}

fn empty<R: Real>(proxies: &[Proxy<R>]) -> impl Iterator<Item = bool> {
    proxies.iter().map(|proxy| proxy.bounds.is_empty())
}

fn ordered(a: u32, b: u32) -> BodyPair {
    [a.min(b), a.max(b)]
}
