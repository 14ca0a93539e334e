use std::io;
use std::mem;
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
use crate::packing::{Packing, Parcel};
use crate::record::{Instruction, InstructionId, KernelInfo, Memcpy};
use crate::serial;

/// Layout and compression of a trace. No option changes the records that a reader sees.
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

/// Writes a trace CTA by CTA. A few chunks are in memory while another thread compresses them. The
/// file appears under its name when [`finish`](TraceWriter::finish) returns; dropping the writer
/// before leaves no file.
///
/// After an error, drop the writer.
pub struct TraceWriter {
    output: Output,
    options: WriterOptions,
    index: Index,
    kernel: Option<OpenKernel>,
    dictionary: Dictionary,
    encoder: ChunkEncoder,
    hash: ContentHash,
    packing: Packing<Place>,
    /// Buffers for blocks.
    spare: Vec<Parcel>,
    /// Written chunks of the first kernel whose dictionary is not yet written.
    chunks: Vec<ChunkIndex>,
    /// Ended kernels, and the file size up to the last written dictionary.
    ended: u32,
    whole: u64,
}

/// The place of a block in the index.
enum Place {
    /// A chunk of `ctas` CTAs.
    Chunk { ctas: u32 },
    /// The dictionary of a kernel, after its chunks.
    Dictionary(Box<Kernel>),
    /// The index itself.
    Index,
}

impl Place {
    /// Returns the name of the block in errors, and its maximum size in bytes.
    fn limit(&self) -> (&'static str, usize) {
        match self {
            Place::Chunk { .. } => ("a chunk", MAX_INFLATED),
            Place::Dictionary(_) => ("the dictionary", MAX_DECODED),
            Place::Index => ("the index", MAX_DECODED),
        }
    }
}

#[derive(Default)]
struct OpenKernel {
    totals: Kernel,
    clusters: Clusters,
    before: Before,
}

/// The state to restore when a kernel is abandoned.
#[derive(Default)]
struct Before {
    memcpys: usize,
    l2_resets: usize,
    hash: ContentHash,
}

impl TraceWriter {
    /// # Errors
    /// When no file can be created beside `path`, `path` exists and is not a regular file, or the
    /// compressor or its thread cannot start.
    pub fn create(
        path: &Path,
        provenance: Provenance,
        options: WriterOptions,
    ) -> Result<TraceWriter, TraceError> {
        let packing = Packer::new(options.codec, options.level).and_then(Packing::new);
        let packing = packing.map_err(|error| {
            let reason = format!("no compressor: {error}");
            TraceError::Invalid { path: path.to_owned(), reason }
        })?;
        let mut output = Output::create(path)?;
        output.write(&Head { major: MAJOR, minor: 0 }.encode())?;
        let whole = output.written();
        Ok(TraceWriter {
            output,
            options,
            index: Index { provenance, ..Index::default() },
            kernel: None,
            dictionary: Dictionary::default(),
            encoder: ChunkEncoder::default(),
            hash: ContentHash::default(),
            packing,
            spare: Vec::new(),
            chunks: Vec::new(),
            ended: 0,
            whole,
        })
    }

    /// Records a host-to-device copy before the next kernel.
    pub fn memcpy(&mut self, address: u64, bytes: u64) {
        let before_kernel = self.next_kernel();
        self.index.memcpys.push(Memcpy { before_kernel, address, bytes });
    }

    /// Records that persisting L2 lines are reset to normal before the next kernel
    /// (`cudaCtxResetPersistingL2Cache`).
    pub fn reset_l2(&mut self) {
        let before_kernel = self.next_kernel();
        if self.index.l2_resets.last() != Some(&before_kernel) {
            self.index.l2_resets.push(before_kernel);
        }
    }

    /// Returns the number of the next kernel.
    fn next_kernel(&self) -> u32 {
        self.ended + u32::from(self.kernel.is_some())
    }

