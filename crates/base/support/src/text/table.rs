//! Tables with aligned columns.

use super::printable_cell;

/// Longest cell of a table, in characters; names of kernels are unbounded.
const MAX_CELL: usize = 1000;

/// Formats lines with aligned columns, right-aligned for those in `right`. Escapes control characters.
pub fn aligned(rows: &[Vec<String>], right: &[usize]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            if right.contains(&column) { padding + cell } else { format!("{cell}{padding}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Shortens a cell to fit its line.
fn shown(cell: &str) -> String {
    let shown = printable_cell(cell);
    match shown.char_indices().nth(MAX_CELL) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_any_length_and_content_are_aligned() {
        let long = "n".repeat(70_000);
        let rows = [vec![long, "1".to_owned()], vec!["a\u{1b}[31m".to_owned(), "2".to_owned()]];
        let text = aligned(&rows, &[1]);
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths, [MAX_CELL + 1 + 3; 2]);
        assert!(text.contains("…  1") && text.contains("a\\u001b[31m  "), "{}", &text[..20]);
    }

    #[test]
    fn columns_are_aligned_without_trailing_blanks() {
        let rows = [
            vec!["a".to_owned(), "1".to_owned(), String::new()],
            vec!["bcd".to_owned(), "22".to_owned()],
        ];
        assert_eq!(aligned(&rows, &[1]), "a     1\nbcd  22\n");
    }
}
