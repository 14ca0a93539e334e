use std::path::{Path, PathBuf};

use crate::block::{Block, Codec, MAX_DECODED, MAX_INFLATED, Packer};
use crate::cluster::Clusters;
use crate::cta::CtaBuilder;
use crate::dictionary::{self, Dictionary};
use crate::encode::ChunkEncoder;
use crate::error::TraceError;
use crate::hash::ContentHash;
use crate::header::{ChunkIndex, Footer, Head, Index, Kernel, KernelIndex, MAJOR, Provenance};
use crate::output::Output;
use crate::record::{Instruction, InstructionId, KernelInfo, Memcpy};
use crate::serial;

/// How a trace is laid out and compressed. No option changes the records that a reader sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterOptions {
    pub codec: Codec,
    /// Compression level: 0 to 9 for deflate, 1 to 22 for Zstandard.
    pub level: u32,
    /// Bytes of encoded records, before compression, after which a chunk ends. A CTA is never
    /// split.
    pub chunk_bytes: usize,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions { codec: Codec::Deflate, level: 6, chunk_bytes: 256 << 10 }
    }
}

/// Summary of a written trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSummary {
    pub path: PathBuf,
    pub file_bytes: u64,
    pub content_hash: u64,
    pub kernels: u64,
    pub ctas: u64,
    pub warps: u64,
    pub records: u64,
    pub warp_instructions: u64,
    pub thread_instructions: u64,
}

/// Writes a trace CTA by CTA, with one chunk in memory. The file appears under its name when
/// [`finish`](TraceWriter::finish) returns; a writer that is dropped before leaves no file.
///
/// After an error the writer is of no further use: drop it.
pub struct TraceWriter {
    output: Output,
    options: WriterOptions,
    index: Index,
    kernel: Option<OpenKernel>,
    dictionary: Dictionary,
    encoder: ChunkEncoder,
    hash: ContentHash,
    plain: Vec<u8>,
    packer: Packer,
}

#[derive(Default)]
struct OpenKernel {
    totals: Kernel,
    chunks: Vec<ChunkIndex>,
    clusters: Clusters,
    before: Before,
}

/// What a writer is set back to when a kernel is abandoned.
#[derive(Default)]
struct Before {
    written: u64,
    memcpys: usize,
    l2_resets: usize,
    hash: ContentHash,
}

impl TraceWriter {
    /// # Errors
    /// When no file can be created beside `path`, `path` exists and is not a regular file, or there is no memory for a
    /// compressor.
    pub fn create(
        path: &Path,
        provenance: Provenance,
        options: WriterOptions,
    ) -> Result<TraceWriter, TraceError> {
        let packer = Packer::new(options.codec, options.level).map_err(|error| {
            let reason = format!("no compressor: {error}");
            TraceError::Invalid { path: path.to_owned(), reason }
        })?;
        let mut output = Output::create(path)?;
        output.write(&Head { major: MAJOR, minor: 0 }.encode())?;
        Ok(TraceWriter {
            output,
            options,
            index: Index { provenance, ..Index::default() },
            kernel: None,
            dictionary: Dictionary::default(),
            encoder: ChunkEncoder::default(),
            hash: ContentHash::default(),
            plain: Vec::new(),
            packer,
        })
    }

    /// Records a host-to-device copy before the next kernel.
    pub fn memcpy(&mut self, address: u64, bytes: u64) {
        let before_kernel = self.index.kernels.len() as u32 + u32::from(self.kernel.is_some());
        self.index.memcpys.push(Memcpy { before_kernel, address, bytes });
    }

    /// Lines that are kept in L2 become as others before the next kernel
    /// (`cudaCtxResetPersistingL2Cache`).
    pub fn reset_l2(&mut self) {
        let before_kernel = self.index.kernels.len() as u32 + u32::from(self.kernel.is_some());
        if self.index.l2_resets.last() != Some(&before_kernel) {
            self.index.l2_resets.push(before_kernel);
        }
    }

