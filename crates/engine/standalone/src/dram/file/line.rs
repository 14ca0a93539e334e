//! A line of a file of accesses.

use super::{Access, Levels, Target};
use warpmem_sim::DramCycle;

/// The expected content of a line, and the content found.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    pub expected: String,
    pub found: String,
}

impl Problem {
    /// Longest part of a bad line that a message repeats, bytes.
    const SHOWN: usize = 80;

    pub fn new(expected: impl Into<String>, found: &[u8]) -> Problem {
        let shown = String::from_utf8_lossy(&found[..found.len().min(Problem::SHOWN)]);
        let ellipsis = if found.len() > Problem::SHOWN { "…" } else { "" };
        Problem { expected: expected.into(), found: format!("{}{ellipsis}", shown.escape_debug()) }
    }
}

/// A field of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Cycle,
    Op,
    Address,
    Bytes,
    Sm,
    Warp,
    Load,
    Pc,
}

/// Columns of a CSV file, in any order; `op` and `address` are required.
const COLUMNS: [(&str, Field); 8] = [
    ("cycle", Field::Cycle),
    ("op", Field::Op),
    ("address", Field::Address),
    ("bytes", Field::Bytes),
    ("sm", Field::Sm),
    ("warp", Field::Warp),
    ("load", Field::Load),
    ("pc", Field::Pc),
];

/// The format of the lines of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Format {
    /// A heading, then values separated by commas.
    Csv(Vec<Field>),
    /// Words separated by blanks: Ramulator (`0x1234 R`), its load-store traces (`LD 0x1234`).
    Words(&'static [Field]),
    /// DRAMsim3 (`0x1234 READ 17`): addresses are hexadecimal with and without a prefix.
    DramSim3,
    /// Ramulator 2's read-write traces (`R 0,0,1,2,100,3`): this many levels of the DRAM.
    Levels(usize),
    /// Ramulator's instruction traces (`3 20734016 20734080`): instructions before a load, its
    /// address, and optionally that of a write-back.
    Instructions,
    /// DRAMSys (`8: (64) read 0x100`): cycle, optional bytes, operation, address, and optional
    /// data.
    Stl,
}

/// The accesses of a line, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accesses {
    pub first: Access,
    pub second: Option<Access>,
}

impl Format {
    /// Detects the format of a file whose first line is `text`, and returns the line's accesses, if
    /// any.
    pub fn of(text: &[u8]) -> Result<(Format, Option<Accesses>), Problem> {
        let words: Vec<&[u8]> = words(text).collect();
        let format = match words[..] {
            [operation, levels] if is_op(operation) && levels.contains(&b',') => {
                Format::Levels(levels.split(|&byte| byte == b',').count())
            }
            [first, ..] if first.ends_with(b":") => Format::Stl,
            _ if text.contains(&b',') => return Ok((Format::Csv(heading(text)?), None)),
            [address, operation] if !is_op(address) && is_op(operation) => {
                Format::Words(&[Field::Address, Field::Op])
            }
            [operation, address] if is_op(operation) && !is_op(address) => {
                Format::Words(&[Field::Op, Field::Address])
            }
            [address, operation, cycle] if !is_op(address) && is_op(operation) && !is_op(cycle) => {
                Format::DramSim3
            }
            [_, _] | [_, _, _] if words.iter().all(|word| is_number(word)) => Format::Instructions,
            _ => {
                let expected = "a CSV heading with `op` and `address`, or a line like `0x1234 R`, \
                                `LD 0x1234`, `R 0,0,1,2,100,3`, `3 20734016`, `0x1234 READ 17` or \
                                `8: read 0x1234`";
                return Err(Problem::new(expected, text));
            }
        };
        let accesses = format.read(text)?;
        Ok((format, Some(accesses)))
    }

    /// Parses the accesses of a line.
    pub fn read(&self, text: &[u8]) -> Result<Accesses, Problem> {
        let first = match self {
            Format::Csv(fields) => {
                let values = text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
                access(text, values, fields, Base::ByPrefix)
            }
            Format::Words(fields) => access(text, words(text), fields, Base::ByPrefix),
            Format::DramSim3 => {
                let fields = [Field::Address, Field::Op, Field::Cycle];
                access(text, words(text), &fields, Base::Hexadecimal)
            }
            Format::Levels(count) => of_levels(text, *count),
            Format::Instructions => return of_instruction(text),
            Format::Stl => of_stl(text),
        };
        first.map(|first| Accesses { first, second: None })
    }

