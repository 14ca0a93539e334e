//! A report as Markdown, with tables in GitHub's syntax and pictures in a folder.

use crate::document::{Block, Document, Section};
use crate::prose::{Piece, Prose};
use crate::table::{SHOWN_ROWS, Table};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write;
use std::path::Path;
use warpmem_analysis::escaped_markdown as escaped;
use warpmem_chart::Chart;

/// Characters not allowed in the path of a link.
const NOT_IN_LINKS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// Formats a path as the target of a link.
pub fn link(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    utf8_percent_encode(&path, NOT_IN_LINKS).to_string()
}

/// Renders the report; `plots` is the folder of the pictures, relative to the report.
pub fn render(document: &Document, plots: &str) -> anyhow::Result<String> {
    let mut text = format!("# {}\n", escaped(&document.title));
    write!(text, "\n{}\n", prose(&document.lead))?;
    for section in &document.sections {
        push_section(&mut text, section, plots)?;
    }
    Ok(text)
}

fn push_section(text: &mut String, section: &Section, plots: &str) -> anyhow::Result<()> {
    write!(text, "\n## {}\n", section.title)?;
    for block in &section.blocks {
        match block {
            Block::Text(words) => write!(text, "\n{}\n", prose(words))?,
            Block::Note(words) => write!(text, "\n{}\n", prose(words))?,
            Block::Warning(words) => write!(text, "\n> **Caution:** {}\n", prose(words))?,
            Block::Table(table) => push_table(text, table, plots)?,
            Block::Figure(chart) => push_figure(text, chart, plots)?,
        }
    }
    Ok(())
}

fn push_figure(text: &mut String, chart: &Chart, plots: &str) -> anyhow::Result<()> {
    let (title, caption) = (escaped(&chart.title), escaped(&chart.caption));
    write!(text, "\n![{title}]({plots}/{}.svg)\n\n**{title}.** {caption}\n", chart.name)?;
    Ok(())
}

fn push_table(text: &mut String, table: &Table, plots: &str) -> anyhow::Result<()> {
    let title = escaped(&table.title);
    match table.is_folded {
        true => write!(text, "\n<details><summary>{title}</summary>\n\n")?,
        false => write!(text, "\n**{title}**\n\n")?,
    }
    text.push_str(&rows(table)?);
    if table.rows() > SHOWN_ROWS {
        let file = format!("{plots}/{}.csv", table.name);
        write!(
            text,
            "\nThe first {SHOWN_ROWS} of {} rows; all are in [{}.csv]({file}).\n",
            table.rows(),
            table.name
        )?;
    }
    if let Some(words) = &table.left_out {
        write!(text, "\n{}\n", prose(words))?;
    }
    if table.is_folded {
        text.push_str("\n</details>\n");
    }
    Ok(())
}

/// Renders the headings and the shown rows, without a title.
pub fn rows(table: &Table) -> anyhow::Result<String> {
    Ok(warpmem_analysis::markdown(&table.columns(), &table.shown()?))
}

fn prose(prose: &Prose) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Words(words) => escaped(words),
        Piece::Code(code) => code_span(code),
        Piece::Answer(name) => format!("**{}**", code_span(name)),
    };
    prose.0.iter().map(piece).collect()
}

/// Delimits code by more backticks than its longest run of backticks.
fn code_span(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let code = code.replace(['\n', '\r'], " ");
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{code}{gap}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_links_are_escaped() {
        assert_eq!(code_span("gto"), "`gto`");
        assert_eq!(code_span("a``b"), "``` a``b ```");
        assert_eq!(link(Path::new("my plots/(1)")), "my%20plots/%281%29");
    }
}
