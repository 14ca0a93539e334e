//! The lines of a log, in every form printed by the tool and its descendants.
//!
//! Fields are separated by ` - ` in any order: `CTX`, `grid_launch_id`, `CTA` or `block`, `warp`,
//! an opcode with or without its PC, and 32 addresses.

use warpmem_trace::WARP_SIZE;

use crate::error::Expected;
use crate::gather::Launch;
use crate::text::{self, Tokens};

/// A line of a log.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all lines are accesses")]
pub enum Line<'a> {
    Launch(Id, Box<KernelLine>),
    Access(Access<'a>),
    /// Output of the traced program, or a message of the tool.
    Other,
}

/// The launch of a line, as far as given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Id {
    pub context: u64,
    pub number: Option<u64>,
}

/// A line about a launch.
#[derive(Debug, Default)]
pub struct KernelLine {
    pub launch: Launch,
    /// Address of the kernel.
    pub pc: Option<u64>,
}

/// A memory instruction of a warp.
#[derive(Debug)]
pub struct Access<'a> {
    pub id: Id,
    pub cta: [u32; 3],
    pub warp: u32,
    pub opcode: &'a str,
    /// Address of the instruction.
    pub pc: Option<u64>,
    pub addresses: [u64; WARP_SIZE],
}

const PREFIX: &[u8] = b"MEMTRACE: ";
const SEPARATOR: &str = " - ";

pub fn parse(line: &[u8]) -> Result<Line<'_>, Expected> {
    let Some(text) = entry(line) else { return Ok(Line::Other) };
    let mut id = Id::default();
    let mut rest = text;
    if let Some(context) = text.strip_prefix("CTX ") {
        // A line without a separator is a message: `CTX 0x…, Inspecting CUfunction …`.
        let Some((context, after)) = context.split_once(SEPARATOR) else { return Ok(Line::Other) };
        let Some(context) = text::hex(context.trim().as_bytes()) else { return Ok(Line::Other) };
        (id.context, rest) = (context, after);
    }
    match rest.strip_prefix("LAUNCH") {
        Some(fields) => launch(id, fields),
        None => access(id, rest),
    }
}

/// Returns the tool's part of a line, which may follow output of the traced program.
fn entry(line: &[u8]) -> Option<&str> {
    let line = line.trim_ascii();
    let text = match memchr::memmem::find(line, PREFIX) {
        Some(at) => &line[at + PREFIX.len()..],
        None if line.starts_with(b"CTA ") => line,
        None => return None,
    };
    let text = std::str::from_utf8(text).ok()?.trim_start();
    (text.starts_with("CTX ") || text.starts_with("CTA ")).then_some(text)
}

fn launch(mut id: Id, fields: &str) -> Result<Line<'_>, Expected> {
    let mut kernel = KernelLine::default();
    let launch = &mut kernel.launch;
    let (before, after) = match fields.find(NAME) {
        Some(at) => {
            let text = &fields[at + NAME.len()..];
            // The name of a template may contain a separator.
            let end = text.find(" - grid launch id ").or_else(|| text.find(" - grid size "));
            let (name, after) = text.split_at(end.unwrap_or(text.len()));
            launch.name = name.trim().to_owned();
            (&fields[..at], after)
        }
        None => (fields, ""),
    };
    for field in before.split(SEPARATOR).chain(after.split(SEPARATOR)) {
        let field = field.trim();
        let Some((key, value)) = field.rsplit_once(' ') else { continue };
        match key {
            "Kernel pc" | "Kernel" => kernel.pc = Some(hex(value)?),
            "grid launch id" => id.number = Some(number(value)?),
            "grid size" => launch.grid = Some(triple(value)?),
            "block size" => launch.block = Some(triple(value)?),
            "nregs" => launch.registers = narrow(value)?,
            "shmem" => launch.shared_bytes = narrow(value)?,
            "cuda stream id" => launch.stream = number(value)?,
            _ => {}
        }
    }
    Ok(Line::Launch(id, Box::new(kernel)))
}

const NAME: &str = "Kernel name ";

