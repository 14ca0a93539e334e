//! The header of a trace file, and the fixed bytes at both ends.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::block::{Block, Codec, check_crc};
use crate::dictionary::Site;
use crate::record::{KernelInfo, Kind, Memcpy, OpClass, Space};
use crate::serial;

/// The major version written. A reader refuses a file with a higher major version.
pub(crate) const MAJOR: u16 = 5;
/// The minor version. A file with a higher minor version has additional trailing fields, which a
/// reader may ignore. A file that uses no field of minor 1 is written as minor 0.
///
/// Changes: 1.0 the first. 2.0 class fp16; register operands by bank. 3.0 more than 255 bytes per
/// lane. 4.0 clusters of CTAs. 5.0 barriers for some warps of a CTA; L2 eviction policies. 5.1
/// resets of persisting L2 lines.
pub(crate) const MINOR: u16 = 1;
/// The version written: major, minor.
pub const FORMAT_VERSION: (u16, u16) = (MAJOR, MINOR);

/// As in PNG: cannot be text or 7-bit data, and line-end conversion alters it.
const MAGIC: [u8; 8] = *b"\x89WMT\r\n\x1a\n";
const END_MAGIC: [u8; 8] = *b"WMT-END\n";

/// The program that made a trace, and its input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Program and version.
    pub tool: String,
    /// The origin of the trace: a file, a captured run, or an algorithm and its input.
    pub source: String,
    /// The command line.
    pub command: String,
}

/// The description of a trace file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Format version of the file: major, minor.
    pub version: (u16, u16),
    pub provenance: Provenance,
    pub memcpys: Vec<Memcpy>,
    /// Numbers of the kernels before which persisting L2 lines are reset to normal
    /// (`cudaCtxResetPersistingL2Cache`), ascending.
    pub l2_resets: Vec<u32>,
    /// Hash of kernels, copies, resets and records, independent of compression, chunk size and
    /// provenance.
    pub content_hash: u64,
}

/// A kernel launch and its totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    pub info: KernelInfo,
    pub ctas: u32,
    pub warps: u64,
    /// Records of all kinds.
    pub records: u64,
    /// Compute instructions and records other than [`Kind::End`].
    pub warp_instructions: u64,
    /// Active lanes summed over the warp instructions.
    pub thread_instructions: u64,
    /// Compute instructions by class.
    pub compute_by_class: [u64; OpClass::COUNT],
    /// Records by kind and address space; pairs that do not occur are absent.
    pub records_by_kind: Vec<KindCount>,
    /// Chunk numbers that [`Trace::chunk`](crate::Trace::chunk) accepts for this kernel, from 0.
    #[serde(skip)]
    pub chunks: Range<usize>,
}

/// Records of one kind and address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCount {
    pub kind: Kind,
    pub space: Space,
    pub records: u64,
    /// Active lanes summed over the records.
    pub lanes: u64,
}

impl Kernel {
    /// Returns the records of a kind in an address space.
    pub fn count(&self, kind: Kind, space: Space) -> u64 {
        let of_kind = self.records_by_kind.iter().find(|c| c.kind == kind && c.space == space);
        of_kind.map_or(0, |count| count.records)
    }

    /// Adds a record with `lanes` active over the compute before it, by class.
    pub(crate) fn add(&mut self, mask: u32, lanes: &[u32; OpClass::COUNT], site: &Site) {
        let active = u64::from(mask.count_ones());
        self.records += 1;
        for (total, count) in self.compute_by_class.iter_mut().zip(site.counts) {
            *total += u64::from(count);
            self.warp_instructions += u64::from(count);
        }
        self.thread_instructions += lanes.iter().map(|&lanes| u64::from(lanes)).sum::<u64>();
        if site.kind != Kind::End {
            self.warp_instructions += 1;
            self.thread_instructions += active;
        }
        let (kind, space) = (site.kind, site.space);
        let counts = &mut self.records_by_kind;
        let place = counts.iter().position(|count| count.kind == kind && count.space == space);
        let place = place.unwrap_or_else(|| {
            counts.push(KindCount { kind, space, records: 0, lanes: 0 });
            counts.len() - 1
        });
        counts[place].records += 1;
        counts[place].lanes += active;
    }

    /// Returns the first total that is not the sum of its parts: its name, the total, and the sum
    /// (saturating).
    pub(crate) fn contradiction(&self) -> Option<(&'static str, u64, u64)> {
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
        let of_kinds = |is_counted: fn(&KindCount) -> bool| {
            let counted = self.records_by_kind.iter().filter(|count| is_counted(count));
            sum(&mut counted.map(|count| count.records))
        };
        let compute = sum(&mut self.compute_by_class.iter().copied());
        let issued = compute.saturating_add(of_kinds(|count| count.kind != Kind::End));
        let totals = [
            ("records", self.records, of_kinds(|_| true)),
            ("warp instructions", self.warp_instructions, issued),
        ];
        totals.into_iter().find(|(_, total, parts)| total != parts)
    }

