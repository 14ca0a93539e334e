//! Read-ahead of trace chunks, decompressed on a helper thread.

use crate::cta::KernelSource;
use crate::sm::Code;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use warpmem_trace::{Chunk, Trace, TraceError};

/// Chunks requested ahead of the one in use.
const AHEAD: usize = 2;

type Wanted = (usize, usize);
type Inflated = Result<Arc<Chunk>, TraceError>;

/// Reads the chunks of kernels in order, [`AHEAD`] chunks in advance, so that memory is
/// proportional to the resident CTAs and the run does not wait for decompression.
pub(super) struct Feeder<'t> {
    trace: &'t Trace,
    /// The kernel after the newest one will be read; unknown in a sampled run.
    knows_next: bool,
    wanted: Sender<Wanted>,
    inflated: Receiver<Inflated>,
    /// Requested and not received yet, in order.
    pending: VecDeque<Wanted>,
    /// Received before they are needed, because concurrent kernels interleave.
    early: Vec<(Wanted, Inflated)>,
    /// The last started kernel in trace order.
    newest: usize,
}

impl<'t> Feeder<'t> {
    /// Starts the helper thread, which ends with the feeder. `knows_next`: all kernels are read.
    pub fn start<'scope>(
        trace: &'t Trace,
        knows_next: bool,
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
        let (pending, early) = (VecDeque::new(), Vec::new());
        Feeder { trace, knows_next, wanted, inflated, pending, early, newest: 0 }
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
            while let Some((next, chunk)) = self.receive() {
                if next == want {
                    return chunk;
                }
                self.early.push((next, chunk));
            }
        }
        self.trace.chunk(want.0, want.1)
    }

    /// Waits for the next requested chunk.
    fn receive(&mut self) -> Option<(Wanted, Inflated)> {
        Some((self.pending.pop_front()?, self.inflated.recv().ok()?))
    }

    /// Requests the first chunk of the next kernel, when all chunks of `kernel` have been read. A
    /// concurrent kernel has already taken its first chunk.
    fn ask_for_next(&mut self, kernel: usize) {
        if kernel == self.newest && self.knows_next {
            self.ask((kernel + 1, 0));
        }
    }

    /// Drops the chunks read ahead for a kernel.
    fn drop_chunks(&mut self, kernel: usize) {
        while self.pending.iter().any(|want| want.0 == kernel)
            && let Some(received) = self.receive()
        {
            self.early.push(received);
        }
        self.early.retain(|(want, _)| want.0 != kernel);
    }
}

