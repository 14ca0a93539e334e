//! Progress of an import or export.

/// Receives the progress of an import or export, and may stop it. Called from several threads.
pub trait Progress: Sync {
    /// Reports the total bytes of (compressed) input, once, before any `advance`.
    fn total(&self, _bytes: u64) {}
    /// Reports further bytes of input read.
    fn advance(&self, _bytes: u64) {}
    /// Reports that `done` of `kernels` are complete in the output.
    fn kernel(&self, _done: usize, _kernels: usize) {}
    /// Called periodically: true stops the work with an error and leaves no output.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Ignores all reports and never stops.
impl Progress for () {}
