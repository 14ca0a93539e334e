//! Documents generated from the code. Tests compare them with the code; with `UPDATE_DOCS=1` in the
//! environment they write them instead.

use std::fs;
use std::path::{Path, PathBuf};

pub use warpmem_support::parts::part;
use warpmem_support::parts::with_part;

/// The command that updates documents.
const UPDATE: &str =
    "UPDATE_DOCS=1 cargo test -p warpmem-gpu -p warpmem-record -p warpmem-study document";

/// Returns a path below the root of the repository.
fn path_of(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(document)
}

/// Returns whether documents are written instead of compared.
pub fn is_updating() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Reads a document, named by its path in the repository.
pub fn read(document: &str) -> String {
    fs::read_to_string(path_of(document)).unwrap_or_else(|error| {
        panic!("{document}: {error}; if it is generated, run\n  {UPDATE}");
    })
}

/// Asserts that the whole document is `expected`.
pub fn assert_document(document: &str, expected: &str) {
    if is_updating() {
        fs::write(path_of(document), expected).unwrap();
    }
    let found = read(document);
    assert!(found == expected, "{document} is out of date: run\n  {UPDATE}\n{expected}");
}

/// Creates a missing document with `text`; from then on it is written by hand.
pub fn start_document(document: &str, text: &str) {
    if is_updating() && !path_of(document).exists() {
        fs::write(path_of(document), text).unwrap();
    }
}

/// Asserts that the document has these parts, given by name and content.
pub fn assert_parts(document: &str, parts: &[(&str, String)]) {
    let mut expected = read(document);
    for (name, content) in parts {
        expected = with_part(&expected, name, content)
            .unwrap_or_else(|| panic!("{document} has no part `{name}`"));
    }
    assert_document(document, &expected);
}

/// Formats a table in Markdown.
pub fn table(heading: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heading: Vec<String> = heading.iter().map(|&cell| cell.to_owned()).collect();
    let rule: Vec<String> = heading.iter().map(|_| "---".to_owned()).collect();
    let mut text = line(&heading) + &line(&rule);
    for row in rows {
        text += &line(&row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_in_cells_are_escaped() {
        let rows = [vec!["a|b".to_owned(), "1".to_owned()]];
        assert_eq!(table(&["x", "y"], rows), "| x | y |\n| --- | --- |\n| a\\|b | 1 |\n");
    }
}