    /// Returns the interpretation of a file of this format where its lines leave it open.
    pub fn note(&self) -> Option<&'static str> {
        match self {
            Format::Csv(_) | Format::Words(_) | Format::DramSim3 => None,
            Format::Levels(_) => {
                Some("indices of levels are used directly, without the address map and its hashes")
            }
            Format::Instructions => Some(
                "an instruction trace is read as loads and write-backs, without caches and the time of other instructions",
            ),
            Format::Stl => Some("times of the trace are cycles of the command clock"),
        }
    }
}

/// Parses `R 0,0,1,2,100,3`.
fn of_levels(text: &[u8], count: usize) -> Result<Access, Problem> {
    let (least, most) = (Levels::FEWEST, Levels::MOST);
    if !(least..=most).contains(&count) {
        let expected =
            format!("{least} to {most} indices, from the channel down to row and column");
        return Err(Problem::new(expected, text));
    }
    let expected =
        || Problem::new(format!("an operation and {count} indices, as in the first line"), text);
    let mut words = words(text);
    let write = op(words.next().ok_or_else(expected)?)?;
    let mut levels = Levels { indices: [0; Levels::MOST], count };
    let mut values = words.next().ok_or_else(expected)?.split(|&byte| byte == b',');
    for index in &mut levels.indices[..count] {
        *index = number(values.next().ok_or_else(expected)?, "an index of 32 bits")?;
    }
    match (values.next(), words.next()) {
        (None, None) => Ok(Access { write, target: Target::Levels(levels), ..Access::default() }),
        _ => Err(expected()),
    }
}

/// Parses `3 20734016 20734080`.
fn of_instruction(text: &[u8]) -> Result<Accesses, Problem> {
    const EXPECTED: &str =
        "a number of instructions, the address of a load, and optionally that of a write-back";
    let mut words = words(text);
    let mut next = || words.next().ok_or_else(|| Problem::new(EXPECTED, text));
    number::<u64>(next()?, "a number of instructions")?;
    let first = at(address(next()?, Base::ByPrefix)?, false);
    let second = words.next().map(|word| address(word, Base::ByPrefix)).transpose()?;
    match words.next() {
        None => Ok(Accesses { first, second: second.map(|address| at(address, true)) }),
        Some(_) => Err(Problem::new(EXPECTED, text)),
    }
}

/// Parses `8: (64) read 0x100`.
fn of_stl(text: &[u8]) -> Result<Access, Problem> {
    let expected =
        || Problem::new("a line like `8: read 0x100` or `8: (64) write 0x100 0x…`", text);
    let mut words = words(text);
    let mut next = || words.next().ok_or_else(expected);
    let cycle = next()?.strip_suffix(b":").ok_or_else(expected)?;
    let cycle = DramCycle::new(number(cycle, "a cycle")?);
    let (mut word, mut bytes) = (next()?, None);
    if let Some(length) = word.strip_prefix(b"(").and_then(|word| word.strip_suffix(b")")) {
        bytes = Some(number(length, "a number of bytes")?);
        word = next()?;
    }
    let write = op(word)?;
    let target = Target::Address(address(next()?, Base::Hexadecimal)?);
    // The data to be written do not affect the timing of the channel.
    let data = words.next();
    match (data.is_none() || write, words.next()) {
        (true, None) => {
            Ok(Access { write, target, cycle: Some(cycle), bytes, ..Access::default() })
        }
        _ => Err(expected()),
    }
}

fn at(address: u64, write: bool) -> Access {
    Access { target: Target::Address(address), write, ..Access::default() }
}

/// Base of the digits of an address.
#[derive(Clone, Copy, PartialEq)]
enum Base {
    /// Hexadecimal after `0x`, else decimal.
    ByPrefix,
    Hexadecimal,
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn heading(text: &[u8]) -> Result<Vec<Field>, Problem> {
    let names = text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let field = |name: &[u8]| {
        let known = COLUMNS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        known.map(|&(_, field)| field).ok_or_else(|| {
            let known = COLUMNS.map(|(name, _)| name).join(", ");
            Problem::new(format!("a CSV heading of columns among {known}"), name)
        })
    };
    let fields = names.map(field).collect::<Result<Vec<Field>, Problem>>()?;
    for (name, field) in COLUMNS {
        let count = fields.iter().filter(|&&given| given == field).count();
        let needed = matches!(field, Field::Op | Field::Address);
        if count > 1 || (needed && count == 0) {
            return Err(Problem::new(format!("a CSV heading with `{name}` once"), text));
        }
    }
    Ok(fields)
}

fn access<'a>(
    text: &[u8],
    mut values: impl Iterator<Item = &'a [u8]>,
    fields: &[Field],
    base: Base,
) -> Result<Access, Problem> {
    let wrong_count =
        || Problem::new(format!("{} values as in the first line", fields.len()), text);
    let mut access = Access::default();
    for &field in fields {
        set(&mut access, field, values.next().ok_or_else(wrong_count)?, base)?;
    }
    if values.next().is_some() { Err(wrong_count()) } else { Ok(access) }
}

