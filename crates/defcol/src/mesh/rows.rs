/// Lists of different lengths behind one another: row `i` is `items[starts[i]..starts[i + 1]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Sorts `(row, item)` pairs into rows. `pairs` is called twice and must give the same pairs;
    /// within a row they keep that order.
    pub(crate) fn collect<I>(rows: usize, pairs: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = (u32, u32)>,
    {
        let mut starts = vec![0u32; rows + 1];
        for (row, _) in pairs() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[rows] as usize];
        for (row, item) in pairs() {
            let slot = &mut next[row as usize];
            items[*slot as usize] = item;
            *slot += 1;
        }
        Self { starts, items }
    }

    /// Makes rows of `items` that end at the given places.
    pub(crate) fn from_ends(ends: impl IntoIterator<Item = u32>, items: Vec<u32>) -> Self {
        let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        debug_assert!(starts.is_sorted() && starts.last() == Some(&(items.len() as u32)));
        Self { starts, items }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One row.
    pub fn row(&self, index: usize) -> &[u32] {
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// All items of all rows.
    pub fn items(&self) -> &[u32] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_keep_their_order_within_a_row() {
        let rows = Rows::collect(4, || [(2, 7), (0, 1), (2, 5), (3, 9)].into_iter());
        assert_eq!(rows.iter().collect::<Vec<_>>(), [&[1][..], &[], &[7, 5], &[9]]);
        assert_eq!(rows, Rows::from_ends([1, 1, 3, 4], vec![1, 7, 5, 9]));
        assert!(Rows::collect(0, std::iter::empty).is_empty());
    }
}
