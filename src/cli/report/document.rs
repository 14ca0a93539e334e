//! What a report says, however it is written down.

use super::table::Table;
use crate::cli::chart::Chart;

/// A report.
pub struct Document {
    pub title: String,
    /// What it is about, in a few sentences.
    pub lead: Vec<Prose>,
    pub sections: Vec<Section>,
}

/// Part of a report that answers one question.
pub struct Section {
    /// Leads to it from elsewhere: lower case, words with dashes between.
    pub anchor: &'static str,
    pub title: &'static str,
    pub blocks: Vec<Block>,
}

pub enum Block {
    Text(Prose),
    /// What the reader must know before believing what stands around it.
    Warning(Prose),
    /// Why something is missing or cut short.
    Note(Prose),
    Table(Table),
    Figure(Box<Chart>),
}

/// A paragraph: words, and names as the program spells them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose(pub Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Words(String),
    /// A name, value or command.
    Code(String),
}

impl Prose {
    pub fn new(words: impl Into<String>) -> Prose {
        Prose::default().words(words)
    }

    pub fn words(mut self, words: impl Into<String>) -> Prose {
        self.0.push(Piece::Words(words.into()));
        self
    }

    pub fn code(mut self, code: impl Into<String>) -> Prose {
        self.0.push(Piece::Code(code.into()));
        self
    }

    /// Names with commas between.
    pub fn codes<T: Into<String>>(self, codes: impl IntoIterator<Item = T>) -> Prose {
        codes.into_iter().enumerate().fold(self, |prose, (at, code)| {
            let prose = if at > 0 { prose.words(", ") } else { prose };
            prose.code(code)
        })
    }
}

impl Section {
    pub fn new(anchor: &'static str, title: &'static str) -> Section {
        Section { anchor, title, blocks: Vec::new() }
    }

    pub fn text(mut self, text: Prose) -> Section {
        self.blocks.push(Block::Text(text));
        self
    }

    pub fn warning(mut self, text: Prose) -> Section {
        self.blocks.push(Block::Warning(text));
        self
    }

    pub fn note(mut self, text: Prose) -> Section {
        self.blocks.push(Block::Note(text));
        self
    }

    pub fn figure(mut self, chart: Chart) -> Section {
        self.blocks.push(Block::Figure(Box::new(chart)));
        self
    }

    pub fn table(mut self, table: Table) -> Section {
        self.blocks.push(Block::Table(table));
        self
    }
}

impl Document {
    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.sections.iter().flat_map(|section| &section.blocks)
    }

    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.blocks().filter_map(|block| match block {
            Block::Figure(chart) => Some(chart.as_ref()),
            _ => None,
        })
    }
}
