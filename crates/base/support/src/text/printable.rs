//! Text of unknown origin, made fit for terminals and spreadsheets.
//!
//! Names of kernels, traces, machines and policies come with files that anyone may have made. A terminal obeys the control characters
//! in them, and a spreadsheet takes a cell that begins as a formula does for one.

use std::borrow::Cow;

/// The text with control characters, and characters that reverse the direction of writing, escaped
/// as in JSON. Line breaks and tabs stay. A JSON text keeps its meaning.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| acts(c) && !matches!(c, '\n' | '\t'))
}

/// As [`printable`], also without line breaks and tabs, for a cell of a table.
#[must_use]
pub fn printable_cell(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// The text as a CSV field that no spreadsheet reads as a formula: if it begins like one and is not
/// a number, an apostrophe is put before it.
#[must_use]
pub fn csv_text(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// Whether a terminal does something at this character but draw it.
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
            // All of them lie in the first plane.
            c => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(printable("a\u{1b}[2Jb\n\tµ–é"), "a\\u001b[2Jb\n\tµ–é");
        assert_eq!(printable_cell("a\nb\tc\r"), "a\\nb\\tc\\r");
        assert_eq!(printable("\u{9b}31m\u{7f}\u{202e}x"), "\\u009b31m\\u007f\\u202ex");
        assert!(matches!(printable("plain · text"), Cow::Borrowed(_)));
        let json = serde_json::json!({ "name": "\u{1b}\u{9b}\u{202e}\\" });
        let read: serde_json::Value = serde_json::from_str(&printable(&json.to_string())).unwrap();
        assert_eq!(read, json);
    }

    #[test]
    fn only_text_that_begins_as_a_formula_has_an_apostrophe() {
        for formula in ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\tx", "\r=x", "-", "=HYPERLINK(\"x\")"]
        {
            assert_eq!(csv_text(formula), format!("'{formula}"));
        }
        for plain in ["-1.5", "+3", "1=1", "a-b", "", "fr-fcfs(row_hit_cap=4)", "–"] {
            assert_eq!(csv_text(plain), plain);
        }
    }
}