fn set(access: &mut Access, field: Field, value: &[u8], base: Base) -> Result<(), Problem> {
    match field {
        Field::Op => access.write = op(value)?,
        Field::Address => access.target = Target::Address(address(value, base)?),
        Field::Cycle => access.cycle = Some(DramCycle::new(number(value, "a cycle")?)),
        Field::Bytes => access.bytes = Some(number(value, "a number of bytes")?),
        Field::Sm => access.sm = Some(number(value, "the number of an SM")?),
        Field::Warp => access.warp = Some(number(value, "the number of a warp")?),
        Field::Load => access.load = Some(number(value, "the number of a load")?),
        // Requests carry the low half of a program counter.
        Field::Pc => access.pc = Some(address(value, base)? as u32),
    }
    Ok(())
}

const READS: [&str; 6] = ["r", "read", "rd", "ld", "p_mem_rd", "p_fetch"];
const WRITES: [&str; 6] = ["w", "write", "wr", "st", "p_mem_wr", "boff"];

fn is_any(word: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

fn is_op(word: &[u8]) -> bool {
    is_any(word, &READS) || is_any(word, &WRITES)
}

/// Returns whether the operation is a write.
fn op(word: &[u8]) -> Result<bool, Problem> {
    if is_op(word) {
        return Ok(is_any(word, &WRITES));
    }
    Err(Problem::new("an operation: R, READ, RD, LD or W, WRITE, WR, ST", word))
}

fn address(word: &[u8], base: Base) -> Result<u64, Problem> {
    let digits = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X"));
    let hexadecimal = digits.is_some() || base == Base::Hexadecimal;
    let radix = if hexadecimal { 16 } else { 10 };
    parse(digits.unwrap_or(word), radix).ok_or_else(|| Problem::new("an address of 64 bits", word))
}

fn number<T: TryFrom<u64>>(word: &[u8], expected: &str) -> Result<T, Problem> {
    let value = parse(word, 10).and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| Problem::new(expected, word))
}

fn is_number(word: &[u8]) -> bool {
    address(word, Base::ByPrefix).is_ok()
}

