//! Numbers as profilers print them: with separators of thousands, in the locale of the host.

/// The decimal mark of a file; the other mark separates thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Point,
    Comma,
}

impl DecimalMark {
    /// Returns the mark that a number proves; none if both marks allow it, as in `1,234`.
    pub fn proved_by(text: &str) -> Option<DecimalMark> {
        let [point, comma] = [DecimalMark::Point, DecimalMark::Comma];
        match (point.parse(text), comma.parse(text)) {
            (Some(_), None) => Some(point),
            (None, Some(_)) => Some(comma),
            _ => None,
        }
    }

    /// Parses a finite number.
    pub fn parse(self, text: &str) -> Option<f64> {
        let (decimal, thousands) = match self {
            DecimalMark::Point => ('.', ','),
            DecimalMark::Comma => (',', '.'),
        };
        let is_space = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’');
        let text: String = text.trim().chars().filter(|&c| !is_space(c)).collect();
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(&text)),
        };
        let (digits, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
        let (whole, fraction) = digits.split_once(decimal).unwrap_or((digits, "0"));
        if !are_digits(fraction) {
            return None;
        }
        let whole = without_separators(whole, thousands)?;
        let number: f64 = format!("{sign}{whole}.{fraction}e{exponent}").parse().ok()?;
        number.is_finite().then_some(number)
    }
}

/// Removes the separators of a whole number whose groups are complete.
fn without_separators(text: &str, separator: char) -> Option<String> {
    let mut groups = text.split(separator);
    let first = groups.next().filter(|first| are_digits(first))?;
    let mut others = groups.clone();
    let is_grouped = others.clone().next().is_some();
    let fits = !is_grouped || first.len() <= 3 && !first.starts_with('0');
    let complete = others.all(|group| group.len() == 3 && are_digits(group));
    (fits && complete).then(|| groups.fold(first.to_owned(), |whole, group| whole + group))
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const POINT: DecimalMark = DecimalMark::Point;
    const COMMA: DecimalMark = DecimalMark::Comma;

    #[test]
    fn separators_of_thousands_are_removed() {
        let all = ["1,234,567.5", "1 234 567.5", "1\u{202f}234\u{a0}567.5", "1'234'567.5"];
        for text in
            all.into_iter().chain(["1234567.5", "+1234567.50", "1.2345675e6", "1.2345675E+6"])
        {
            assert_eq!(POINT.parse(text), Some(1_234_567.5), "{text}");
        }
        assert_eq!(COMMA.parse("1.234.567,5"), Some(1_234_567.5));
        assert_eq!(POINT.parse("-0.25"), Some(-0.25));
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in [
            "", "-", "n/a", "1,23", "1,2345", ",123", "0,123", "1.", ".5", "1.2.3", "1e", "1e999",
            "nan", "0x1f",
        ] {
            assert_eq!(POINT.parse(text), None, "{text}");
        }
    }

    #[test]
    fn some_numbers_prove_the_decimal_mark() {
        for text in ["1.5", "0.125", "1,234.5", "1,234,567"] {
            assert_eq!(DecimalMark::proved_by(text), Some(POINT), "{text}");
        }
        for text in ["1,5", "0,125", "1.234,5", "1.234.567", "9,00"] {
            assert_eq!(DecimalMark::proved_by(text), Some(COMMA), "{text}");
        }
        for text in ["1234", "1,234", "1.234", "12 345", "x"] {
            assert_eq!(DecimalMark::proved_by(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn printed_numbers_are_read_back(whole in 0u64..1 << 50, thousandths in 0u32..1000) {
            let digits = whole.to_string();
            let group = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
            let grouped = |separator: char| -> String {
                digits.char_indices().flat_map(|(at, c)| group(at).then_some(separator).into_iter().chain([c])).collect()
            };
            let expected: f64 = format!("{whole}.{thousandths:03}").parse().unwrap();
            let english = format!("{}.{thousandths:03}", grouped(','));
            let german = format!("{},{thousandths:03}", grouped('.'));
            prop_assert_eq!(POINT.parse(&english), Some(expected));
            prop_assert_eq!(COMMA.parse(&german), Some(expected));
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.,eE '\u{a0}x]{0,12}") {
            let _ = (DecimalMark::proved_by(&text), POINT.parse(&text));
        }
    }
}
