//! Chunks inflated ahead of their use on a helper thread.

use crate::cta::KernelSource;
use crate::sm::Code;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use warpmem_trace::{Chunk, Trace, TraceError};

/// Chunks asked for ahead of the one in use.
const AHEAD: usize = 2;

type Wanted = (usize, usize);
type Inflated = Result<Arc<Chunk>, TraceError>;

/// Reads kernels' chunks in order, [`AHEAD`] chunks in advance, so that memory follows the resident CTAs and
/// the run does not wait for decompression.
pub(super) struct Feeder<'t> {
    trace: &'t Trace,
    wanted: Sender<Wanted>,
    inflated: Receiver<Inflated>,
    /// Asked for and not received yet, in order.
    pending: VecDeque<Wanted>,
    /// Received before their turn: kernels that run together interleave.
    early: Vec<(Wanted, Inflated)>,
}

impl<'t> Feeder<'t> {
    /// Starts the helper thread, which ends with the feeder.
    pub fn start<'scope>(
        trace: &'t Trace,
        scope: &'scope std::thread::Scope<'scope, 't>,
    ) -> Feeder<'t> {
        let (wanted, requests) = channel::<Wanted>();
        let (results, inflated) = channel::<Inflated>();
        scope.spawn(move || {
            for (kernel, chunk) in requests {
                if results.send(trace.chunk(kernel, chunk)).is_err() {
                    return;
                }
            }
        });
        Feeder { trace, wanted, inflated, pending: VecDeque::new(), early: Vec::new() }
    }

    fn ask(&mut self, want: Wanted) {
        let kernel = self.trace.kernels().get(want.0);
        let exists = kernel.is_some_and(|kernel| want.1 < kernel.chunks.len());
        let known = self.pending.contains(&want) || self.early.iter().any(|(w, _)| *w == want);
        if exists && !known && self.wanted.send(want).is_ok() {
            self.pending.push_back(want);
        }
    }

    fn take(&mut self, want: Wanted) -> Inflated {
        if let Some(at) = self.early.iter().position(|(w, _)| *w == want) {
            return self.early.swap_remove(at).1;
        }
        if self.pending.contains(&want) {
            while let (Some(next), Ok(chunk)) = (self.pending.pop_front(), self.inflated.recv()) {
                if next == want {
                    return chunk;
                }
                self.early.push((next, chunk));
            }
        }
        self.trace.chunk(want.0, want.1)
    }
}

impl KernelSource for Feeder<'_> {
    fn code(&mut self, kernel: usize) -> Result<Arc<Code>, TraceError> {
        let instructions = self.trace.instructions(kernel)?;
        Ok(Arc::new(Code::new(&instructions)))
    }

    fn chunk(&mut self, kernel: usize, chunk: usize) -> Inflated {
        let result = self.take((kernel, chunk));
        for ahead in 1..=AHEAD {
            self.ask((kernel, chunk + ahead));
        }
        if chunk + 1 == self.trace.kernels()[kernel].chunks.len() {
            self.ask((kernel + 1, 0));
        }
        result
    }
}