fn access(mut id: Id, fields: &str) -> Result<Line<'_>, Expected> {
    let (mut cta, mut warp, mut opcode, mut pc, mut addresses) = (None, None, None, None, None);
    for field in fields.split(SEPARATOR) {
        let field = field.trim();
        let (key, value) = field.split_once(' ').unwrap_or((field, ""));
        match key.trim_end_matches(':') {
            "grid_launch_id" | "kernel_launch_id" => id.number = Some(number(value)?),
            "CTA" | "block" => cta = Some(triple(value)?),
            "warp" => warp = Some(narrow(value)?),
            "PC" | "pc" => pc = Some(hex(value)?),
            _ if field.starts_with("0x") => addresses = Some(all_addresses(field)?),
            name if is_opcode(name) => {
                opcode = Some(name);
                pc = if value.is_empty() { pc } else { Some(hex(value)?) };
            }
            _ => return Err(format!("{FIELDS} between ` - `; `{key}` is none of them").into()),
        }
    }
    let missing = |what: &str| Expected::from(format!("{FIELDS}; the line has no {what}"));
    Ok(Line::Access(Access {
        id,
        cta: cta.ok_or_else(|| missing("CTA"))?,
        warp: warp.ok_or_else(|| missing("warp"))?,
        opcode: opcode.ok_or_else(|| missing("opcode"))?,
        pc,
        addresses: addresses.ok_or_else(|| missing("addresses"))?,
    }))
}

const FIELDS: &str = "CTX, grid_launch_id, CTA, warp, an opcode and 32 addresses";

fn is_opcode(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
}

fn all_addresses(field: &str) -> Result<[u64; WARP_SIZE], Expected> {
    const ADDRESSES: &str = "32 hexadecimal addresses, 0x0 for lanes that are not active";
    let mut tokens = Tokens::new(field.as_bytes());
    let mut addresses = [0; WARP_SIZE];
    for address in &mut addresses {
        *address = tokens.hex(ADDRESSES)?;
    }
    if tokens.rest().is_empty() { Ok(addresses) } else { Err(ADDRESSES.into()) }
}

fn hex(value: &str) -> Result<u64, Expected> {
    text::hex(value.trim().as_bytes()).ok_or_else(|| "a hexadecimal address".into())
}

/// Tools print numbers with the sign of their type, so a stream's handle may be negative.
fn number(value: &str) -> Result<u64, Expected> {
    let value = value.trim().as_bytes();
    let number = text::decimal(value).or_else(|| text::signed(value).map(|n| n as u64));
    number.ok_or_else(|| "a number".into())
}

fn narrow(value: &str) -> Result<u32, Expected> {
    value.trim().parse().map_err(|_| "a number of at most 32 bits".into())
}

