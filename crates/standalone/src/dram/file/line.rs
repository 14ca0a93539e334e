//! A line of a file of accesses.

use super::Access;
use warpmem_sim::DramCycle;

/// What a line should contain, and what it contains.
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

/// Columns of a CSV file, in any order; `op` and `address` must be there.
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
}

impl Format {
    /// The format of a file whose first line is `text`, and the access if the line holds one.
    pub fn of(text: &[u8]) -> Result<(Format, Option<Access>), Problem> {
        if text.contains(&b',') {
            return Ok((Format::Csv(heading(text)?), None));
        }
        let format = match words(text).map(is_op).collect::<Vec<bool>>()[..] {
            [false, true] => Format::Words(&[Field::Address, Field::Op]),
            [true, false] => Format::Words(&[Field::Op, Field::Address]),
            [false, true, false] => Format::DramSim3,
            _ => {
                let expected = "a CSV heading with `op` and `address`, or a line like `0x1234 R`, \
                                `LD 0x1234` or `0x1234 READ 17`";
                return Err(Problem::new(expected, text));
            }
        };
        let access = format.read(text)?;
        Ok((format, Some(access)))
    }

    /// The access in a line.
    pub fn read(&self, text: &[u8]) -> Result<Access, Problem> {
        match self {
            Format::Csv(fields) => {
                let values = text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
                access(text, values, fields, Base::ByPrefix)
            }
            Format::Words(fields) => access(text, words(text), fields, Base::ByPrefix),
            Format::DramSim3 => {
                let fields = [Field::Address, Field::Op, Field::Cycle];
                access(text, words(text), &fields, Base::Hexadecimal)
            }
        }
    }
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
        Field::Address => access.address = address(value, base)?,
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

/// Whether it is a write.
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

fn parse(digits: &[u8], radix: u32) -> Option<u64> {
    // `from_str_radix` takes a sign.
    let plain = digits.first().is_some_and(u8::is_ascii_alphanumeric);
    let text = std::str::from_utf8(digits).ok().filter(|_| plain)?;
    u64::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(first: &str, line: &str) -> Result<Access, Problem> {
        Format::of(first.as_bytes()).and_then(|(format, _)| format.read(line.as_bytes()))
    }

    fn at(address: u64, write: bool) -> Access {
        Access { address, write, ..Access::default() }
    }

    #[test]
    fn formats_are_told_by_their_first_line() {
        let of = |text: &str| Format::of(text.as_bytes()).unwrap();
        assert_eq!(of("op,address").1, None);
        assert_eq!(of("0x1f40 R").1, Some(at(0x1f40, false)));
        assert_eq!(of("8000 W").1, Some(at(8000, true)));
        assert_eq!(of("ST 0x40").1, Some(at(0x40, true)));
        let with_cycle = Access { cycle: Some(DramCycle::new(17)), ..at(0x40, false) };
        assert_eq!(of("0x40 READ 17").1, Some(with_cycle));
        // DRAMsim3 reads addresses as hexadecimal without the prefix too.
        assert_eq!(of("40\tREAD   17").1, Some(with_cycle));
    }

    #[test]
    fn every_word_for_an_operation_is_known() {
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
            address: 256,
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
