use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;
use serde::de::DeserializeOwned;

use crate::block::{Block, MAX_DECODED, MAX_INFLATED};
use crate::chunk::{Chunk, Origin};
use crate::dictionary::{self, Sites};
use crate::error::TraceError;
use crate::header::{Footer, Head, Header, Index, Kernel, KernelIndex, MAJOR};
use crate::record::{Instruction, Record};
use crate::{serial, v1, v2, v3, v4};

/// Cached dictionaries, more than the kernels that run at once. Their total size is limited to that
/// of a single dictionary.
const KEPT_DICTIONARIES: usize = 8;

/// A trace opened for reading, shareable among threads. Opening reads header, index and footer.
/// Chunks and dictionaries are inflated on request and live as long as their users.
///
/// The file is memory-mapped and must not change while it is open.
pub struct Trace {
    path: Arc<Path>,
    bytes: Bytes,
    header: Header,
    kernels: Vec<Kernel>,
    places: Vec<KernelPlaces>,
    index_offset: u64,
    /// Dictionaries of the most recently used kernels, in that order.
    dictionaries: Mutex<Vec<(usize, Dictionary)>>,
}

/// The instructions of a kernel, and the properties that decoding needs.
#[derive(Clone)]
struct Dictionary {
    instructions: Arc<[Instruction]>,
    sites: Arc<Sites>,
    /// Inflated size of its block.
    bytes: u32,
}

enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// Reads a pipe or device, which cannot be mapped. Stops after the first bytes if they are not
/// those of a trace.
fn read_stream(mut stream: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut stream).take(Head::BYTES as u64).read_to_end(&mut bytes)?;
    if bytes.first_chunk().is_some_and(|head: &[u8; 8]| Head::has_magic(head)) {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Positions of a kernel's blocks.
struct KernelPlaces {
    chunks: Vec<ChunkPlace>,
    dictionary: Place,
}

struct ChunkPlace {
    place: Place,
    ctas: Range<u32>,
}

#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    block: Block,
}