/// `x,y,z`.
fn triple(value: &str) -> Result<[u32; 3], Expected> {
    let numbers: Vec<u32> =
        value.split(',').map_while(|number| number.trim().parse().ok()).collect();
    let is_whole = value.split(',').count() == numbers.len();
    let triple = numbers.try_into().ok().filter(|_| is_whole);
    triple.ok_or_else(|| "three numbers, as in 98,1,1".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> String {
        (0..32u64)
            .map(|lane| format!("0x{:016x} ", if lane < 4 { 0x7f00 + lane } else { 0 }))
            .collect()
    }

    fn access_of(line: &str) -> Access<'_> {
        match parse(line.as_bytes()) {
            Ok(Line::Access(access)) => access,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn accesses_of_every_form() {
        let addresses = addresses();
        for (line, context, number, pc) in [
            (
                format!(
                    "MEMTRACE: CTX 0x000055967fa50640 - grid_launch_id 2 - CTA 1,0,0 - warp 4 - LDG.E - {addresses}"
                ),
                0x5596_7fa5_0640,
                Some(2),
                None,
            ),
            (format!("CTA 1,0,0 - warp 4 - LDG.E - {addresses}"), 0, None, None),
            (
                format!("done\t42MEMTRACE: CTX 0x1 - CTA 1,0,0 - warp 4 - LDG.E - {addresses}\r"),
                1,
                None,
                None,
            ),
            (
                format!(
                    "MEMTRACE: CTX 0x1 - grid_launch_id 7 - LDG.E 0x00007fae - block 1,0,0 - warp 4 - {addresses}"
                ),
                1,
                Some(7),
                Some(0x7fae),
            ),
            (
                format!(
                    "MEMTRACE: CTX 0x1 - grid_launch_id: 7 - CTA: 1,0,0 - warp: 4 - PC 0x10 - LDG.E - {addresses}"
                ),
                1,
                Some(7),
                Some(16),
            ),
        ] {
            let access = access_of(&line);
            assert_eq!(access.id, Id { context, number }, "{line}");
            assert_eq!(
                (access.cta, access.warp, access.opcode, access.pc),
                ([1, 0, 0], 4, "LDG.E", pc),
                "{line}"
            );
            assert_eq!(access.addresses[..5], [0x7f00, 0x7f01, 0x7f02, 0x7f03, 0], "{line}");
        }
    }

    #[test]
    fn launches_of_every_form() {
        let long = "MEMTRACE: CTX 0x0000560df95ced70 - LAUNCH - Kernel pc 0x00007faedadc0200 - Kernel name f<(int)4 - 1>(float*, int) - grid launch id 1 - grid size 98,1,1 - block size 256,2,1 - nregs 20 - shmem 512 - cuda stream id -94618018363472";
        let Ok(Line::Launch(id, kernel)) = parse(long.as_bytes()) else { panic!() };
        assert_eq!(id, Id { context: 0x560d_f95c_ed70, number: Some(1) });
        assert_eq!(kernel.pc, Some(0x7fae_dadc_0200));
        let Launch { name, stream, grid, block, registers, shared_bytes } = kernel.launch;
        assert_eq!(
            (name.as_str(), registers, shared_bytes),
            ("f<(int)4 - 1>(float*, int)", 20, 512)
        );
        assert_eq!((grid, block), (Some([98, 1, 1]), Some([256, 2, 1])));
        assert_eq!(stream as i64, -94_618_018_363_472);

        let other = "MEMTRACE: CTX 0x1 - LAUNCH - Kernel 0x7fae - Kernel name k - grid size 1,1,1 - block size 32,1,1";
        let Ok(Line::Launch(id, kernel)) = parse(other.as_bytes()) else { panic!() };
        assert_eq!((id.number, kernel.pc, kernel.launch.name.as_str()), (None, Some(0x7fae), "k"));
        assert!(matches!(parse(b"MEMTRACE: CTX 0x1 - LAUNCH"), Ok(Line::Launch(..))));
    }

    #[test]
    fn other_lines() {
        for line in [
            "",
            "Hello - CTA 1,0,0 - warp 3",
            "MEMTRACE: STARTING CONTEXT 0x55",
            "MEMTRACE: CTX 0x55, Inspecting CUfunction 0x1 name f at address 0x7f",
            "INSTR_BEGIN = 0 - Beginning of the instruction interval",
            "\tKernel pc: 0x7f",
        ] {
            assert!(matches!(parse(line.as_bytes()), Ok(Line::Other)), "{line}");
        }
        assert!(matches!(parse(b"MEMTRACE: \xff"), Ok(Line::Other)));
    }

    #[test]
    fn errors_name_the_fault() {
        let addresses = addresses();
        for (line, expected) in [
            (
                "MEMTRACE: CTX 0x1 - CTA 1,0,0 - warp 4 - LDG.E - 0x10 0x20".to_owned(),
                "32 hexadecimal addresses",
            ),
            (
                format!("MEMTRACE: CTX 0x1 - CTA 1,0,0 - warp 4 - LDG.E - {addresses} 0x1"),
                "32 hexadecimal addresses",
            ),
            (
                format!("MEMTRACE: CTX 0x1 - CTA 1,0 - warp 4 - LDG.E - {addresses}"),
                "three numbers",
            ),
            (
                format!("MEMTRACE: CTX 0x1 - CTA 1,0,x - warp 4 - LDG.E - {addresses}"),
                "three numbers",
            ),
            (format!("MEMTRACE: CTX 0x1 - CTA 1,0,0 - warp -4 - LDG.E - {addresses}"), "32 bits"),
            (format!("MEMTRACE: CTX 0x1 - CTA 1,0,0 - LDG.E - {addresses}"), "has no warp"),
            (format!("MEMTRACE: CTX 0x1 - CTA 1,0,0 - warp 4 - {addresses}"), "has no opcode"),
            ("MEMTRACE: CTX 0x1 - CTA 1,0,0 - warp 4 - LDG.E".to_owned(), "has no addresses"),
            (format!("MEMTRACE: CTX 0x1 - CTA 1,0,0 - warp 4 - ld - {addresses}"), "`ld` is none"),
            (
                "MEMTRACE: CTX 0x1 - LAUNCH - Kernel name k - grid launch id x".to_owned(),
                "a number",
            ),
        ] {
            let error = parse(line.as_bytes()).unwrap_err().0;
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
