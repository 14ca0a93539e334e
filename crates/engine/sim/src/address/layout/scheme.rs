//! Address maps by name: two letters per field, most significant field first, as in DRAMsim3
//! (`rochrababgco`) and Ramulator (`RoBaRaCoCh`). Widths follow from the DRAM organisation; the
//! byte within a column command takes the lowest bits.

use super::{AddressSpace, Channels, Field, MAX_BITS, MAX_ROW_BITS, Piece, Problem, Spelt, Want};

/// The fields of each two-letter name, most significant first. A rank of those simulators is a
/// stack and a pseudo channel here.
const NAMES: [(&str, &[Field]); 8] = [
    ("ro", &[Field::Row]),
    ("ba", &[Field::Bank]),
    ("bg", &[Field::Group]),
    ("ra", &[Field::Stack, Field::Pseudo]),
    ("si", &[Field::Stack]),
    ("pc", &[Field::Pseudo]),
    ("co", &[Field::Column]),
    ("ch", &[Field::Channel]),
];

/// Returns whether `map` looks like a scheme.
pub(super) fn is_scheme(map: &str) -> bool {
    map.split_whitespace().next().is_some_and(|name| !name.contains(':'))
}

pub(super) fn read(map: &str, space: &AddressSpace) -> Result<Spelt, Problem> {
    let mut words = map.split_whitespace();
    let fields = fields(words.next().unwrap_or_default())?;
    let rows = words.map(row_bits).collect::<Result<Vec<u32>, _>>()?;
    let has_channel = fields.contains(&Field::Channel);
    if has_channel && !space.channels.is_power_of_two() {
        return Err(Problem {
            at: "ch".to_owned(),
            valid: format!(
                "a scheme without `ch`, as `dram.channels` = {} is no power of two: channels are then interleaved by \
                 `dram.address.interleave_bytes`",
                space.channels
            ),
        });
    }
    let rows = match rows[..] {
        [bits] => bits,
        [] if fields.first() == Some(&Field::Row) => rows_left(space),
        _ => {
            let valid =
                "one row width, such as `row:14`, after a scheme that does not begin with `ro`";
            return Err(Problem { at: map.to_owned(), valid: valid.to_owned() });
        }
    };
    let wants = space.wants(fields.contains(&Field::Group));
    let width = |field| match field {
        Field::Row => rows,
        Field::Channel => space.channel_bits(),
        _ => wants.iter().find(|want| want.field == field).map_or(0, |want| want.bits),
    };
    let pieces = fields.iter().chain([&Field::Burst]).map(|&field| (field, width(field)));
    let channels = if has_channel { Channels::Field } else { Channels::Unsaid };
    Ok(Spelt { pieces: pieces.collect::<Vec<Piece>>(), channels })
}

/// Returns the fields of a name, most significant first.
fn fields(name: &str) -> Result<Vec<Field>, Problem> {
    let letters: Vec<char> = name.chars().collect();
    let mut fields = Vec::new();
    for pair in letters.chunks(2) {
        let pair: String = pair.iter().collect();
        let found = NAMES.iter().find(|(name, _)| pair.eq_ignore_ascii_case(name));
        let (_, stands_for) = found.ok_or_else(|| unknown(&pair))?;
        fields.extend_from_slice(stands_for);
    }
    Ok(fields)
}

fn unknown(pair: &str) -> Problem {
    let names: Vec<&str> = NAMES.iter().map(|&(name, _)| name).collect();
    let valid = format!(
        "a scheme of two letters a field, most significant first ({}), or `field:bits` separated by spaces",
        names.join(" ")
    );
    Problem { at: pair.to_owned(), valid }
}

/// Parses the width in a word such as `row:14`.
fn row_bits(word: &str) -> Result<u32, Problem> {
    match super::piece(word) {
        Some((Field::Row, bits)) => Ok(bits),
        _ => {
            let valid = "nothing after a scheme but a row width such as `row:14`";
            Err(Problem { at: word.to_owned(), valid: valid.to_owned() })
        }
    }
}

/// Returns the width of a row field that takes all bits left by the other fields.
fn rows_left(space: &AddressSpace) -> u32 {
    let others: u32 = space.wants(false).iter().map(|Want { bits, .. }| bits).sum();
    MAX_ROW_BITS.min(MAX_BITS.saturating_sub(others + space.channel_bits()))
}