    /// # Errors
    /// When the previous kernel has not been ended.
    pub fn begin_kernel(&mut self, info: KernelInfo) -> Result<(), TraceError> {
        if self.kernel.is_some() {
            return Err(self.invalid(format!("kernel {} begins within another", info.name)));
        }
        if let Err(reason) = info.check_cluster() {
            return Err(self.invalid(format!("kernel {}: {reason}", info.name)));
        }
        let before = Before {
            written: self.output.written(),
            memcpys: self.index.memcpys.len(),
            l2_resets: self.index.l2_resets.len(),
            hash: self.hash.clone(),
        };
        self.hash.bytes(&serial::encode(&info));
        self.dictionary.begin(info.ctas_per_cluster());
        let totals = Kernel { info, ..Kernel::default() };
        self.kernel = Some(OpenKernel { totals, before, ..OpenKernel::default() });
        Ok(())
    }

    /// Forgets the open kernel, if there is one, and the copies and resets since it began: the trace
    /// is as if it had never begun.
    ///
    /// # Errors
    /// When the file cannot be shortened.
    pub fn abandon_kernel(&mut self) -> Result<(), TraceError> {
        let Some(OpenKernel { before, .. }) = self.kernel.take() else { return Ok(()) };
        self.encoder = ChunkEncoder::default();
        self.dictionary.clear();
        self.index.memcpys.truncate(before.memcpys);
        self.index.l2_resets.truncate(before.l2_resets);
        self.hash = before.hash;
        self.output.truncate(before.written)
    }

    /// The id of an instruction within the open kernel; equal instructions have the same id. An
    /// instruction that breaks a rule of [`Instruction`] makes the next [`cta`](TraceWriter::cta)
    /// or [`end_kernel`](TraceWriter::end_kernel) fail.
    pub fn intern(&mut self, instruction: &Instruction) -> InstructionId {
        self.dictionary.intern(instruction)
    }

    /// The instructions of the open kernel.
    pub fn dictionary(&mut self) -> &mut Dictionary {
        &mut self.dictionary
    }

    /// Changes what the trace says of its origin.
    pub fn set_source(&mut self, source: String) {
        self.index.provenance.source = source;
    }

    /// Appends a CTA.
    ///
    /// # Errors
    /// When it contradicts the kernel's instructions, or cannot be written to disk.
    pub fn cta(&mut self, cta: &CtaBuilder) -> Result<(), TraceError> {
        self.check_cta(cta)?;
        self.follow_clusters(cta.block)?;
        let kernel = self.kernel.get_or_insert_default();
        kernel.totals.ctas += 1;
        self.hash.words(&cta.block);
        self.encoder.begin_cta(cta.block);
        for (warp_in_cta, records) in cta.warps() {
            kernel.totals.warps += 1;
            self.hash.words(&[warp_in_cta, records.len() as u32]);
            let mut warp = self.encoder.begin_warp(warp_in_cta);
            for record in records {
                if let Err(reason) = warp.push(&record, self.dictionary.sites()) {
                    let [x, y, z] = cta.block;
                    let place = format!("CTA ({x}, {y}, {z}), warp {warp_in_cta}: {reason}");
                    return Err(self.invalid(place));
                }
                self.hash.record(&record);
                if let Some(site) = self.dictionary.sites().get(record.instruction.0) {
                    kernel.totals.add(record.mask, record.lanes, site);
                }
            }
            warp.finish();
        }
        if self.encoder.bytes() >= self.options.chunk_bytes {
            self.write_chunk()?;
        }
        Ok(())
    }

