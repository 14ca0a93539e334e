//! Paragraphs, independent of the output format.

/// A paragraph: words, and names as the program spells them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose(pub Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Words(String),
    /// A name, value or command.
    Code(String),
    /// A name that is the answer.
    Answer(String),
}

impl Prose {
    pub fn new(words: impl Into<String>) -> Prose {
        Prose::default().words(words)
    }

    pub fn words(mut self, words: impl Into<String>) -> Prose {
        self.0.push(Piece::Words(words.into()));
        self
    }

    pub fn answer(mut self, name: impl Into<String>) -> Prose {
        self.0.push(Piece::Answer(name.into()));
        self
    }

    /// Prepends words.
    pub fn after(mut self, words: impl Into<String>) -> Prose {
        self.0.insert(0, Piece::Words(words.into()));
        self
    }

    pub fn code(mut self, code: impl Into<String>) -> Prose {
        self.0.push(Piece::Code(code.into()));
        self
    }

    /// Appends names separated by commas.
    pub fn codes<T: Into<String>>(self, codes: impl IntoIterator<Item = T>) -> Prose {
        codes.into_iter().enumerate().fold(self, |prose, (at, code)| {
            let prose = if at > 0 { prose.words(", ") } else { prose };
            prose.code(code)
        })
    }
}
