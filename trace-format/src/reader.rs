use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;
use serde::de::DeserializeOwned;

use crate::block::Block;
use crate::chunk::{Chunk, Origin};
use crate::dictionary::{self, Sites};
use crate::error::TraceError;
use crate::header::{Footer, Head, Header, Index, Kernel, KernelIndex, MAJOR, MINOR};
use crate::record::Instruction;
use crate::serial;
use crate::v1;

/// Kernels whose dictionaries are kept at hand; more than run at once.
const KEPT_DICTIONARIES: usize = 8;

/// A trace opened for reading, to be shared among threads. Opening reads the header, index and footer;
/// chunks and dictionaries are inflated when asked for and live as long as their user keeps them.
///
/// The file is memory-mapped: it must not be changed while it is open.
pub struct Trace {
    path: Arc<Path>,
    bytes: Bytes,
    header: Header,
    kernels: Vec<Kernel>,
    places: Vec<KernelPlaces>,
    /// Of the kernels used last, in that order.
    dictionaries: Mutex<Vec<(usize, Dictionary)>>,
}

/// A kernel's instructions, and what decoding its records needs of them.
#[derive(Clone)]
struct Dictionary {
    instructions: Arc<[Instruction]>,
    sites: Arc<Sites>,
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

/// Where a kernel's blocks are.
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
    /// # Errors
    /// When the file cannot be read, is no trace, of a newer version, truncated or damaged.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        let failed =
            |action| move |source| TraceError::Io { path: path.to_owned(), action, source };
        let file = File::open(path).map_err(failed("open"))?;
        let length = file.metadata().map_err(failed("open"))?.len();
        if length == 0 {
            return Trace::from_bytes(path, Vec::new());
        }
        // SAFETY: the map is only read. That nobody changes the file meanwhile cannot be had from the
        // operating system and is the documented condition of opening one.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(failed("map"))?;
        Trace::over(path, Bytes::Mapped(map))
    }

    /// Reads a trace that is already in memory; `name` stands for its path in errors.
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
                content_hash: index.content_hash,
            },
            bytes,
            kernels,
            places,
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

    /// In launch order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// A kernel's instructions, by [`InstructionId`](crate::InstructionId).
    ///
    /// # Errors
    /// When there is no such kernel or its dictionary is damaged.
    pub fn instructions(&self, kernel: usize) -> Result<Arc<[Instruction]>, TraceError> {
        Ok(self.dictionary(kernel)?.instructions)
    }

    fn read_instructions(&self, kernel: usize) -> Result<Vec<Instruction>, TraceError> {
        let place = self.kernel(kernel)?.dictionary;
        let bytes = self.opening().inflate(place, "dictionary")?;
        let instructions: Result<Vec<Instruction>, String> = match self.header.version {
            (1, _) => serial::decode(&bytes)
                .map(|old: Vec<v1::Instruction>| old.into_iter().map(Instruction::from).collect()),
            _ => serial::decode(&bytes),
        };
        let checked = instructions.and_then(|instructions| {
            instructions.iter().try_for_each(dictionary::check)?;
            Ok(instructions)
        });
        checked
            .map_err(|reason| self.opening().damaged(place.offset, format!("dictionary: {reason}")))
    }

    /// Inflates a chunk of a kernel. A kernel's CTAs are in file order over its chunks.
    ///
    /// # Errors
    /// When there is no such chunk or it is damaged.
    pub fn chunk(&self, kernel: usize, chunk: usize) -> Result<Arc<Chunk>, TraceError> {
        let ChunkPlace { place, ctas } = self.chunk_place(kernel, chunk)?;
        let data = self.opening().inflate(*place, "chunk")?;
        let origin =
            Origin { path: Arc::clone(&self.path), offset: place.offset, ctas: ctas.clone() };
        Chunk::parse(data, self.dictionary(kernel)?.sites, origin).map(Arc::new)
    }

    /// Which CTAs of a kernel a chunk holds, by their number in file order, without inflating it.
    ///
    /// # Errors
    /// When there is no such chunk.
    pub fn chunk_ctas(&self, kernel: usize, chunk: usize) -> Result<Range<u32>, TraceError> {
        Ok(self.chunk_place(kernel, chunk)?.ctas.clone())
    }

    fn chunk_place(&self, kernel: usize, chunk: usize) -> Result<&ChunkPlace, TraceError> {
        let chunks = &self.kernel(kernel)?.chunks;
        let missing = || self.missing(format!("chunk {chunk} of kernel {kernel}"), chunks.len());
        chunks.get(chunk).ok_or_else(missing)
    }

    fn dictionary(&self, kernel: usize) -> Result<Dictionary, TraceError> {
        // A panic elsewhere cannot leave the list half changed.
        let lock = || self.dictionaries.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().iter().find(|(of, _)| *of == kernel).map(|(_, kept)| kept.clone());
        if let Some(dictionary) = kept {
            return Ok(dictionary);
        }
        let instructions: Arc<[Instruction]> = self.read_instructions(kernel)?.into();
        let sites = Arc::new(Sites::of(&instructions));
        let dictionary = Dictionary { instructions, sites };
        let mut kept = lock();
        if kept.len() == KEPT_DICTIONARIES {
            kept.remove(0);
        }
        kept.push((kernel, dictionary.clone()));
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

/// A file's bytes and the name to complain under.
struct Opening<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl Opening<'_> {
    fn head(&self) -> Result<Head, TraceError> {
        let Some(bytes) = self.bytes.first_chunk::<{ Head::BYTES }>() else {
            return Err(self.truncated(format!("{} bytes are not even a head", self.bytes.len())));
        };
        if !Head::has_magic(bytes) {
            let reason = "its first bytes are not those of one".into();
            return Err(TraceError::NotATrace { path: self.path.into(), reason });
        }
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

    /// The index and where it begins.
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
        let bytes = self.inflate(place, "index")?;
        let index = match head.major {
            1 => {
                decode_index(&bytes, head.minor > v1::MINOR).map(|old: v1::Index| Index::from(old))
            }
            _ => decode_index(&bytes, head.minor > MINOR),
        };
        let index =
            index.map_err(|reason| self.damaged(place.offset, format!("index: {reason}")))?;
        Ok((index, footer.offset))
    }

    /// Works out every block's offset; the blocks must fill the file up to the index.
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

    fn inflate(&self, place: Place, what: &str) -> Result<Vec<u8>, TraceError> {
        let Place { offset, block } = place;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(block.stored as usize);
        let Some(stored) = self.bytes.get(start..end) else {
            return Err(self.truncated(format!("{what} at byte {offset} lies beyond its end")));
        };
        block.unpack(stored).map_err(|reason| self.damaged(offset, format!("{what}: {reason}")))
    }

    fn damaged(&self, offset: u64, reason: String) -> TraceError {
        TraceError::Damaged { path: self.path.into(), offset, reason }
    }

    fn truncated(&self, reason: String) -> TraceError {
        TraceError::Truncated { path: self.path.into(), reason }
    }
}

/// `newer`: by a minor version that may have put more behind what is known.
fn decode_index<T: DeserializeOwned>(bytes: &[u8], newer: bool) -> Result<T, String> {
    if newer { serial::decode_front(bytes) } else { serial::decode(bytes) }
}
