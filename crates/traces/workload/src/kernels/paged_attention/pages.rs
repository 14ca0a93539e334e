//! The pages of the sequences in a pool.

use super::super::prelude::*;

/// Page size in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Of8,
    Of16,
    Of32,
}

impl Page {
    pub fn tokens(self) -> u32 {
        match self {
            Page::Of8 => 8,
            Page::Of16 => 16,
            Page::Of32 => 32,
        }
    }
}

impl Choice for Page {
    const NAMES: &'static [(&'static str, Page)] =
        &[("8", Page::Of8), ("16", Page::Of16), ("32", Page::Of32)];
}

/// The pages of each sequence, scattered over the pool.
pub struct Pages {
    page: Page,
    /// `per_sequence` entries for each sequence; those after its last token are meaningless.
    pub tables: Vec<u32>,
    pub per_sequence: u32,
    /// Pages in the pool.
    pub pool: u32,
}

impl Pages {
    /// Assigns every page of the pool to some sequence, in random order.
    pub fn drawn(page: Page, tokens: &[u32], random: &mut Random) -> Pages {
        let pages = |tokens: &u32| tokens.div_ceil(page.tokens());
        let per_sequence = tokens.iter().map(pages).max().unwrap_or(0);
        let mut pool: Vec<u32> = (0..tokens.iter().map(pages).sum()).collect();
        random.shuffle(&mut pool);
        let mut tables = vec![0; tokens.len() * per_sequence as usize];
        let mut free = pool.iter();
        for (table, tokens) in tables.chunks_exact_mut(per_sequence as usize).zip(tokens) {
            let taken = free.by_ref().take(pages(tokens) as usize);
            table.iter_mut().zip(taken).for_each(|(entry, &page)| *entry = page);
        }
        Pages { page, tables, per_sequence, pool: pool.len() as u32 }
    }

    /// Returns the page of a token of a sequence.
    pub fn of(&self, sequence: usize, token: usize) -> u32 {
        let page = token / self.page.tokens() as usize;
        self.tables[sequence * self.per_sequence as usize + page]
    }

    /// Returns the slot of a token: its page's number times the page size, plus its position in the
    /// page.
    pub fn slot(&self, sequence: usize, token: usize) -> u32 {
        self.of(sequence, token) * self.page.tokens() + token as u32 % self.page.tokens()
    }
}
