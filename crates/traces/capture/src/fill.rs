//! Initial values of a buffer.

use std::fmt;
use std::path::PathBuf;

use warpmem_params::parse_whole;
use warpmem_support::random::Random;

use crate::element::Element;
use crate::number::Number;

/// Source of a buffer's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// One value for all elements.
    Constant(Number),
    /// Uniformly distributed from the first to below the second.
    Random(Number, Number),
    /// All integers below the size, in random order.
    Permutation,
    /// Arithmetic sequence: first value and step.
    Sequence(Number, Number),
    /// A circular linked list through nodes of the given bytes, in random order; each node starts with the
    /// address of the next.
    List(u64),
    /// A `.npy` or raw file.
    File(PathBuf),
}

/// Accepted fills, for messages.
pub(crate) const FILLS: &str = "`zero`, a number, `random`, `random(LOW,HIGH)`, `permutation`, `sequence`, \
     `sequence(FIRST,STEP)`, `list(BYTES)` or `@FILE`";

impl Fill {
    /// Parses `zero`, `1.5`, `random`, `random(0,1)`, `permutation`, `sequence`, `sequence(0,2)` or `@x.npy`.
    ///
    /// # Errors
    /// When the text is none of these; the message lists the accepted forms.
    pub fn parse(text: &str, element: Element) -> Result<Fill, String> {
        if let Some(path) = text.strip_prefix('@') {
            return Ok(Fill::File(path.into()));
        }
        if let Some(spacing) = text.strip_prefix("list(").and_then(|text| text.strip_suffix(')')) {
            return list(spacing, element);
        }
        let (name, arguments) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, arguments)) => (name.trim(), Some(pair(arguments)?)),
            None => (text.trim(), None),
        };
        match (name, arguments) {
            ("zero", None) => Ok(Fill::Constant(Number::Whole(0))),
            ("random", None) => Ok(default_random(element)),
            ("random", Some([low, high])) => random(low, high, element),
            ("permutation", None) => Ok(Fill::Permutation),
            ("sequence", None) => Ok(Fill::Sequence(Number::Whole(0), Number::Whole(1))),
            ("sequence", Some([first, step])) => Ok(Fill::Sequence(first, step)),
            (number, None) => match Number::parse(number) {
                Some(number) => Ok(Fill::Constant(number)),
                None => Err(format!("`{text}` is not a fill; valid: {FILLS}")),
            },
            _ => Err(format!("`{text}` is not a fill; valid: {FILLS}")),
        }
    }

    /// Returns the bytes of host memory that the values of a buffer take.
    pub(crate) fn host_bytes(&self, element: Element, bytes: u64) -> u64 {
        let extra = match *self {
            Fill::Constant(number) if is_zero(element, number) => return 0,
            Fill::Permutation => size_of::<u64>() as u64 * (bytes / element.bytes() as u64),
            Fill::List(spacing) => size_of::<u32>() as u64 * (bytes / spacing),
            _ => 0,
        };
        bytes.saturating_add(extra)
    }

    /// Writes the values of a buffer at `address`, whose bytes are 0.
    ///
    /// # Errors
    /// When a value does not fit the type.
    ///
    /// # Panics
    /// For a file, which the buffer reads itself.
    pub(crate) fn write(
        &self,
        element: Element,
        address: u64,
        to: &mut [u8],
        random: &mut Random,
    ) -> Result<(), String> {
        let count = (to.len() / element.bytes()) as u64;
        match *self {
            Fill::Constant(number) if is_zero(element, number) => Ok(()),
            Fill::Constant(number) => each(element, to, |_| number),
            Fill::Random(low, high) => each(element, to, |_| between(low, high, random)),
            Fill::Sequence(first, step) => each(element, to, |at| nth(first, step, at)),
            Fill::Permutation => {
                let mut order: Vec<u64> = (0..count).collect();
                random.shuffle(&mut order);
                each(element, to, |at| Number::Whole(order[at as usize].into()))
            }
            Fill::List(spacing) => links(spacing, address, to, random),
            Fill::File(_) => unreachable!("files are read by the buffer"),
        }
    }
}

fn is_zero(element: Element, number: Number) -> bool {
    element.encode(number).is_some_and(|value| value.iter().all(|&byte| byte == 0))
}

