//! A report as one HTML file, which refers to no other file and needs no network.

use crate::document::{Block, Document, Section};
use crate::prose::{Piece, Prose};
use crate::table::{Heading, SHOWN_ROWS, Table};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use warpmem_chart::Chart;

mod charts;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Content security policy: nothing is loaded; only the page's own style and script are allowed.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
     img-src data:; base-uri 'none'; form-action 'none'";

/// Largest CSV of a table embedded in the page, bytes.
const INLINE_CSV: usize = 64 << 10;
/// Characters not allowed in a data URI within an attribute.
const NOT_IN_DATA: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'\'').add(b'<').add(b'>');

/// Cells longer than this, in characters, may wrap.
const LONG: usize = 32;

pub fn render(document: &Document) -> anyhow::Result<String> {
    let sections =
        document.sections.iter().map(section).collect::<anyhow::Result<Vec<Markup>>>()?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (document.title) }
                    p { (prose(&document.lead)) }
                }
                (contents(document))
                main { @for section in &sections { (section) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(page.into_string())
}

fn contents(document: &Document) -> Markup {
    html! {
        nav aria-label="Contents" {
            ol {
                @for section in &document.sections {
                    li { a href={ "#" (section.anchor) } { (section.title) } }
                }
            }
        }
    }
}

fn section(section: &Section) -> anyhow::Result<Markup> {
    let neighbours =
        section.blocks.chunk_by(|one, next| chart(one).is_some() && chart(next).is_some());
    let blocks = neighbours.map(blocks).collect::<anyhow::Result<Vec<Markup>>>()?;
    Ok(html! {
        section id=(section.anchor) {
            h2 { (section.title) }
            @for block in &blocks { (block) }
        }
    })
}

fn chart(block: &Block) -> Option<&Chart> {
    match block {
        Block::Figure(chart) => Some(chart),
        _ => None,
    }
}

/// Renders a block, or several consecutive charts.
fn blocks(blocks: &[Block]) -> anyhow::Result<Markup> {
    let charts: Vec<&Chart> = blocks.iter().filter_map(chart).collect();
    match blocks {
        [block] if charts.is_empty() => self::block(block),
        _ => charts::charts(&charts),
    }
}

fn block(block: &Block) -> anyhow::Result<Markup> {
    Ok(match block {
        Block::Text(text) => html! { p { (prose(text)) } },
        Block::Note(text) => html! { p.note { (prose(text)) } },
        Block::Warning(text) => {
            html! { p.warning role="note" { strong { "Caution: " } (prose(text)) } }
        }
        Block::Table(table) => self::table(table)?,
        Block::Figure(chart) => charts::charts(&[chart])?,
    })
}

fn prose(prose: &Prose) -> Markup {
    html! {
        @for piece in &prose.0 {
            @match piece {
                Piece::Words(words) => (together(words)),
                Piece::Code(code) => code { (code) },
                Piece::Answer(name) => strong { code { (name) } },
            }
        }
    }
}

/// Keeps a number on one line with the following sign.
fn together(words: &str) -> String {
    words.replace(" %", "\u{a0}%").replace(" ×", "\u{a0}×")
}

fn table(table: &Table) -> anyhow::Result<Markup> {
    let body = body(table)?;
    let csv = table.csv()?;
    let link = (csv.len() <= INLINE_CSV).then(|| download(table, &csv));
    let inner = html! {
        div.scroll role="region" aria-label=(table.title) tabindex="0" { (body) }
        @if let Some(words) = &table.left_out { p.note { (prose(words)) } }
        p.under {
            @if table.rows() > SHOWN_ROWS {
                "The first " (SHOWN_ROWS) " of " (table.rows()) " rows"
                @if link.is_none() { "; all are in " code { (table.name) ".csv" } " beside the plots (" code { "--plots" } ")" }
                ". "
            }
            @if let Some(link) = &link { (link) }
        }
    };
    Ok(html! {
        div.table id={ "table-" (table.name) } {
            @if table.is_folded {
                details { summary { (table.title) } (inner) }
            } @else {
                h3.title { (table.title) }
                (inner)
            }
        }
    })
}

/// Embeds all rows with full precision in the page.
fn download(table: &Table, csv: &str) -> Markup {
    let data = utf8_percent_encode(csv, NOT_IN_DATA);
    html! {
        a href={ "data:text/csv;charset=utf-8," (data) } download={ (table.name) ".csv" } { "CSV" }
        @if table.rows() > SHOWN_ROWS { " with all of them" }
    }
}

fn body(table: &Table) -> anyhow::Result<Markup> {
    let rows = table.shown()?;
    let class = |heading: &Heading| heading.is_number.then_some("number");
    Ok(html! {
        table {
            caption { (table.title) }
            thead {
                tr {
                    @for heading in &table.headings {
                        th scope="col" class=[class(heading)] title=[some(&heading.definition)] {
                            span.name { (heading.title) }
                            @if let Some(unit) = some(&heading.unit) { span.unit { (unit) } }
                        }
                    }
                }
            }
            tbody {
                @for row in &rows {
                    tr {
                        @for (at, (cell, heading)) in row.iter().zip(&table.headings).enumerate() {
                            @let class = class(heading).or(words(cell));
                            @if at == 0 && !heading.is_number {
                                th scope="row" class=[class] { (cell) }
                            } @else {
                                td class=[class] { (cell) }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Returns the class of a cell that may wrap, because a single line would not fit the page.
fn words(cell: &str) -> Option<&'static str> {
    (cell.chars().count() > LONG && cell.contains(' ')).then_some("words")
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
