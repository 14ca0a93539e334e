//! Address maps in GPGPU-Sim's notation (`-gpgpu_mem_addr_mapping`): one letter for each of 64
//! address bits. A leading `dramid@N;` inserts the channel field at bit N, between the bits that
//! the letters describe.

use super::{Channels, Field, Piece, Problem, Spelt};

const CHANNEL_AT: &str = "dramid@";
/// Characters allowed between letters for readability.
const SEPARATORS: [char; 3] = ['.', '|', ' '];
const LETTERS: usize = 64;

/// Returns whether `map` looks like a mask.
pub(super) fn is_mask(map: &str) -> bool {
    let is_letter = |c: char| SEPARATORS.contains(&c) || c == '0' || field(c).is_some();
    map.starts_with(CHANNEL_AT) || !map.trim().is_empty() && map.chars().all(is_letter)
}

pub(super) fn read(map: &str) -> Result<Spelt, Problem> {
    let (bit, letters) = match map.strip_prefix(CHANNEL_AT) {
        None => (None, map),
        Some(rest) => {
            let (bit, letters) = rest.split_once(';').unwrap_or((rest, ""));
            let valid = "`dramid@N;`, N the lowest channel bit, and the mask";
            (Some(bit.parse().map_err(|_| problem(bit, valid))?), letters)
        }
    };
    let letters: Vec<char> = letters.chars().filter(|c| !SEPARATORS.contains(c)).collect();
    if letters.len() != LETTERS {
        let valid = format!("{LETTERS} letters, one for each address bit, not {}", letters.len());
        return Err(problem(map, &valid));
    }
    let pieces = pieces(&letters)?;
    let has_channel = pieces.iter().any(|&(field, _)| field == Field::Channel);
    let channels = match (bit, has_channel) {
        (Some(_), true) => return Err(problem("D", "either `dramid@` or letters D")),
        (Some(bit), false) => Channels::Interleaved(bit),
        (None, true) => Channels::Field,
        (None, false) => Channels::Unsaid,
    };
    Ok(Spelt { pieces, channels })
}

/// Returns the fields of the letters, most significant first; bits above the first field are
/// ignored.
fn pieces(letters: &[char]) -> Result<Vec<Piece>, Problem> {
    let mut pieces: Vec<Piece> = Vec::new();
    for &letter in letters.iter().skip_while(|&&c| c == '0') {
        let valid = "R (row), B (bank), C (column), S (byte of a burst), D (channel); 0 only above them all";
        let field = field(letter).ok_or_else(|| problem(&letter.to_string(), valid))?;
        match pieces.last_mut() {
            Some((last, bits)) if *last == field => *bits += 1,
            _ => pieces.push((field, 1)),
        }
    }
    Ok(pieces)
}

fn field(letter: char) -> Option<Field> {
    Some(match letter.to_ascii_uppercase() {
        'R' => Field::Row,
        'B' => Field::Bank,
        'C' => Field::Column,
        'S' => Field::Burst,
        'D' => Field::Channel,
        _ => return None,
    })
}

fn problem(at: &str, valid: &str) -> Problem {
    Problem { at: at.to_owned(), valid: valid.to_owned() }
}