fn parse(digits: &[u8], radix: u32) -> Option<u64> {
    // `from_str_radix` accepts a sign.
    let plain = digits.first().is_some_and(u8::is_ascii_alphanumeric);
    let text = std::str::from_utf8(digits).ok().filter(|_| plain)?;
    u64::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(first: &str, line: &str) -> Result<Access, Problem> {
        let read =
            Format::of(first.as_bytes()).and_then(|(format, _)| format.read(line.as_bytes()));
        read.map(|accesses| accesses.first)
    }

    #[test]
    fn the_first_line_determines_the_format() {
        let of = |text: &str| Format::of(text.as_bytes()).unwrap().1.map(|accesses| accesses.first);
        assert_eq!(of("op,address"), None);
        assert_eq!(of("0x1f40 R"), Some(at(0x1f40, false)));
        assert_eq!(of("8000 W"), Some(at(8000, true)));
        assert_eq!(of("ST 0x40"), Some(at(0x40, true)));
        let with_cycle = Access { cycle: Some(DramCycle::new(17)), ..at(0x40, false) };
        assert_eq!(of("0x40 READ 17"), Some(with_cycle));
        // DRAMsim3 reads addresses as hexadecimal without the prefix too.
        assert_eq!(of("40\tREAD   17"), Some(with_cycle));
        assert_eq!(of("17:\tread\t0x40"), Some(with_cycle));
        let with_bytes = Access { bytes: Some(64), write: true, ..with_cycle };
        assert_eq!(of("17: (64) write 40 0x00ff"), Some(with_bytes));
    }

    #[test]
    fn indices_of_levels_are_read_as_they_are() {
        let indices = |text: &str| match read(text, text).unwrap() {
            Access { target: Target::Levels(levels), write, .. } => {
                (levels.indices().to_vec(), write)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(indices("R 0,1,2,100,32"), (vec![0, 1, 2, 100, 32], false));
        assert_eq!(indices("W 1,0,3,2,4294967295,0"), (vec![1, 0, 3, 2, u32::MAX, 0], true));
        for (line, expected) in [
            ("R 0,1,2", "4 to 6 indices"),
            ("R 0,1,2,3,4,5,6", "4 to 6 indices"),
            ("R 0,1,2,x,4", "an index"),
            ("R 0,1,2,-1,4", "an index"),
            ("R 0,1,2,4294967296,4", "an index"),
        ] {
            assert!(read(line, line).unwrap_err().expected.contains(expected), "{line}");
        }
        for line in ["R 0,1,2,3", "R 0,1,2,3,4,5", "R", "R 0,1,2,3,4 5"] {
            let problem = read("R 0,1,2,3,4", line).unwrap_err();
            assert!(problem.expected.contains("5 indices, as in the first line"), "{line}");
        }
    }

    #[test]
    fn an_instruction_is_a_load_and_optionally_a_write_back() {
        let of = |text: &str| Format::of(text.as_bytes()).unwrap().1.unwrap();
        let load = Accesses { first: at(20_734_016, false), second: None };
        assert_eq!(of("3 20734016"), load);
        let both = Accesses { second: Some(at(64, true)), ..load };
        assert_eq!(of("0 20734016 0x40"), both);
    }

    #[test]
    fn every_operation_word_is_parsed() {
        for (words, write) in [
            (["R", "rd", "Read", "LD", "P_MEM_RD"], false),
            (["W", "WR", "write", "ST", "P_MEM_WR"], true),
        ] {
            for word in words {
                assert_eq!(read("0x0 R", &format!("0x10 {word}")), Ok(at(0x10, write)), "{word}");
            }
        }
    }

    #[test]
    fn csv_columns_come_in_any_order() {
        let heading = "Address, op ,cycle,bytes,sm,warp,load,pc";
        let expected = Access {
            write: true,
            target: Target::Address(256),
            cycle: Some(DramCycle::new(9)),
            bytes: Some(128),
            sm: Some(3),
            warp: Some(40),
            load: Some(7),
            pc: Some(0x10),
        };
        assert_eq!(read(heading, "256,W,9,128,3,40,7,0x10"), Ok(expected));
        assert_eq!(read("op,address", "R, 0x100"), Ok(at(256, false)));
    }

    #[test]
    fn bad_headings_are_refused() {
        for (text, part) in [
            ("op,adress", "`adress`"),
            ("op,address,op", "`op` once"),
            ("op,cycle", "`address` once"),
            ("R,0x40", "`R`"),
            ("hello", "CSV heading"),
            ("1 2 3 4", "CSV heading"),
            ("1 x", "CSV heading"),
            ("R W", "CSV heading"),
        ] {
            let problem = Format::of(text.as_bytes()).unwrap_err();
            let message = format!("{} `{}`", problem.expected, problem.found);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn bad_lines_are_refused() {
        for (first, line, expected) in [
            ("op,address", "R", "2 values"),
            ("op,address", "R,1,2", "2 values"),
            ("op,address", "X,1", "an operation"),
            ("op,address", "R,-1", "an address"),
            ("op,address", "R,+1", "an address"),
            ("op,address", "R,0x", "an address"),
            ("op,address", "R,0x1ffffffffffffffff", "an address"),
            ("op,address", "R,12ab", "an address"),
            ("op,address,sm", "R,1,65536", "SM"),
            ("op,address,cycle", "R,1,", "a cycle"),
            ("op,address,bytes", "R,1,0x40", "bytes"),
            ("0x10 R", "0x10", "2 values"),
            ("0x10 R", "0x10 R 3", "2 values"),
            ("0x10 READ 1", "0x10 READ", "3 values"),
            ("0x10 READ 1", "0x10 READ x", "a cycle"),
            ("3 64", "3", "a number of instructions"),
            ("3 64", "-1 64", "a number of instructions"),
            ("3 64", "3 64 128 256", "a number of instructions"),
            ("0: read 0x0", "1 read 0x0", "a line like"),
            ("0: read 0x0", "1: read", "a line like"),
            ("0: read 0x0", "1: load 0x0", "an operation"),
            ("0: read 0x0", "1: (x) read 0x0", "a number of bytes"),
            ("0: read 0x0", "1: read 0x0 0x11", "a line like"),
            ("0: read 0x0", "1: write 0x0 0x11 0x22", "a line like"),
            ("0: read 0x0", "x: read 0x0", "a cycle"),
        ] {
            let problem = read(first, line).unwrap_err();
            assert!(problem.expected.contains(expected), "{line}: {problem:?}");
        }
    }

    #[test]
    fn a_long_bad_value_is_shortened_and_harmless() {
        let line = format!("R,\x1b[2J{}", "x".repeat(1000));
        let problem = read("op,address", &line).unwrap_err();
        assert!(problem.found.len() < 120 && !problem.found.contains('\x1b'), "{problem:?}");
    }
}
