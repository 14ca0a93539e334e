//! The `-key = value` lines at the start of a kernel file. Any may be missing or invalid.

use crate::error::shortened;
use crate::text;

/// The valid header lines of a kernel file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub name: Option<String>,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    pub shared_bytes: u32,
    pub registers: u32,
    /// SM binary version; 0 if unknown.
    pub sm_version: u32,
    pub stream: u64,
    pub shared_base: Option<u64>,
    pub local_base: Option<u64>,
    /// Whole part of the tracer's version; 0 if missing.
    pub tracer_version: u32,
    /// Lines begin with a source line number.
    pub line_numbers: bool,
    /// Instruction set, which only traces of other vendors' GPUs name.
    pub isa: Option<String>,
    /// Notes on rejected values, one sentence each.
    pub notes: Vec<String>,
}

/// Maximum notes, above the number of keys.
const MAX_NOTES: usize = 20;
/// Maximum registers per thread.
const MAX_REGISTERS: u64 = 255;
/// Maximum shared memory per CTA on any known architecture, bytes.
const MAX_SHARED: u64 = 228 * 1024;
/// Maximum threads per CTA.
const MAX_THREADS: u64 = 1024;

impl Header {
    /// Parses one header line; other lines are ignored.
    pub fn line(&mut self, line: &[u8]) {
        let Some((key, value)) = split(line) else { return };
        match key {
            b"kernel name" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"grid dim" => self.grid = dimensions(value).or_else(|| self.reject("grid dim", value)),
            b"block dim" => {
                let believed =
                    dimensions(value).filter(|d| product(d).is_some_and(|n| n <= MAX_THREADS));
                self.block = believed.or_else(|| self.reject("block dim", value));
            }
            b"shmem" => self.shared_bytes = self.bounded("shmem", value, MAX_SHARED),
            b"nregs" => self.registers = self.bounded("nregs", value, MAX_REGISTERS),
            b"binary version" => {
                self.sm_version = self.bounded("binary version", value, u64::from(u16::MAX));
            }
            b"cuda stream id" => {
                let stream = text::decimal(value).or_else(|| prefixed_hex(value));
                self.stream = stream.or_else(|| self.reject("cuda stream id", value)).unwrap_or(0);
            }
            b"shmem base_addr" => self.shared_base = text::hex(value).filter(|&base| base != 0),
            b"local mem base_addr" => self.local_base = text::hex(value).filter(|&base| base != 0),
            b"accelsim tracer version" => self.tracer_version = whole_part(value),
            b"enable lineinfo" => self.line_numbers = value == b"1",
            b"isa type" => self.isa = Some(shortened(value)),
            _ => {}
        }
    }

    /// Refuses kernels of an instruction set other than SASS.
    pub fn check_isa(&self) -> Result<(), String> {
        let Some(isa) = self.isa.as_deref() else { return Ok(()) };
        if isa.eq_ignore_ascii_case("sass") {
            return Ok(());
        }
        Err(format!(
            "not supported: wavefronts of 64 lanes (the header says `isa type = {isa}`); a warp of a trace has 32 \
             lanes and an opcode of SASS. Write the accesses as a table, two rows of 32 lanes for each wavefront, \
             and import that (warpmem import csv)"
        ))
    }

    fn bounded(&mut self, key: &str, value: &[u8], most: u64) -> u32 {
        let believed = text::decimal(value).filter(|&n| n <= most);
        believed.or_else(|| self.reject(key, value)).unwrap_or(0) as u32
    }

    /// Rejects a value with a note.
    fn reject<T>(&mut self, key: &str, value: &[u8]) -> Option<T> {
        if self.notes.len() >= MAX_NOTES {
            return None;
        }
        let value = String::from_utf8_lossy(&value[..value.len().min(40)]).into_owned();
        self.notes.push(format!("header `{key} = {value}` is invalid and ignored"));
        None
    }
}

fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii().strip_prefix(b"-")?;
    let equals = line.iter().position(|&byte| byte == b'=')?;
    Some((line[..equals].trim_ascii(), line[equals + 1..].trim_ascii()))
}

