use crate::error::{Fault, Parsed, Problem};
use crate::progress::Progress;

/// What a reader is given besides the bytes: how much memory it may take, and whom to tell how
/// far it is.
pub(crate) struct Reading<'a> {
    limit: usize,
    used: usize,
    /// Bytes looked at more than once: taken and given back, or passed over again.
    repeated: usize,
    pub progress: &'a Progress,
    /// What a person should know about the result, each said once.
    pub notes: Vec<String>,
}

impl<'a> Reading<'a> {
    /// All that is read may take 16 times the size of the files plus 1 MiB, and the files
    /// themselves are part of it.
    pub fn new(file_size: usize, progress: &'a Progress) -> Self {
        let limit = file_size.saturating_mul(16).saturating_add(1 << 20);
        // What is left over covers error texts, headers and the like.
        Self { limit, used: file_size + (64 << 10), repeated: 0, progress, notes: Vec::new() }
    }

    /// Accounts for `count` values of type `T`.
    pub fn take<T>(&mut self, count: usize) -> Parsed<()> {
        let bytes = count.saturating_mul(size_of::<T>());
        if bytes > self.limit.saturating_sub(self.used) {
            return Err(self.over_limit());
        }
        self.used += bytes;
        Ok(())
    }

    /// What is taken now, to come back to with [`release_to`](Self::release_to).
    pub fn taken(&self) -> usize {
        self.used
    }

    /// Gives back what was taken since, for values that no longer exist. A file that has the same
    /// bytes decoded over and over is stopped here.
    pub fn release_to(&mut self, taken: usize) -> Parsed<()> {
        let given_back = self.used.saturating_sub(taken);
        self.used = self.used.min(taken);
        self.repeat(given_back)
    }

    /// Accounts for `bytes` that are looked at again. A file that makes the reader go over the same
    /// bytes without end is stopped here.
    pub fn repeat(&mut self, bytes: usize) -> Parsed<()> {
        self.repeated = self.repeated.saturating_add(bytes);
        if self.repeated / 8 > self.limit {
            let (offset, _) = self.progress.get();
            return Err(Fault::byte(offset as usize, Problem::TooMuchWork));
        }
        Ok(())
    }

    /// The error, at the place that was reached.
    fn over_limit(&self) -> Fault {
        let (offset, _) = self.progress.get();
        Fault::byte(offset as usize, Problem::MemoryLimit { limit: self.limit })
    }

    /// Counts a further file, `size` bytes large, to those that are read.
    pub fn add_file(&mut self, size: usize) -> Parsed<()> {
        self.limit = self.limit.saturating_add(size.saturating_mul(16));
        self.take::<u8>(size)
    }

    /// An empty vector with room for exactly `count`.
    pub fn vec<T>(&mut self, count: usize) -> Parsed<Vec<T>> {
        self.take::<T>(count)?;
        Ok(Vec::with_capacity(count))
    }

    /// `count` copies of a value.
    pub fn filled<T: Clone>(&mut self, value: T, count: usize) -> Parsed<Vec<T>> {
        self.take::<T>(count)?;
        Ok(vec![value; count])
    }

    /// Says something about `count` things, if there are any.
    pub fn note(&mut self, count: usize, text: &str) {
        if count > 0 {
            self.notes.push(format!("{count} {text}"));
        }
    }

    /// Tells how many bytes are done, and stops if somebody asked to.
    pub fn reached(&self, offset: usize) -> Parsed<()> {
        self.progress.reached(offset as u64);
        if self.progress.is_cancelled() {
            return Err(Fault::file(Problem::Cancelled));
        }
        Ok(())
    }
}
