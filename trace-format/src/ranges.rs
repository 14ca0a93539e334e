//! Selections of numbers in the notation of users: `2..5,7`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A selection of items that are numbered from 0.
///
/// The notation is that of slices: `2..5` is 2, 3 and 4, `5..` everything from 5 on, `..5`
/// everything before 5, `..` everything, `7` a single item; commas separate several. Two selections
/// are equal if they select the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    /// Ascending, non-empty, with a gap between any two.
    parts: Vec<Range<u64>>,
}

/// End of an open range. No item has this number.
const OPEN: u64 = u64::MAX;

/// A malformed selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangesError {
    #[error(
        "`{part}` is no range; valid are `7`, `2..5` (2, 3 and 4), `2..`, `..5`, and several of these with commas between"
    )]
    Malformed { part: String },
    #[error("`{part}` is empty; `A..B` includes A and excludes B")]
    Empty { part: String },
}

/// A selection beyond the existing items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {ranges} go beyond the end: there {} {count}, numbered from 0", if *count == 1 { "is" } else { "are" })]
pub struct BeyondEnd {
    /// Name of the items, plural.
    pub what: &'static str,
    pub ranges: Ranges,
    pub count: u64,
}

impl Ranges {
    /// Selects everything.
    pub fn all() -> Ranges {
        Ranges { parts: vec![Range { start: 0, end: OPEN }] }
    }

    pub fn contains(&self, number: u64) -> bool {
        let before = self.parts.partition_point(|part| part.end <= number);
        self.parts.get(before).is_some_and(|part| part.start <= number)
    }

    /// Returns the number after the last selected one; `None` for an open selection.
    pub fn end(&self) -> Option<u64> {
        self.parts.last().map(|part| part.end).filter(|&end| end != OPEN)
    }

    /// Checks that all selected items exist among `count`; `what` is their name, plural.
    ///
    /// # Errors
    /// When a range starts or ends beyond the last item.
    pub fn check(&self, what: &'static str, count: u64) -> Result<(), BeyondEnd> {
        let named = |part: &Range<u64>| if part.end == OPEN { part.start } else { part.end - 1 };
        match self.parts.last() {
            Some(last) if named(last) >= count && *self != Ranges::all() => {
                Err(BeyondEnd { what, ranges: self.clone(), count })
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Ranges {
    type Err = RangesError;

    fn from_str(text: &str) -> Result<Ranges, RangesError> {
        let mut parts = text.split(',').map(parse_part).collect::<Result<Vec<_>, _>>()?;
        parts.sort_by_key(|part| part.start);
        let mut joined: Vec<Range<u64>> = Vec::with_capacity(parts.len());
        for part in parts {
            match joined.last_mut() {
                Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
                _ => joined.push(part),
            }
        }
        Ok(Ranges { parts: joined })
    }
}

fn parse_part(part: &str) -> Result<Range<u64>, RangesError> {
    let malformed = || RangesError::Malformed { part: part.to_owned() };
    let number = |text: &str| match text.trim().parse() {
        Ok(number) if number < OPEN - 1 => Ok(number),
        _ => Err(malformed()),
    };
    let or = |text: &str, absent| if text.trim().is_empty() { Ok(absent) } else { number(text) };
    let range = match part.split_once("..") {
        Some((start, end)) => or(start, 0)?..or(end, OPEN)?,
        None => number(part).map(|single| single..single + 1)?,
    };
    if range.is_empty() {
        return Err(RangesError::Empty { part: part.to_owned() });
    }
    Ok(range)
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                write!(f, ",")?;
            }
            match (part.start, part.end) {
                (0, OPEN) => write!(f, "..")?,
                (start, OPEN) => write!(f, "{start}..")?,
                (start, end) if end == start + 1 => write!(f, "{start}")?,
                (start, end) => write!(f, "{start}..{end}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(text: &str) -> Ranges {
        text.parse().unwrap()
    }

    fn members(text: &str) -> Vec<u64> {
        (0..12).filter(|&number| ranges(text).contains(number)).collect()
    }

    #[test]
    fn ranges_are_half_open() {
        assert_eq!(members("2..5"), [2, 3, 4]);
        assert_eq!(members("2..5,7"), [2, 3, 4, 7]);
        assert_eq!(members("..3, 10.."), [0, 1, 2, 10, 11]);
        assert_eq!(members("7,2..5"), [2, 3, 4, 7]);
        assert_eq!(members(".."), (0..12).collect::<Vec<_>>());
        assert!(ranges("3..").contains(u64::MAX - 1));
        assert_eq!(Ranges::all(), ranges(".."));
    }

    #[test]
    fn equivalent_selections_are_equal() {
        for (one, other) in
            [("2..5,5..7", "2..7"), ("1,0,2", "..3"), ("4..,2..6", "2.."), ("3,3", "3")]
        {
            assert_eq!(ranges(one), ranges(other), "{one} {other}");
        }
        assert_ne!(ranges("2..5,6..7"), ranges("2..7"));
    }

    #[test]
    fn displayed_selections_parse_back() {
        for (text, shown) in
            [("7, 2..5", "2..5,7"), ("..", ".."), ("3..", "3.."), ("..5", "0..5"), ("0", "0")]
        {
            assert_eq!(ranges(text).to_string(), shown);
            assert_eq!(ranges(shown), ranges(text));
        }
    }

    #[test]
    fn closed_selections_have_an_end() {
        assert_eq!(ranges("7,2..5").end(), Some(8));
        assert_eq!(ranges("1,2..").end(), None);
    }

    #[test]
    fn selections_beyond_the_end_are_refused_with_the_count() {
        for text in ["..5", "4", "0..1,3..5", "4..", ".."] {
            assert_eq!(ranges(text).check("kernels", 5), Ok(()), "{text}");
        }
        for text in ["..6", "5", "0..1,3..6", "5.."] {
            let error = ranges(text).check("kernels", 5).unwrap_err().to_string();
            assert!(error.contains("kernels") && error.contains("are 5"), "{error}");
        }
        let error = ranges("1..3").check("kernels", 1).unwrap_err().to_string();
        assert_eq!(error, "kernels 1..3 go beyond the end: there is 1, numbered from 0");
    }

    #[test]
    fn malformed_selections_are_refused() {
        for text in ["", "a", "1-3", "1..2..3", "1,,2", "-1", "1,", "18446744073709551615"] {
            let error = text.parse::<Ranges>().unwrap_err();
            assert!(matches!(error, RangesError::Malformed { .. }), "{text}: {error}");
        }
        for text in ["3..3", "5..2", "1,..0"] {
            let error = text.parse::<Ranges>().unwrap_err();
            assert!(matches!(error, RangesError::Empty { .. }), "{text}: {error}");
        }
    }
}
