//! Text of unknown origin for terminals and spreadsheets.
//!
//! Names of kernels, traces, machines and policies come from files of unknown origin. A terminal
//! executes control characters in them, and a spreadsheet interprets a cell that starts like a
//! formula.

use std::borrow::Cow;

/// Escapes control characters and bidirectional controls as in JSON, except line breaks and tabs. A
/// JSON text keeps its meaning.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| acts(c) && !matches!(c, '\n' | '\t'))
}

/// Escapes as [`printable`], and line breaks and tabs too, for a cell of a table.
#[must_use]
pub fn printable_cell(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// Formats a CSV field that no spreadsheet interprets as a formula: an apostrophe precedes a text that
/// starts like one and is not a number.
#[must_use]
pub fn csv_text(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// Whether a terminal does not merely draw the character.
fn acts(c: char) -> bool {
    // Marks, embeddings, overrides and isolates of bidirectional text (Unicode Standard Annex 9).
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

fn escaped(text: &str, is_shown: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_shown) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            _ if !is_shown(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            // All of them are in the first plane.
            c => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\u{1b}[2Jb\n\tµ–é"), "a\\u001b[2Jb\n\tµ–é");
        assert_eq!(printable_cell("a\nb\tc\r"), "a\\nb\\tc\\r");
        assert_eq!(printable("\u{9b}31m\u{7f}\u{202e}x"), "\\u009b31m\\u007f\\u202ex");
        assert!(matches!(printable("plain · text"), Cow::Borrowed(_)));
        let json = serde_json::json!({ "name": "\u{1b}\u{9b}\u{202e}\\" });
        let read: serde_json::Value = serde_json::from_str(&printable(&json.to_string())).unwrap();
        assert_eq!(read, json);
    }

    #[test]
    fn only_formula_like_text_gets_an_apostrophe() {
        for formula in ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\tx", "\r=x", "-", "=HYPERLINK(\"x\")"]
        {
            assert_eq!(csv_text(formula), format!("'{formula}"));
        }
        for plain in ["-1.5", "+3", "1=1", "a-b", "", "fr-fcfs(row_hit_cap=4)", "–"] {
            assert_eq!(csv_text(plain), plain);
        }
    }
}