/// `(x,y,z)`, each at least 1.
fn dimensions(value: &[u8]) -> Option<[u32; 3]> {
    let inner = value.strip_prefix(b"(")?.strip_suffix(b")")?;
    triple(inner).filter(|d| d.iter().all(|&n| n > 0))
}

/// `x,y,z`.
pub fn triple(text: &[u8]) -> Option<[u32; 3]> {
    let mut parts = text
        .split(|&byte| byte == b',')
        .map(|part| text::decimal(part.trim_ascii()).and_then(|n| u32::try_from(n).ok()));
    let triple = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(triple)
}

fn product(dimensions: &[u32; 3]) -> Option<u64> {
    dimensions.iter().try_fold(1u64, |all, &n| all.checked_mul(u64::from(n)))
}

fn prefixed_hex(value: &[u8]) -> Option<u64> {
    value.starts_with(b"0x").then(|| text::hex(value)).flatten()
}

/// `1.2` is version 1; anything but a number is 0, as if missing.
fn whole_part(value: &[u8]) -> u32 {
    let digits = value.split(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
    text::decimal(digits).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        let mut header = Header::default();
        text.lines().for_each(|line| header.line(line.as_bytes()));
        header
    }

    #[test]
    fn a_whole_header() {
        let header = header(
            "-kernel name = _Z6vecAddPdS_S_i<a = b>\n-kernel id = 1\n-grid dim = (98,2,3)\n\
             -block dim = (1024,1,1)\n-shmem = 512\n-nregs = 12\n-binary version = 75\n\
             -cuda stream id = 47005056\n-shmem base_addr = 0x00007fcecd000000\n\
             -local mem base_addr = 0x00007fcecb000000\n-nvbit version = 1.7.4\n\
             -accelsim tracer version = 5\n-enable lineinfo = 1\n\n#traces format = whatever",
        );
        assert_eq!(header.name.as_deref(), Some("_Z6vecAddPdS_S_i<a = b>"));
        assert_eq!(header.grid, Some([98, 2, 3]));
        assert_eq!(header.block, Some([1024, 1, 1]));
        assert_eq!((header.shared_bytes, header.registers, header.sm_version), (512, 12, 75));
        assert_eq!(header.stream, 47_005_056);
        assert_eq!(header.shared_base, Some(0x7fce_cd00_0000));
        assert_eq!(header.local_base, Some(0x7fce_cb00_0000));
        assert_eq!((header.tracer_version, header.line_numbers), (5, true));
        assert_eq!(header.notes, Vec::<String>::new());
    }

    #[test]
    fn wavefronts_are_refused() {
        let refused = header("-kernel name = k\n-isa type = GCN3\n").check_isa().unwrap_err();
        assert!(refused.starts_with("not supported: wavefronts of 64 lanes"), "{refused}");
        assert!(refused.contains("`isa type = GCN3`"), "{refused}");
        assert_eq!(header("-isa type = SASS").check_isa(), Ok(()));
        assert_eq!(header("").check_isa(), Ok(()));
    }

    #[test]
    fn invalid_header_lines_are_ignored_with_a_note() {
        let header = header(
            "-shmem = 1\n-nregs = 21955\n-accelsim tracer version = 1.2\n-grid dim = (0,1,1)\n\
             -block dim = (4096,4096,4096)\n-cuda stream id = 94234523413248\n-binary version = x",
        );
        assert_eq!(header.shared_bytes, 1);
        assert_eq!((header.registers, header.tracer_version, header.sm_version), (0, 1, 0));
        assert_eq!((header.grid, header.block), (None, None));
        assert_eq!(header.stream, 94_234_523_413_248);
        assert_eq!(header.notes.len(), 4, "{:?}", header.notes);
    }

    #[test]
    fn the_number_of_notes_is_bounded() {
        assert_eq!(header(&"-nregs = x\n".repeat(1000)).notes.len(), MAX_NOTES);
    }

    #[test]
    fn an_empty_header_has_version_zero() {
        assert_eq!(header("").tracer_version, 0);
        assert_eq!(header("-accelsim tracer version = new").tracer_version, 0);
    }
}
