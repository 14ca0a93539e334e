//! Aligned text: headings, a label column, value columns, and titles between blocks of rows.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use warpmem_support::text::printable_cell;

const GAP: usize = 2;

/// Text to be aligned. A grid wider than the terminal is split into parts, each of which begins
/// with the label column.
#[derive(Default)]
pub struct Grid {
    pub columns: Vec<Heading>,
    pub rows: Vec<Row>,
}

/// Heading of a column.
pub struct Heading {
    /// One entry per line; the last line is the unit.
    pub lines: Vec<String>,
    pub align: Align,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

pub enum Row {
    /// A line across the full width, before a block.
    Title(String),
    Cells(Vec<String>),
}

impl Grid {
    /// Renders text of at most `width` terminal columns, if the labels and one value column fit.
    pub fn render(mut self, width: usize) -> String {
        self.make_printable();
        let widths: Vec<usize> = (0..self.columns.len()).map(|c| self.width_of(c)).collect();
        let parts = split(&widths, width);
        parts.iter().map(|part| self.render_part(part, &widths)).collect::<Vec<_>>().join("\n")
    }

    /// Escapes control characters.
    fn make_printable(&mut self) {
        let headings = self.columns.iter_mut().flat_map(|heading| &mut heading.lines);
        let rows = self.rows.iter_mut().flat_map(|row| match row {
            Row::Title(title) => std::slice::from_mut(title),
            Row::Cells(cells) => cells,
        });
        for text in headings.chain(rows) {
            if let Cow::Owned(shown) = printable_cell(text) {
                *text = shown;
            }
        }
    }

    fn width_of(&self, column: usize) -> usize {
        let heading = self.columns[column].lines.iter().map(|line| line.width()).max();
        let cells = self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells[column].width()),
            Row::Title(_) => None,
        });
        cells.chain(heading).max().unwrap_or(0)
    }

    fn render_part(&self, columns: &[usize], widths: &[usize]) -> String {
        let mut text = String::new();
        let height = columns.iter().map(|&c| self.columns[c].lines.len()).max().unwrap_or(0);
        for line in 0..height {
            let heading = |c: usize| {
                let lines = &self.columns[c].lines;
                (line + lines.len()).checked_sub(height).map_or("", |index| lines[index].as_str())
            };
            self.push_line(&mut text, columns, widths, heading);
        }
        for row in &self.rows {
            match row {
                Row::Title(title) => {
                    text.push_str(title);
                    text.push('\n');
                }
                Row::Cells(cells) => self.push_line(&mut text, columns, widths, |c| &cells[c]),
            }
        }
        text
    }

    fn push_line<'a>(
        &self,
        text: &mut String,
        columns: &[usize],
        widths: &[usize],
        cell: impl Fn(usize) -> &'a str,
    ) {
        let start = text.len();
        for (position, &column) in columns.iter().enumerate() {
            let cell = cell(column);
            let padding = " ".repeat(widths[column].saturating_sub(cell.width()));
            if position > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            match self.columns[column].align {
                Align::Left => text.extend([cell, &padding]),
                Align::Right => text.extend([&padding, cell]),
            }
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
}

/// Splits columns into parts of at most `width`, each with the label column and at least one other.
fn split(widths: &[usize], width: usize) -> Vec<Vec<usize>> {
    let label = widths.first().copied().unwrap_or(0);
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut used = usize::MAX;
    for (column, &needed) in widths.iter().enumerate().skip(1) {
        match parts.last_mut() {
            Some(part) if used.saturating_add(GAP + needed) <= width => {
                part.push(column);
                used += GAP + needed;
            }
            _ => {
                parts.push(vec![0, column]);
                used = label + GAP + needed;
            }
        }
    }
    if parts.is_empty() && !widths.is_empty() { vec![vec![0]] } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_wrap_with_repeated_labels() {
        assert_eq!(split(&[4, 3, 3, 3], 14), [vec![0, 1, 2], vec![0, 3]]);
        assert_eq!(split(&[4, 3, 3, 3], 19), [vec![0, 1, 2, 3]]);
        assert_eq!(split(&[4, 30, 3], 10), [vec![0, 1], vec![0, 2]]);
        assert_eq!(split(&[4], 10), [vec![0]]);
        assert!(split(&[], 10).is_empty());
    }

    #[test]
    fn a_cell_cannot_break_out_of_its_line() {
        let grid = Grid {
            columns: vec![Heading { lines: vec!["n\u{1b}[2J".to_owned()], align: Align::Left }],
            rows: vec![Row::Title("a\rb".to_owned()), Row::Cells(vec!["c\nd".to_owned()])],
        };
        assert_eq!(grid.render(80), "n\\u001b[2J\na\\rb\nc\\nd\n");
    }

    #[test]
    fn alignment_counts_terminal_columns_not_bytes() {
        let heading = |text: &str, align| Heading { lines: vec![text.to_owned()], align };
        let row = |cells: [&str; 2]| Row::Cells(cells.map(str::to_owned).to_vec());
        let grid = Grid {
            columns: vec![heading("name", Align::Left), heading("×", Align::Right)],
            rows: vec![row(["µ–é", "–"]), row(["x", "1.25"])],
        };
        assert_eq!(grid.render(80), "name     ×\nµ–é      –\nx     1.25\n");
    }
}
