//! The first values of a buffer.

use std::fmt;
use std::path::PathBuf;

use warpmem_params::parse_whole;
use warpmem_support::random::Random;

use crate::element::Element;
use crate::number::Number;

/// Where the values of a buffer come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// All the same.
    Constant(Number),
    /// Equally likely from the first to below the second.
    Random(Number, Number),
    /// All numbers below the size, in random order.
    Permutation,
    /// The first, and each with this added to the one before.
    Sequence(Number, Number),
    /// Nodes, so many bytes apart, of a list that leads once through all of them in random order and
    /// back to the first: each begins with the address of the next.
    List(u64),
    /// A `.npy` or raw file.
    File(PathBuf),
}

/// What a fill may be, for messages.
pub(crate) const FILLS: &str = "`zero`, a number, `random`, `random(LOW,HIGH)`, `permutation`, `sequence`, \
     `sequence(FIRST,STEP)`, `list(BYTES)` or `@FILE`";

impl Fill {
    /// `zero`, `1.5`, `random`, `random(0,1)`, `permutation`, `sequence`, `sequence(0,2)`, `@x.npy`.
    ///
    /// # Errors
    /// When it is none of these; says what would be.
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
                None => Err(format!("`{text}` is no fill; valid: {FILLS}")),
            },
            _ => Err(format!("`{text}` is no fill; valid: {FILLS}")),
        }
    }

    /// Bytes of this machine's memory that the values of a buffer take.
    pub(crate) fn host_bytes(&self, element: Element, bytes: u64) -> u64 {
        let extra = match *self {
            Fill::Constant(number) if is_zero(element, number) => return 0,
            Fill::Permutation => size_of::<u64>() as u64 * (bytes / element.bytes() as u64),
            Fill::List(spacing) => size_of::<u32>() as u64 * (bytes / spacing),
            _ => 0,
        };
        bytes.saturating_add(extra)
    }

    /// Gives the elements of a buffer at `address`, whose bytes are 0, their values.
    ///
    /// # Errors
    /// When a value is not of the type.
    ///
    /// # Panics
    /// For a file: it is read elsewhere.
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

/// Gives every element the value for its index.
fn each(
    element: Element,
    to: &mut [u8],
    mut value: impl FnMut(u64) -> Number,
) -> Result<(), String> {
    (0..).zip(to.chunks_exact_mut(element.bytes())).try_for_each(|(at, place)| {
        let number = value(at);
        let bytes = element.encode(number);
        place.copy_from_slice(&bytes.ok_or_else(|| format!("{number} is no {}", element.name()))?);
        Ok(())
    })
}

fn list(spacing: &str, element: Element) -> Result<Fill, String> {
    if element != Element::U64 {
        return Err(format!("a list consists of addresses, u64, not of {}", element.name()));
    }
    match parse_whole(spacing.trim()) {
        Some(bytes) if bytes > 0 && bytes.is_multiple_of(8) => Ok(Fill::List(bytes)),
        _ => Err(format!("list({spacing}): nodes are a multiple of 8 bytes apart")),
    }
}

/// Writes the nodes of a list into a buffer at `address`: each begins with the address of the next.
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

/// Floats from 0 to below 1; whole numbers of the type.
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
        false => Err(format!("random({low},{high}) holds nothing: the first must be the lower")),
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
