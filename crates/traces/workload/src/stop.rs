//! Stops a generator from another thread, at any time.
//!
//! Kernels and inputs return plain values, so a stop unwinds: [`check`], called in every loop that
//! may run long, leaves the generator, and [`Stop::watch`] turns it into an error. Incomplete
//! outputs remove themselves on the way.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::WorkloadError;

/// A request to stop a generator.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// The panic payload from [`check`] to [`Stop::watch`].
struct Stopped;

thread_local! {
    /// The stop request of the generator on this thread.
    static ASKED: RefCell<Stop> = RefCell::default();
}

impl Stop {
    /// Requests a stop when `asked` becomes true.
    pub fn when(asked: Arc<AtomicBool>) -> Stop {
        Stop(asked)
    }

    /// Runs `run` until it ends or a stop is requested.
    pub(crate) fn watch<R>(
        &self,
        run: impl FnOnce() -> Result<R, WorkloadError>,
    ) -> Result<R, WorkloadError> {
        let before = ASKED.replace(self.clone());
        let result = catch_unwind(AssertUnwindSafe(run));
        ASKED.set(before);
        match result {
            Ok(result) => result,
            Err(payload) if payload.is::<Stopped>() => Err(WorkloadError::Interrupted),
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// Leaves the generator on this thread if a stop is requested.
#[inline]
pub fn check() {
    if ASKED.with_borrow(|stop| stop.0.load(Ordering::Relaxed)) {
        // Suppresses the panic report.
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;
    use std::thread::{scope, sleep};
    use std::time::{Duration, Instant};

    use warpmem_trace::Ranges;

    use super::*;
    use crate::Request;

    #[test]
    fn a_stop_affects_only_its_own_watch() {
        let asked = Stop::when(Arc::new(true.into()));
        let heard = asked.watch(|| {
            check();
            Ok(())
        });
        assert!(matches!(heard, Err(WorkloadError::Interrupted)));
        check();
        let unheard = asked.watch(|| {
            Stop::default().watch(|| {
                check();
                Ok(())
            })
        });
        assert!(unheard.is_ok());
    }

    #[test]
    fn other_panics_propagate() {
        let panic = catch_unwind(|| Stop::default().watch::<()>(|| resume_unwind(Box::new(7))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&7));
    }

    /// Each case would take minutes: generating a graph, generating a matrix, and a single warp's
    /// loop.
    #[test]
    fn a_generator_stops_in_every_phase() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("t.wmt");
        for (kernel, parameters) in [
            ("bfs", &[("nodes", "2^24"), ("degree", "16")][..]),
            ("bfs", &[("nodes", "2^24"), ("graph", "road")]),
            ("spmv", &[("rows", "2^24"), ("nnz-per-row", "16")]),
            ("pointer-chase", &[("hops", "2^24")]),
        ] {
            let parameters: BTreeMap<String, String> =
                parameters.iter().map(|&(name, value)| (name.into(), value.into())).collect();
            let kernel = kernel.to_owned();
            let request = Request { kernel, parameters, seed: 1, launches: Ranges::all() };
            let asked: Arc<AtomicBool> = Arc::default();
            let stop = Stop::when(Arc::clone(&asked));
            let result = scope(|scope| {
                scope.spawn(move || {
                    sleep(Duration::from_millis(300));
                    asked.store(true, Ordering::Relaxed);
                });
                let begun = Instant::now();
                let result =
                    request.generate_until(&stop, &output, &mut |_| ControlFlow::Continue(()));
                assert!(begun.elapsed() < Duration::from_secs(20), "{request:?}");
                result
            });
            assert!(matches!(result, Err(WorkloadError::Interrupted)), "{request:?}: {result:?}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{request:?}");
        }
    }
}
