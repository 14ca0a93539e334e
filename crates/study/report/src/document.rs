//! Contents of a report, independent of the output format.

use crate::prose::Prose;
use crate::table::Table;
use std::collections::HashSet;
use std::sync::Arc;
use warpmem_chart::{Chart, Style};

/// Maximum length of file names in characters, because a setting may have many parameters.
const LONGEST: usize = 96;

/// A report.
pub struct Document {
    pub title: String,
    /// Subject of the report in one line.
    pub lead: Prose,
    pub sections: Vec<Section>,
}

/// Part of a report that answers one question.
pub struct Section {
    /// Target of links: lower case, words joined by dashes.
    pub anchor: &'static str,
    pub title: &'static str,
    pub blocks: Vec<Block>,
}

pub enum Block {
    Text(Prose),
    /// A caveat about the results near it.
    Warning(Prose),
    /// Reason for missing or truncated content.
    Note(Prose),
    Table(Table),
    Figure(Box<Chart>),
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

    /// Returns whether the section contains only the reason for showing nothing.
    fn is_absent(&self) -> bool {
        self.blocks.iter().all(|block| matches!(block, Block::Note(_)))
    }

    pub fn table(mut self, table: Table) -> Section {
        self.blocks.push(Block::Table(table));
        self
    }
}

impl Document {
    /// Moves the notes of sections that show nothing into one section at the end.
    pub fn gather_absent(&mut self) {
        let sections = std::mem::take(&mut self.sections).into_iter();
        let (absent, shown): (Vec<Section>, Vec<Section>) = sections.partition(Section::is_absent);
        self.sections = shown;
        if absent.is_empty() {
            return;
        }
        let titled = |title: &'static str| {
            move |block| match block {
                Block::Note(note) => Block::Note(note.after(format!("{title}: "))),
                other => other,
            }
        };
        let blocks = absent
            .into_iter()
            .flat_map(|section| section.blocks.into_iter().map(titled(section.title)));
        let mut gathered = Section::new("not-shown", "Not shown");
        gathered.blocks.extend(blocks);
        self.sections.push(gathered);
    }

    /// Gives every chart and table a unique file name; names may differ only in characters that
    /// file names do not keep.
    pub fn name_apart(&mut self) {
        let mut taken = HashSet::new();
        for block in self.sections.iter_mut().flat_map(|section| &mut section.blocks) {
            match block {
                Block::Table(table) => table.name = own_name(&table.name, &mut taken),
                Block::Figure(chart) => chart.name = own_name(&chart.name, &mut taken),
                Block::Text(_) | Block::Warning(_) | Block::Note(_) => {}
            }
        }
    }

    /// Gives all charts this appearance.
    pub fn set_style(&mut self, style: &Arc<Style>) {
        for block in self.sections.iter_mut().flat_map(|section| &mut section.blocks) {
            if let Block::Figure(chart) = block {
                chart.style = Arc::clone(style);
            }
        }
    }

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

/// Returns the truncated name, with a number appended if it is `taken`.
fn own_name(name: &str, taken: &mut HashSet<String>) -> String {
    let cut: String = name.chars().take(LONGEST).collect();
    let cut = cut.trim_end_matches('-');
    let numbered = (2..).map(|number| format!("{cut}-{number}"));
    let mut names = [cut.to_owned()].into_iter().chain(numbered);
    names.find(|name| taken.insert(name.clone())).unwrap_or_default()
}