/// Sets each element to the value for its index.
fn each(
    element: Element,
    to: &mut [u8],
    mut value: impl FnMut(u64) -> Number,
) -> Result<(), String> {
    (0..).zip(to.chunks_exact_mut(element.bytes())).try_for_each(|(at, place)| {
        let number = value(at);
        let bytes = element.encode(number);
        place.copy_from_slice(
            &bytes.ok_or_else(|| format!("{number} is not of type {}", element.name()))?,
        );
        Ok(())
    })
}

fn list(spacing: &str, element: Element) -> Result<Fill, String> {
    if element != Element::U64 {
        return Err(format!("a list consists of addresses of type u64, not {}", element.name()));
    }
    match parse_whole(spacing.trim()) {
        Some(bytes) if bytes > 0 && bytes.is_multiple_of(8) => Ok(Fill::List(bytes)),
        _ => Err(format!("list({spacing}): the node size must be a multiple of 8 bytes")),
    }
}

/// Writes the nodes of a list into a buffer at `address`; each starts with the address of the next.
fn links(spacing: u64, address: u64, to: &mut [u8], random: &mut Random) -> Result<(), String> {
    let bytes = to.len() as u64;
    let nodes = u32::try_from(bytes / spacing).ok();
    let nodes = nodes.filter(|&nodes| bytes.is_multiple_of(spacing) && nodes > 0);
    let nodes = nodes.ok_or_else(|| {
        format!(
            "{} elements are not a whole number, below 2^32, of nodes of {spacing} bytes",
            bytes / 8
        )
    })?;
    for (node, next) in to.chunks_exact_mut(spacing as usize).zip(random.cycle(nodes)) {
        node[..8].copy_from_slice(&(address + u64::from(next) * spacing).to_le_bytes());
    }
    Ok(())
}

/// Writes floats from 0 to below 1, or integers over the type's range.
fn default_random(element: Element) -> Fill {
    match element.is_float() {
        true => Fill::Random(Number::Real(0.0), Number::Real(1.0)),
        false => {
            let [least, most] = element.range();
            Fill::Random(Number::Whole(least), Number::Whole(most + 1))
        }
    }
}

fn random(low: Number, high: Number, element: Element) -> Result<Fill, String> {
    let both_whole = matches!((low, high), (Number::Whole(_), Number::Whole(_)));
    if !element.is_float() && !both_whole {
        return Err(format!("random({low},{high}) are not of the type {}", element.name()));
    }
    let ascending = low.real() < high.real() && (high.real() - low.real()).is_finite();
    match ascending {
        true if element.is_float() => {
            Ok(Fill::Random(Number::Real(low.real()), Number::Real(high.real())))
        }
        true => Ok(Fill::Random(low, high)),
        false => Err(format!("random({low},{high}) is empty: the first bound must be the lower")),
    }
}

fn pair(text: &str) -> Result<[Number; 2], String> {
    let numbers = text.split_once(',').and_then(|(first, second)| {
        Some([Number::parse(first.trim())?, Number::parse(second.trim())?])
    });
    numbers.ok_or_else(|| format!("`({text})` are not two numbers"))
}

fn between(low: Number, high: Number, random: &mut Random) -> Number {
    /// 2^53: every multiple of its inverse below 1 is a double.
    const STEPS: u64 = 1 << 53;
    match (low, high) {
        (Number::Whole(low), Number::Whole(high)) => match u64::try_from(high - low) {
            Ok(span) => Number::Whole(low + i128::from(random.below(span))),
            Err(_) => Number::Whole(low + i128::from(random.bits())),
        },
        _ => {
            let part = random.below(STEPS) as f64 / STEPS as f64;
            Number::Real(low.real() + (high.real() - low.real()) * part)
        }
    }
}

fn nth(first: Number, step: Number, at: u64) -> Number {
    match (first, step) {
        (Number::Whole(first), Number::Whole(step)) => {
            Number::Whole(first.saturating_add(step.saturating_mul(at.into())))
        }
        _ => Number::Real(first.real() + step.real() * at as f64),
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Constant(number) => write!(f, "{number}"),
            Fill::Random(low, high) => write!(f, "random({low},{high})"),
            Fill::Permutation => f.write_str("permutation"),
            Fill::Sequence(first, step) => write!(f, "sequence({first},{step})"),
            Fill::List(spacing) => write!(f, "list({spacing})"),
            Fill::File(path) => write!(f, "@{}", path.display()),
        }
    }
}
