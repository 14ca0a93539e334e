//! A page written by hand with parts that results renew.

use crate::error::{Error, Result};

/// Replaces the parts of a page, given by name and content. A part lies between two comments, which
/// stay.
///
/// # Errors
/// If the page lacks a part.
pub fn renewed(page: &str, parts: &[(String, String)]) -> Result<String> {
    let mut text = page.to_owned();
    for (name, content) in parts {
        let missing = || Error::NoPart { part: name.clone() };
        let begin = format!("<!-- generated: {name} -->");
        let end = format!("<!-- end of generated: {name} -->");
        let (before, rest) = text.split_once(&begin).ok_or_else(missing)?;
        let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
        text = format!("{before}{begin}\n{}\n{end}{after}", content.trim_end());
    }
    Ok(text)
}

/// Formats a date, given in days since 1 January 1970, as `28 November 2026`.
pub fn date(days: u64) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("{} {} {year}", day + 1, MONTHS[month])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_replaced_and_the_rest_stays() {
        let page = "a\n<!-- generated: x -->\nold\n<!-- end of generated: x -->\nb\n";
        let part = |name: &str| vec![(name.to_owned(), "new\n".to_owned())];
        let expected = page.replace("old", "new");
        assert_eq!(renewed(page, &part("x")).unwrap(), expected);
        assert_eq!(renewed(&expected, &part("x")).unwrap(), expected);
        let error = renewed(page, &part("y")).unwrap_err().to_string();
        assert!(error.contains("`<!-- generated: y -->`"), "{error}");
    }

    #[test]
    fn dates_are_spelt_out() {
        assert_eq!(
            [0, 58, 59, 20_785].map(date),
            ["1 January 1970", "28 February 1970", "1 March 1970", "28 November 2026"]
        );
        assert_eq!(
            [789, 11_016, 20_514].map(date),
            ["29 February 1972", "29 February 2000", "2 March 2026"]
        );
    }
}