    /// # Errors
    /// When the previous kernel is still open.
    pub fn begin_kernel(&mut self, info: KernelInfo) -> Result<(), TraceError> {
        if self.kernel.is_some() {
            return Err(
                self.invalid(format!("kernel {} begins before the previous one ended", info.name))
            );
        }
        if let Err(reason) = info.check_cluster() {
            return Err(self.invalid(format!("kernel {}: {reason}", info.name)));
        }
        let before = Before {
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

    /// Discards the open kernel, if any, and the copies and resets since its start, as if it had
    /// never begun.
    ///
    /// # Errors
    /// When the file cannot be written to disk or shortened.
    pub fn abandon_kernel(&mut self) -> Result<(), TraceError> {
        let Some(OpenKernel { before, .. }) = self.kernel.take() else { return Ok(()) };
        self.write_all()?;
        self.chunks.clear();
        self.encoder = ChunkEncoder::default();
        self.dictionary.clear();
        self.index.memcpys.truncate(before.memcpys);
        self.index.l2_resets.truncate(before.l2_resets);
        self.hash = before.hash;
        self.output.truncate(self.whole)
    }

    /// Returns the id of an instruction within the open kernel; equal instructions share an id. An
    /// instruction that breaks a rule of [`Instruction`] makes the next [`cta`](TraceWriter::cta)
    /// or [`end_kernel`](TraceWriter::end_kernel) fail.
    pub fn intern(&mut self, instruction: &Instruction) -> InstructionId {
        self.dictionary.intern(instruction)
    }

    /// Returns the dictionary of the open kernel.
    pub fn dictionary(&mut self) -> &mut Dictionary {
        &mut self.dictionary
    }

    /// Sets the origin of the trace.
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
        let Some(OpenKernel { totals, .. }) = self.kernel.take() else {
            return Err(self.invalid("no kernel is open".into()));
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
        let mut parcel = self.spare.pop().unwrap_or_default();
        parcel.plain = serial::encode(self.dictionary.instructions());
        self.hash.bytes(&parcel.plain);
        self.ended += 1;
        self.pack(parcel, Place::Dictionary(Box::new(totals)))
    }

    /// Completes the file and renames it to its final name.
    ///
    /// # Errors
    /// When a kernel is still open, or the file cannot be written to disk.
    pub fn finish(mut self) -> Result<TraceSummary, TraceError> {
        if let Some(open) = &self.kernel {
            let reason = format!("kernel {} has not been ended", open.totals.info.name);
            return Err(self.invalid(reason));
        }
        self.write_all()?;
        self.hash.bytes(&serial::encode(&self.index.memcpys));
        let kernels = self.ended;
        self.index.l2_resets.retain(|&before| before < kernels);
        if !self.index.l2_resets.is_empty() {
            self.hash.bytes(&serial::encode(&self.index.l2_resets));
        }
        self.index.content_hash = self.hash.digest();
        let offset = self.output.written();
        let plain = self.index.encode();
        self.pack(Parcel { plain, stored: Vec::new() }, Place::Index)?;
        let index = self.write_next()?.expect("the index is under way");
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

    /// Checks that the CTA at `block` may follow.
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
        let mut parcel = self.spare.pop().unwrap_or_default();
        self.encoder.finish(&mut parcel.plain);
        self.pack(parcel, Place::Chunk { ctas })
    }

    /// Queues a block for compression. Its errors surface at a later block.
    fn pack(&mut self, parcel: Parcel, place: Place) -> Result<(), TraceError> {
        let ((what, limit), bytes) = (place.limit(), parcel.plain.len());
        if bytes > limit {
            let reason = format!("{what} has {bytes} bytes; at most {limit} fit in a trace");
            return Err(self.invalid(reason));
        }
        if self.packing.is_full() {
            self.write_next()?;
        }
        self.packing.push(parcel, place);
        Ok(())
    }

    /// Writes all blocks in flight.
    fn write_all(&mut self) -> Result<(), TraceError> {
        while self.write_next()?.is_some() {}
        Ok(())
    }

    /// Writes the oldest block in flight; `None` if there is none.
    fn write_next(&mut self) -> Result<Option<Block>, TraceError> {
        let Some((place, (parcel, block))) = self.packing.next() else { return Ok(None) };
        let block = block.map_err(|error: io::Error| self.invalid(error.to_string()))?;
        self.output.write(&parcel.stored)?;
        self.spare.push(parcel);
        match place {
            Place::Chunk { ctas } => self.chunks.push(ChunkIndex { block, ctas }),
            Place::Dictionary(kernel) => {
                let (kernel, chunks) = (*kernel, mem::take(&mut self.chunks));
                self.index.kernels.push(KernelIndex { kernel, chunks, dictionary: block });
                self.whole = self.output.written();
            }
            Place::Index => {}
        }
        Ok(Some(block))
    }

    fn invalid(&self, reason: String) -> TraceError {
        TraceError::Invalid { path: self.output.path().to_owned(), reason }
    }
}
