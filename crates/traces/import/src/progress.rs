//! How an import or export goes.

/// Hears how an import or export goes, and may stop it. Called from several threads.
pub trait Progress: Sync {
    /// How many bytes of (compressed) input there are in all; called once, before any `advance`.
    fn total(&self, _bytes: u64) {}
    /// So many more bytes of input have been read.
    fn advance(&self, _bytes: u64) {}
    /// A kernel is complete in the output; `done` of `kernels`.
    fn kernel(&self, _done: usize, _kernels: usize) {}
    /// Asked now and then: true stops the work with an error, leaving no output behind.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing and never stops.
impl Progress for () {}
