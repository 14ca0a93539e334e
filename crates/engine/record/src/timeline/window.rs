//! The window of a timeline.

use std::str::FromStr;

/// A half-open range of core cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    start: u64,
    end: Option<u64>,
}

/// The error of a text that is not a window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a range of core cycles: give `1000..5000`, `1000..` or `..5000`, with the end after the start"
)]
pub struct ParseWindowError {
    text: String,
}

impl Window {
    /// Returns the first core cycle.
    pub fn start(self) -> u64 {
        self.start
    }

    /// Returns the core cycle after the last; none if the window ends with the run.
    pub fn end(self) -> Option<u64> {
        self.end
    }
}

impl FromStr for Window {
    type Err = ParseWindowError;

    fn from_str(text: &str) -> Result<Window, ParseWindowError> {
        parse(text).ok_or_else(|| ParseWindowError { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Window> {
    let (start, end) = text.split_once("..")?;
    let start = if start.is_empty() { 0 } else { start.parse().ok()? };
    let end = if end.is_empty() { None } else { Some(end.parse().ok()?) };
    end.is_none_or(|end| end > start).then_some(Window { start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_end_may_be_omitted() {
        let window = |text: &str| text.parse::<Window>().map(|w| (w.start, w.end));
        assert_eq!(window("10..20"), Ok((10, Some(20))));
        assert_eq!(window("10.."), Ok((10, None)));
        assert_eq!(window("..20"), Ok((0, Some(20))));
        assert_eq!(window(".."), Ok((0, None)));
        for wrong in ["", "10", "20..10", "10..10", "a..b", "-1..5", "1..2..3", "..0"] {
            assert!(window(wrong).is_err(), "{wrong}");
        }
    }
}