    /// # Errors
    /// When no kernel is open, one of its instructions breaks a rule, or it cannot be written to
    /// disk.
    pub fn end_kernel(&mut self) -> Result<(), TraceError> {
        self.check_dictionary()?;
        if !self.encoder.is_empty() {
            self.write_chunk()?;
        }
        let Some(OpenKernel { totals, chunks, .. }) = self.kernel.take() else {
            return Err(self.invalid("a kernel ends that never began".into()));
        };
        let ctas_per_cluster = totals.info.ctas_per_cluster();
        let whole = totals.info.check_whole_clusters(totals.ctas);
        let mut instructions = self.dictionary.instructions().iter();
        let checked = whole.and_then(|()| {
            instructions.try_for_each(|one| dictionary::check_destinations(one, ctas_per_cluster))
        });
        if let Err(reason) = checked {
            return Err(self.invalid(format!("kernel {}: {reason}", totals.info.name)));
        }
        self.plain = serial::encode(self.dictionary.instructions());
        self.hash.bytes(&self.plain);
        let dictionary = self.write_block("the dictionary", MAX_DECODED)?;
        self.index.kernels.push(KernelIndex { kernel: totals, chunks, dictionary });
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// When a kernel is still open, or the file cannot be written to disk.
    pub fn finish(mut self) -> Result<TraceSummary, TraceError> {
        if let Some(open) = &self.kernel {
            let reason = format!("kernel {} has not been ended", open.totals.info.name);
            return Err(self.invalid(reason));
        }
        self.hash.bytes(&serial::encode(&self.index.memcpys));
        let kernels = self.index.kernels.len();
        self.index.l2_resets.retain(|&before| (before as usize) < kernels);
        if !self.index.l2_resets.is_empty() {
            self.hash.bytes(&serial::encode(&self.index.l2_resets));
        }
        self.index.content_hash = self.hash.digest();
        self.plain = self.index.encode();
        let offset = self.output.written();
        let index = self.write_block("the index", MAX_DECODED)?;
        self.output.write(&Footer { offset, index }.encode())?;
        self.output.rewrite_head(&Head { major: MAJOR, minor: self.index.minor() }.encode())?;
        let summary = self.summary();
        self.output.finish()?;
        Ok(summary)
    }

    fn summary(&self) -> TraceSummary {
        let sum = |of: fn(&Kernel) -> u64| self.index.kernels.iter().map(|k| of(&k.kernel)).sum();
        TraceSummary {
            path: self.output.path().to_owned(),
            file_bytes: self.output.written(),
            content_hash: self.index.content_hash,
            kernels: self.index.kernels.len() as u64,
            ctas: sum(|kernel| kernel.ctas.into()),
            warps: sum(|kernel| kernel.warps),
            records: sum(|kernel| kernel.records),
            warp_instructions: sum(|kernel| kernel.warp_instructions),
            thread_instructions: sum(|kernel| kernel.thread_instructions),
        }
    }

    fn check_cta(&self, cta: &CtaBuilder) -> Result<(), TraceError> {
        if self.kernel.is_none() {
            return Err(self.invalid("a CTA outside a kernel".into()));
        }
        if !cta.is_consistent() {
            return Err(self.invalid(format!("CTA {:?} is damaged", cta.block)));
        }
        if let Some(warp) = cta.repeated_warp() {
            return Err(self.invalid(format!("warp {warp} occurs twice in CTA {:?}", cta.block)));
        }
        self.check_dictionary()
    }

    /// The CTA at `block` is the next one.
    fn follow_clusters(&mut self, block: [u32; 3]) -> Result<(), TraceError> {
        let kernel = self.kernel.get_or_insert_default();
        let next = kernel.clusters.add(&kernel.totals.info, block);
        next.map_err(|reason| self.invalid(reason))
    }

    fn check_dictionary(&self) -> Result<(), TraceError> {
        match self.dictionary.fault() {
            Some(fault) => Err(self.invalid(fault.to_owned())),
            None => Ok(()),
        }
    }

    fn write_chunk(&mut self) -> Result<(), TraceError> {
        let ctas = self.encoder.ctas();
        self.encoder.finish(&mut self.plain);
        let block = self.write_block("a chunk", MAX_INFLATED)?;
        let kernel = self.kernel.get_or_insert_default();
        kernel.chunks.push(ChunkIndex { block, ctas });
        Ok(())
    }

    /// Compresses and writes the content of `plain`, at most `limit` bytes; `what` names it in
    /// errors.
    fn write_block(&mut self, what: &str, limit: usize) -> Result<Block, TraceError> {
        let bytes = self.plain.len();
        if bytes > limit {
            let reason = format!("{what} has {bytes} bytes; at most {limit} fit in a trace");
            return Err(self.invalid(reason));
        }
        match self.packer.pack(&self.plain) {
            Ok((block, stored)) => self.output.write(stored).map(|()| block),
            Err(error) => Err(self.invalid(error.to_string())),
        }
    }

    fn invalid(&self, reason: String) -> TraceError {
        TraceError::Invalid { path: self.output.path().to_owned(), reason }
    }
}