impl KernelSource for Feeder<'_> {
    fn code(&mut self, kernel: usize) -> Result<Arc<Code>, TraceError> {
        self.newest = self.newest.max(kernel);
        let instructions = self.trace.instructions(kernel)?;
        Ok(Arc::new(Code::new(&instructions)))
    }

    fn chunk(&mut self, kernel: usize, chunk: usize) -> Inflated {
        let result = self.take((kernel, chunk));
        for ahead in 1..=AHEAD {
            self.ask((kernel, chunk + ahead));
        }
        if chunk + 1 == self.trace.kernels()[kernel].chunks.len() {
            self.ask_for_next(kernel);
        }
        result
    }

    fn seek(&mut self, kernel: usize, cta: u32) -> Result<(usize, usize), TraceError> {
        self.drop_chunks(kernel);
        self.trace.chunk_of_cta(kernel, cta)
    }

    fn end(&mut self, kernel: usize) {
        self.drop_chunks(kernel);
        self.ask_for_next(kernel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpmem_testing::{TestKernel, compute, trace};
    use warpmem_trace::OpClass;

    /// Kernel k has CTAs of k + 1 warps, each in its own chunk.
    fn kernels(chunks: &[usize]) -> Trace {
        let warp = || vec![compute(OpClass::Integer, &[])];
        let kernel = |(k, &ctas): (usize, &usize)| {
            TestKernel::new(vec![(0..=k).map(|_| warp()).collect(); ctas])
        };
        trace(&chunks.iter().enumerate().map(kernel).collect::<Vec<_>>())
    }

    /// Returns the kernel and the number of a chunk, from its contents.
    fn identity(chunk: &Chunk) -> Wanted {
        let cta = &chunk.ctas()[0];
        (cta.warps.len() - 1, cta.block[0] as usize)
    }

    proptest! {
        #[test]
        fn interleaved_kernels_receive_their_chunks_in_order(
            choices in prop::collection::vec(0usize..3, 0..40)
        ) {
            let lengths = [5, 1, 4];
            let trace = kernels(&lengths);
            let mut next = [0; 3];
            // Kernels interleave as chosen; the rest follows in order.
            let rest = (0..3).flat_map(|kernel| [kernel; 5]);
            let order: Vec<usize> = choices.into_iter().chain(rest).collect();
            std::thread::scope(|scope| {
                let mut feeder = Feeder::start(&trace, true, scope);
                for kernel in order {
                    let chunk = next[kernel];
                    if chunk == lengths[kernel] {
                        continue;
                    }
                    if chunk == 0 {
                        feeder.code(kernel).unwrap();
                    }
                    next[kernel] += 1;
                    prop_assert_eq!(identity(&feeder.chunk(kernel, chunk).unwrap()), (kernel, chunk));
                }
                prop_assert!(feeder.pending.is_empty() && feeder.early.is_empty());
                Ok(())
            })?;
        }
    }

    #[test]
    fn the_next_chunks_are_read_ahead() {
        let trace = kernels(&[4, 2]);
        std::thread::scope(|scope| {
            let mut feeder = Feeder::start(&trace, true, scope);
            feeder.chunk(0, 0).unwrap();
            assert_eq!(feeder.pending, [(0, 1), (0, 2)]);
            (1..4).for_each(|chunk| drop(feeder.chunk(0, chunk).unwrap()));
            assert_eq!(feeder.pending, [(1, 0)], "the first chunk of the next kernel");
        });
    }

    #[test]
    fn a_sampled_run_reads_no_kernel_ahead_and_goes_on_at_the_cta_that_it_seeks() {
        let trace = kernels(&[9, 2]);
        std::thread::scope(|scope| {
            let mut feeder = Feeder::start(&trace, false, scope);
            feeder.code(0).unwrap();
            feeder.chunk(0, 0).unwrap();
            let place = feeder.seek(0, 7).unwrap();
            assert_eq!((place, held(&feeder)), ((7, 0), vec![]));
            (7..9).for_each(|chunk| drop(feeder.chunk(0, chunk).unwrap()));
            assert_eq!(held(&feeder), [], "not the other kernel");
        });
    }

    #[test]
    fn an_early_end_drops_the_chunks_of_its_kernel() {
        let trace = kernels(&[4, 3, 1]);
        std::thread::scope(|scope| {
            let mut feeder = Feeder::start(&trace, true, scope);
            (0..2).for_each(|kernel| drop(feeder.code(kernel).unwrap()));
            (0..2).for_each(|kernel| drop(feeder.chunk(kernel, 0).unwrap()));
            feeder.end(0);
            assert_eq!(held(&feeder), [(1, 1), (1, 2)], "the other kernel keeps its chunks");
            feeder.end(1);
            assert_eq!(held(&feeder), [(2, 0)], "the first chunk of the next kernel");
            assert_eq!(identity(&feeder.chunk(2, 0).unwrap()), (2, 0));
        });
    }

    /// Returns the chunks requested and not taken, in order.
    fn held(feeder: &Feeder) -> Vec<Wanted> {
        let early = feeder.early.iter().map(|(want, _)| *want);
        let mut held: Vec<Wanted> = early.chain(feeder.pending.iter().copied()).collect();
        held.sort_unstable();
        held
    }
}