impl Trace {
    /// Maps a trace into memory, or reads it from a pipe.
    ///
    /// # Errors
    /// When the file cannot be read, is not a trace, has a newer version, or is truncated or
    /// damaged.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        let failed =
            |action| move |source| TraceError::Io { path: path.to_owned(), action, source };
        let file = File::open(path).map_err(failed("open"))?;
        let metadata = file.metadata().map_err(failed("open"))?;
        if metadata.is_dir() {
            let reason = "it is a folder".to_owned();
            return Err(TraceError::NotATrace { path: path.to_owned(), reason });
        }
        if !metadata.is_file() {
            let bytes = read_stream(file).map_err(failed("read"))?;
            return Trace::from_bytes(path, bytes);
        }
        if metadata.len() == 0 {
            return Trace::from_bytes(path, Vec::new());
        }
        // SAFETY: the map is only read. The operating system cannot guarantee that the file stays
        // unchanged while it is mapped; this is the documented precondition of the function.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(failed("map"))?;
        Trace::over(path, Bytes::Mapped(map))
    }

    /// Reads a trace that is already in memory; `name` replaces the path in errors.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Trace, TraceError> {
        Trace::over(&name.into(), Bytes::Owned(bytes))
    }

    fn over(path: &Path, bytes: Bytes) -> Result<Trace, TraceError> {
        let opening = Opening { path, bytes: bytes.as_slice() };
        let head = opening.head()?;
        let (index, offset) = opening.index(&head)?;
        let (kernels, places) = opening.places(index.kernels, offset)?;
        Ok(Trace {
            path: path.into(),
            header: Header {
                version: (head.major, head.minor),
                provenance: index.provenance,
                memcpys: index.memcpys,
                l2_resets: index.l2_resets,
                content_hash: index.content_hash,
            },
            bytes,
            kernels,
            places,
            index_offset: offset,
            dictionaries: Mutex::default(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn file_bytes(&self) -> u64 {
        self.bytes.as_slice().len() as u64
    }

    /// Returns the kernels in launch order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Returns the instructions of a kernel, by [`InstructionId`](crate::InstructionId).
    ///
    /// # Errors
    /// When there is no such kernel or its dictionary is damaged.
    pub fn instructions(&self, kernel: usize) -> Result<Arc<[Instruction]>, TraceError> {
        Ok(self.dictionary(kernel)?.instructions)
    }

    fn read_instructions(&self, kernel: usize) -> Result<Vec<Instruction>, TraceError> {
        let place = self.kernel(kernel)?.dictionary;
        let ctas_per_cluster = self.kernels[kernel].info.ctas_per_cluster();
        let bytes = self.opening().inflate(place, "dictionary", MAX_DECODED)?;
        let instructions = match self.header.version.0 {
            1 => decode_instructions::<v1::Instruction>(&bytes),
            2 => decode_instructions::<v2::Instruction>(&bytes),
            3 => decode_instructions::<v3::Instruction>(&bytes),
            4 => decode_instructions::<v4::Instruction>(&bytes),
            _ => serial::decode(&bytes),
        };
        let checked = instructions.and_then(|instructions| {
            instructions.iter().try_for_each(|instruction| {
                dictionary::check(instruction)?;
                dictionary::check_destinations(instruction, ctas_per_cluster)
            })?;
            Ok(instructions)
        });
        checked
            .map_err(|reason| self.opening().damaged(place.offset, format!("dictionary: {reason}")))
    }

    /// Inflates a chunk of a kernel. The chunks hold the kernel's CTAs in file order.
    ///
    /// # Errors
    /// When there is no such chunk or it is damaged.
    pub fn chunk(&self, kernel: usize, chunk: usize) -> Result<Arc<Chunk>, TraceError> {
        let ChunkPlace { place, ctas } = self.chunk_place(kernel, chunk)?;
        let data = self.opening().inflate(*place, "chunk", MAX_INFLATED)?;
        let origin =
            Origin { path: Arc::clone(&self.path), offset: place.offset, ctas: ctas.clone() };
        Chunk::parse(data, self.dictionary(kernel)?.sites, origin).map(Arc::new)
    }

    /// Recounts all records and compares them with the totals of the index. Reads the whole trace.
    ///
    /// # Errors
    /// When a count in the index differs from that of the records, or a chunk is damaged.
    pub fn check_counts(&self) -> Result<(), TraceError> {
        (0..self.kernels.len()).try_for_each(|kernel| self.check_kernel(kernel))
    }

    fn check_kernel(&self, number: usize) -> Result<(), TraceError> {
        let kernel = &self.kernels[number];
        let mut counted = Kernel::default();
        for chunk in kernel.chunks.clone() {
            self.count(number, chunk, &mut counted)?;
        }
        let Some((what, said, counted)) = kernel.difference(&counted) else { return Ok(()) };
        let name = &kernel.info.name;
        let reason = format!(
            "index: {said} {what} in kernel {number}, `{name}`, where its chunks hold {counted}"
        );
        Err(self.opening().damaged(self.index_offset, reason))
    }

    /// Adds the records of a chunk to `counted`.
    fn count(&self, kernel: usize, chunk: usize, counted: &mut Kernel) -> Result<(), TraceError> {
        let chunk = self.chunk(kernel, chunk)?;
        let mut record = Record::new();
        for (index, cta) in chunk.ctas().iter().enumerate() {
            counted.warps += cta.warps.len() as u64;
            for warp in 0..cta.warps.len() {
                let mut cursor = chunk.warp(index, warp);
                while cursor.next(&mut record)? {
                    // Always present: the cursor has looked it up before.
                    if let Some(site) = chunk.sites.get(record.instruction.0) {
                        counted.add(record.mask, &record.compute_lanes, site);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the CTAs of a chunk by their number in file order, without inflating it.
    ///
    /// # Errors
    /// When there is no such chunk.
    pub fn chunk_ctas(&self, kernel: usize, chunk: usize) -> Result<Range<u32>, TraceError> {
        Ok(self.chunk_place(kernel, chunk)?.ctas.clone())
    }

    /// Returns the chunk that holds a CTA, by its number in file order, and the index of the CTA in
    /// the chunk.
    ///
    /// # Errors
    /// When there is no such kernel or CTA.
    pub fn chunk_of_cta(&self, kernel: usize, cta: u32) -> Result<(usize, usize), TraceError> {
        let chunks = &self.kernel(kernel)?.chunks;
        let chunk = chunks.partition_point(|chunk| chunk.ctas.end <= cta);
        let missing = || self.missing(format!("CTA {cta} of kernel {kernel}"), chunks.len());
        let holds = chunks.get(chunk).ok_or_else(missing)?;
        Ok((chunk, (cta - holds.ctas.start) as usize))
    }

    fn chunk_place(&self, kernel: usize, chunk: usize) -> Result<&ChunkPlace, TraceError> {
        let chunks = &self.kernel(kernel)?.chunks;
        let missing = || self.missing(format!("chunk {chunk} of kernel {kernel}"), chunks.len());
        chunks.get(chunk).ok_or_else(missing)
    }

    fn dictionary(&self, kernel: usize) -> Result<Dictionary, TraceError> {
        // A panic elsewhere cannot leave the list inconsistent.
        let lock = || self.dictionaries.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().iter().find(|(of, _)| *of == kernel).map(|(_, kept)| kept.clone());
        if let Some(dictionary) = kept {
            return Ok(dictionary);
        }
        let instructions: Arc<[Instruction]> = self.read_instructions(kernel)?.into();
        let sites =
            Arc::new(Sites::of(&instructions, self.kernels[kernel].info.ctas_per_cluster()));
        let bytes = self.kernel(kernel)?.dictionary.block.inflated;
        let dictionary = Dictionary { instructions, sites, bytes };
        let mut kept = lock();
        kept.push((kernel, dictionary.clone()));
        while kept.len() > KEPT_DICTIONARIES || kept.len() > 1 && total_bytes(&kept) > MAX_DECODED {
            kept.remove(0);
        }
        Ok(dictionary)
    }

    fn kernel(&self, kernel: usize) -> Result<&KernelPlaces, TraceError> {
        let places = self.places.get(kernel);
        places.ok_or_else(|| self.missing(format!("kernel {kernel}"), self.places.len()))
    }

    fn missing(&self, what: String, count: usize) -> TraceError {
        TraceError::Missing { path: self.path.to_path_buf(), what, count }
    }

    fn opening(&self) -> Opening<'_> {
        Opening { path: &self.path, bytes: self.bytes.as_slice() }
    }
}

fn total_bytes(dictionaries: &[(usize, Dictionary)]) -> usize {
    dictionaries.iter().map(|(_, dictionary)| dictionary.bytes as usize).sum()
}

/// Recognises a file of another format by its name or first bytes; returns the format and the
/// command that converts it.
fn other_format(path: &Path, bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    /// The traced program's own output may come first.
    const SEARCHED: usize = 64 << 10;
    let name = path.file_name().map_or("".into(), |name| name.to_string_lossy());
    let begins = |with: &[&str]| with.iter().any(|with| bytes.starts_with(with.as_bytes()));
    let searched = &bytes[..bytes.len().min(SEARCHED)];
    if name.starts_with("kernelslist") || begins(&["MemcpyHtoD", "kernel-"]) {
        return Some(("it lists the kernels of an Accel-Sim trace", "accel-sim kernelslist.g"));
    }
    if name.contains(".trace") || begins(&["-kernel name"]) {
        return Some(("it is a kernel of an Accel-Sim trace", "accel-sim kernelslist.g"));
    }
    if searched.windows(MEM_TRACE.len()).any(|window| window == MEM_TRACE) {
        return Some(("it is a log of mem_trace", "mem-trace LOG"));
    }
    if begins(&["PAR1"]) || name.ends_with(".parquet") {
        return Some(("it is a Parquet table", "parquet TABLE"));
    }
    if name.contains(".csv") {
        return Some(("it is a CSV table", "csv TABLE"));
    }
    name.contains(".jsonl").then_some(("it is a table of JSON lines", "jsonl TABLE"))
}

const MEM_TRACE: &[u8] = b"MEMTRACE: CTX ";

/// The bytes of a file that is being opened, and its name for errors.
struct Opening<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl Opening<'_> {
    fn head(&self) -> Result<Head, TraceError> {
        let bytes = self.bytes.first_chunk::<{ Head::BYTES }>();
        let Some(bytes) = bytes.filter(|bytes| Head::has_magic(*bytes)) else {
            return Err(self.not_a_trace());
        };
        let head =
            Head::decode(bytes).map_err(|reason| self.damaged(0, format!("head: {reason}")))?;
        match head.major {
            1..=MAJOR => Ok(head),
            0 => Err(self.damaged(8, "version 0 never existed".into())),
            _ => Err(TraceError::NewerVersion {
                path: self.path.into(),
                major: head.major,
                minor: head.minor,
            }),
        }
    }

    /// Returns the error for bytes that do not start like a trace.
    fn not_a_trace(&self) -> TraceError {
        let reason = match other_format(self.path, self.bytes) {
            Some((what, command)) => {
                format!("{what}; `warpmem import {command} -o FILE.wmt` converts it")
            }
            None if self.bytes.len() < Head::BYTES => {
                return self
                    .truncated(format!("{} bytes are shorter than a head", self.bytes.len()));
            }
            None => "it does not start with the magic bytes".to_owned(),
        };
        TraceError::NotATrace { path: self.path.into(), reason }
    }

    /// Returns the index and its offset.
    fn index(&self, head: &Head) -> Result<(Index, u64), TraceError> {
        let body = &self.bytes[Head::BYTES..];
        let footer = body.last_chunk().filter(|footer| Footer::has_magic(*footer));
        let Some(footer) = footer else {
            return Err(self.truncated("it does not end with a footer".into()));
        };
        let footer_offset = (self.bytes.len() - Footer::BYTES) as u64;
        let footer = Footer::decode(footer)
            .map_err(|reason| self.damaged(footer_offset, format!("footer: {reason}")))?;
        let end = footer.offset.checked_add(footer.index.stored.into());
        if end != Some(footer_offset) {
            let reason = format!("the index does not end at the footer at {footer_offset}");
            return Err(self.damaged(footer_offset, reason));
        }
        let place = Place { offset: footer.offset, block: footer.index };
        let bytes = self.inflate(place, "index", MAX_DECODED)?;
        let index =
            match head.major {
                1 => decode_index(&bytes, head.minor > v1::MINOR)
                    .map(|old: v1::Index| Index::from(old)),
                2 => decode_index(&bytes, head.minor > v2::MINOR)
                    .map(|old: v3::Index| Index::from(old)),
                3 => decode_index(&bytes, head.minor > v3::MINOR)
                    .map(|old: v3::Index| Index::from(old)),
                4 => decode_index(&bytes, head.minor > v4::MINOR),
                _ => Index::decode(&bytes, head.minor),
            };
        let index =
            index.map_err(|reason| self.damaged(place.offset, format!("index: {reason}")))?;
        Ok((index, footer.offset))
    }

    /// Computes the offset of every block; the blocks must fill the file up to the index.
    fn places(
        &self,
        kernels: Vec<KernelIndex>,
        index_offset: u64,
    ) -> Result<(Vec<Kernel>, Vec<KernelPlaces>), TraceError> {
        let mut offset = Head::BYTES as u64;
        let mut place = |block: Block| {
            let place = Place { offset, block };
            offset += u64::from(block.stored);
            place
        };
        let all: Vec<&Kernel> = kernels.iter().map(|kernel| &kernel.kernel).collect();
        check_totals(&all).map_err(|reason| self.damaged(index_offset, reason))?;
        let mut described = Vec::with_capacity(kernels.len());
        let mut places = Vec::with_capacity(kernels.len());
        for KernelIndex { mut kernel, chunks, dictionary } in kernels {
            let mut ctas = 0u32;
            let mut chunk_places = Vec::with_capacity(chunks.len());
            for chunk in chunks {
                let end = ctas.checked_add(chunk.ctas).filter(|&end| end <= kernel.ctas);
                let Some(end) = end else {
                    return Err(self.damaged(index_offset, "index: chunks exceed a kernel".into()));
                };
                chunk_places.push(ChunkPlace { place: place(chunk.block), ctas: ctas..end });
                ctas = end;
            }
            if ctas != kernel.ctas {
                let reason = format!("index: {ctas} CTAs in chunks of a kernel of {}", kernel.ctas);
                return Err(self.damaged(index_offset, reason));
            }
            kernel.chunks = 0..chunk_places.len();
            described.push(kernel);
            places.push(KernelPlaces { chunks: chunk_places, dictionary: place(dictionary) });
        }
        if offset != index_offset {
            let reason =
                format!("index: blocks end at {offset}, the index begins at {index_offset}");
            return Err(self.damaged(index_offset, reason));
        }
        Ok((described, places))
    }

    fn inflate(&self, place: Place, what: &str, limit: usize) -> Result<Vec<u8>, TraceError> {
        let Place { offset, block } = place;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(block.stored as usize);
        let Some(stored) = self.bytes.get(start..end) else {
            return Err(self.truncated(format!("{what} at byte {offset} lies beyond its end")));
        };
        let unpacked = block.unpack(stored, limit);
        unpacked.map_err(|reason| self.damaged(offset, format!("{what}: {reason}")))
    }

    fn damaged(&self, offset: u64, reason: String) -> TraceError {
        TraceError::Damaged { path: self.path.into(), offset, reason }
    }

    fn truncated(&self, reason: String) -> TraceError {
        TraceError::Truncated { path: self.path.into(), reason }
    }
}

/// Refuses counts that contradict each other or whose sums overflow 64 bits.
fn check_totals(kernels: &[&Kernel]) -> Result<(), String> {
    for (number, kernel) in kernels.iter().enumerate() {
        if let Some((what, said, parts)) = kernel.contradiction() {
            let name = &kernel.info.name;
            return Err(format!(
                "index: {said} {what} in kernel {number}, `{name}`, where their kinds add up to {parts}"
            ));
        }
        let info = &kernel.info;
        let clusters = info.check_cluster().and_then(|()| info.check_whole_clusters(kernel.ctas));
        clusters.map_err(|reason| format!("index: kernel {number}, `{}`: {reason}", info.name))?;
    }
    let counts: [fn(&Kernel) -> u64; 4] =
        [|k| k.warps, |k| k.records, |k| k.warp_instructions, |k| k.thread_instructions];
    let fits = |of: &fn(&Kernel) -> u64| {
        kernels.iter().try_fold(0u64, |sum, kernel| sum.checked_add(of(kernel))).is_some()
    };
    match counts.iter().all(fits) {
        true => Ok(()),
        false => Err("index: the sum of the counts of its kernels exceeds 64 bits".to_owned()),
    }
}

/// Decodes the dictionary of an older version.
fn decode_instructions<Old: DeserializeOwned + Into<Instruction>>(
    bytes: &[u8],
) -> Result<Vec<Instruction>, String> {
    let old: Vec<Old> = serial::decode(bytes)?;
    Ok(old.into_iter().map(Old::into).collect())
}

/// `newer`: the file has a newer minor version and may have trailing fields.
fn decode_index<T: DeserializeOwned>(bytes: &[u8], newer: bool) -> Result<T, String> {
    if newer { serial::decode_front(bytes) } else { serial::decode(bytes) }
}
