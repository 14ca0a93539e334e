//! Reads options: words separated by blanks, text in double quotes, comments from `#` to the end of
//! the line. A repeated option replaces its earlier value.

use super::super::MachineError;
use super::super::error::Origin;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Accel-Sim's file of unit latencies beside a configuration.
const TRACE_CONFIGURATION: &str = "trace.config";

/// Most files of a configuration.
const MOST_FILES: usize = 16;

/// An option with its value.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) origin: Origin,
}

/// Options by name.
#[derive(Debug, Default)]
pub(super) struct Options {
    given: BTreeMap<String, Given>,
    files: Vec<PathBuf>,
}

/// Whether a word is the name of an option, a dash and a letter. Negative numbers are values.
pub(super) fn is_name(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next() == Some('-') && characters.next().is_some_and(|c| c.is_ascii_alphabetic())
}

impl Options {
    /// Reads the options in `text`, the contents of `path`, in the files that it includes, and in
    /// `trace.config` of its folder.
    pub(super) fn read(path: &Path, text: &str) -> Result<Options, MachineError> {
        let mut options = Options::default();
        options.read_text(path, text)?;
        let trace = folder(path).join(TRACE_CONFIGURATION);
        if trace.is_file() && !options.files.contains(&trace) {
            options.read_file(&trace)?;
        }
        Ok(options)
    }

    /// Returns the files read, in order.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(super) fn get(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// Returns all options, ordered by name.
    pub(super) fn all(&self) -> impl Iterator<Item = &Given> {
        self.given.values()
    }

    fn read_file(&mut self, path: &Path) -> Result<(), MachineError> {
        let text = warpmem_support::files::text::read(path)
            .map_err(|source| MachineError::Read { path: path.to_owned(), source })?;
        self.read_text(path, &text)
    }

    fn read_text(&mut self, path: &Path, text: &str) -> Result<(), MachineError> {
        self.files.push(path.to_owned());
        let mut words = words(text).into_iter().peekable();
        while let Some((line, name)) = words.next() {
            let origin = Origin::File { path: path.to_owned(), line };
            if !is_name(&name) {
                return Err(wrong(&origin, "a value without its option", &name, "`-option value`"));
            }
            let value = words.next_if(|(_, word)| !is_name(word)).map(|(_, word)| word);
            if name == "-config" {
                self.include(&origin, path, &value.unwrap_or_default())?;
                continue;
            }
            // A flag may have no value.
            let value = value.unwrap_or_else(|| "1".to_owned());
            self.given.insert(name.clone(), Given { name, value, origin });
        }
        Ok(())
    }

    fn include(&mut self, origin: &Origin, from: &Path, name: &str) -> Result<(), MachineError> {
        if self.files.len() >= MOST_FILES {
            let expected = format!("at most {MOST_FILES} files that include each other");
            return Err(wrong(origin, "-config", name, &expected));
        }
        self.read_file(&folder(from).join(name))
    }
}

/// Returns the error of an option's value.
pub(super) fn wrong(origin: &Origin, option: &str, value: &str, expected: &str) -> MachineError {
    MachineError::Option {
        origin: origin.clone(),
        option: option.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Splits a text into words with their line numbers. Quoted text is one word and may span lines.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut quoted = false;
    for (index, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default();
        for word in code.split_ascii_whitespace() {
            match words.last_mut() {
                Some((_, open)) if quoted => {
                    open.push(' ');
                    open.push_str(word);
                }
                _ => words.push((index + 1, word.to_owned())),
            }
            let (_, last) = words.last_mut().expect("a word was added");
            quoted = last.starts_with('"') && !(last.len() > 1 && last.ends_with('"'));
            if !quoted && last.starts_with('"') {
                *last = last[1..last.len() - 1].to_owned();
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String, usize)> {
        let mut options = Options::default();
        options.read_text(Path::new("a.config"), text).unwrap();
        let line = |origin: &Origin| match origin {
            Origin::File { line, .. } => *line,
            Origin::Override(_) => unreachable!("options come from files"),
        };
        options.all().map(|given| row(&given.name, &given.value, line(&given.origin))).collect()
    }

    fn row(name: &str, value: &str, line: usize) -> (String, String, usize) {
        (name.to_owned(), value.to_owned(), line)
    }

    #[test]
    fn options_may_have_comments_quotes_and_no_value() {
        let text = "# all\n-a 1 # one\n-flag\n-b \"x=1:\n     y=2\"\n-c \"z\" -d -1\n-a 2\n";
        let expected = [
            row("-a", "2", 7),
            row("-b", "x=1: y=2", 4),
            row("-c", "z", 6),
            row("-d", "-1", 6),
            row("-flag", "1", 3),
        ];
        assert_eq!(read(text), expected);
    }

    #[test]
    fn a_value_without_its_option_is_refused_with_its_line() {
        let error = Options::default().read_text(Path::new("a.config"), "-a 1 2").unwrap_err();
        let message = "a.config:1: a value without its option = 2: expected `-option value`";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn included_files_are_read_in_place_and_cycles_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("more.config"), "-a 2").unwrap();
        std::fs::write(at("trace.config"), "-b 3").unwrap();
        let options = Options::read(&at("x.config"), "-a 1\n-config more.config").unwrap();
        assert_eq!(options.get("-a").unwrap().value, "2");
        assert_eq!(options.get("-b").unwrap().value, "3");
        assert_eq!(options.files().len(), 3);
        std::fs::write(at("more.config"), "-config more.config").unwrap();
        let error = Options::read(&at("x.config"), "-config more.config").unwrap_err();
        assert!(error.to_string().contains("at most 16 files"), "{error}");
    }
}