    /// Returns the first count that differs from `counted`: its name, the count here and the count
    /// there.
    pub(crate) fn difference(&self, counted: &Kernel) -> Option<(&'static str, u64, u64)> {
        let counts = [
            ("warps", self.warps, counted.warps),
            ("records", self.records, counted.records),
            ("warp instructions", self.warp_instructions, counted.warp_instructions),
            ("thread instructions", self.thread_instructions, counted.thread_instructions),
        ];
        counts.into_iter().find(|(_, said, counted)| said != counted)
    }

    /// Returns the records with addresses: loads, stores, atomics, reductions, copies, prefetches.
    pub fn memory_records(&self) -> u64 {
        let memory = self.records_by_kind.iter().filter(|count| count.kind.is_memory());
        memory.map(|count| count.records).sum()
    }
}

/// The last block of a file: the header and the directory of blocks.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    pub provenance: Provenance,
    pub memcpys: Vec<Memcpy>,
    pub content_hash: u64,
    pub kernels: Vec<KernelIndex>,
    /// [`Header::l2_resets`], after the other fields in files of minor version 1.
    #[serde(skip)]
    pub l2_resets: Vec<u32>,
}

impl Index {
    /// Returns the lowest minor version that can hold the index.
    pub fn minor(&self) -> u16 {
        u16::from(!self.l2_resets.is_empty())
    }

    pub fn encode(&self) -> Vec<u8> {
        match self.minor() {
            0 => serial::encode(self),
            _ => serial::encode(&(self, &self.l2_resets)),
        }
    }

    /// Decodes the index of a file of the current major version.
    pub fn decode(bytes: &[u8], minor: u16) -> Result<Index, String> {
        let (index, l2_resets): (Index, Vec<u32>) = match minor {
            0 => (serial::decode(bytes)?, Vec::new()),
            MINOR => serial::decode(bytes)?,
            _ => serial::decode_front(bytes)?,
        };
        let kernels = index.kernels.len() as u64;
        let rising = l2_resets.is_sorted_by(|one, next| one < next);
        if !rising || l2_resets.last().is_some_and(|&last| u64::from(last) >= kernels) {
            return Err("L2 resets not in ascending order of existing kernels".into());
        }
        Ok(Index { l2_resets, ..index })
    }
}

/// Blocks of a kernel, in file order; the dictionary follows the chunks.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KernelIndex {
    pub kernel: Kernel,
    pub chunks: Vec<ChunkIndex>,
    pub dictionary: Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkIndex {
    pub block: Block,
    pub ctas: u32,
}

/// The first bytes of a file: magic, version, checksum of both. Identical in every version.
pub(crate) struct Head {
    pub major: u16,
    pub minor: u16,
}

impl Head {
    pub const BYTES: usize = 16;

    pub fn encode(&self) -> [u8; Head::BYTES] {
        let mut bytes = [0; Head::BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.major.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.minor.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..12]);
        bytes[12..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub fn has_magic(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    pub fn decode(bytes: &[u8; Head::BYTES]) -> Result<Head, String> {
        let [.., a, b, c, d, e, f, g, h] = *bytes;
        check_crc(&bytes[..12], u32::from_le_bytes([e, f, g, h]))?;
        Ok(Head { major: u16::from_le_bytes([a, b]), minor: u16::from_le_bytes([c, d]) })
    }
}

/// The last bytes of a file: the position of the index.
pub(crate) struct Footer {
    pub offset: u64,
    pub index: Block,
}

impl Footer {
    pub const BYTES: usize = 36;

    pub fn encode(&self) -> [u8; Footer::BYTES] {
        let mut bytes = [0; Footer::BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.index.stored.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.index.inflated.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.index.crc.to_le_bytes());
        bytes[20..24].copy_from_slice(&u32::from(self.index.codec as u8).to_le_bytes());
        let crc = crc32fast::hash(&bytes[..24]);
        bytes[24..28].copy_from_slice(&crc.to_le_bytes());
        bytes[28..].copy_from_slice(&END_MAGIC);
        bytes
    }

    pub fn has_magic(bytes: &[u8]) -> bool {
        bytes.ends_with(&END_MAGIC)
    }

    pub fn decode(bytes: &[u8; Footer::BYTES]) -> Result<Footer, String> {
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        check_crc(&bytes[..24], word(24))?;
        let codec = match word(20) {
            0 => Codec::Deflate,
            1 => Codec::Zstd,
            other => return Err(format!("unknown codec {other} of the index")),
        };
        Ok(Footer {
            offset: u64::from(word(0)) | u64::from(word(4)) << 32,
            index: Block { codec, stored: word(8), inflated: word(12), crc: word(16) },
        })
    }
}
