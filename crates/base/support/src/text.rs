//! Plain text for people: words, and tables with aligned columns.

mod parts;
mod printable;
mod table;

pub use parts::known_parts;
pub use printable::{csv_text, printable, printable_cell};
pub use table::aligned;

/// Capitalises the first letter.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Omits the middle of a name longer than `most` characters.
pub fn shortened(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let end = most / 3;
    name.chars().take(most - 1 - end).chain(['…']).chain(name.chars().skip(length - end)).collect()
}

/// Formats a count: `1 run`, `2 policies`.
pub fn counted(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ => format!("{count} {what}s"),
    }
}
