//! Loads to measure.

/// Loads in ascending order, flits per source and cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads(pub Vec<f64>);

/// Maximum number of loads in a range.
const MOST: u32 = 1000;

impl Loads {
    /// Parses `0.1,0.2` and `0.05..0.95/10`, or returns a message that states valid forms.
    pub fn parse(text: &str) -> Result<Loads, String> {
        let loads: Option<Vec<Vec<f64>>> = text.split(',').map(|item| part(item.trim())).collect();
        let expected = "expected loads above 0 and at most 1, as in `0.1,0.2`, or a range and a count, as in `0.05..0.95/10`";
        let loads = loads.ok_or(expected)?.concat();
        if !loads.iter().all(|&load| load > 0.0 && load <= 1.0) {
            return Err(expected.to_owned());
        }
        if !loads.is_sorted_by(|a, b| a < b) {
            return Err("expected loads in ascending order, each once".to_owned());
        }
        Ok(Loads(loads))
    }
}

/// Parses a load, or the loads of a range.
fn part(text: &str) -> Option<Vec<f64>> {
    let Some((from, rest)) = text.split_once("..") else {
        return Some(vec![text.parse().ok()?]);
    };
    let (to, count) = rest.split_once('/')?;
    let (from, to): (f64, f64) = (from.parse().ok()?, to.parse().ok()?);
    let count: u32 = count.parse().ok().filter(|count| (2..=MOST).contains(count))?;
    let step = (to - from) / f64::from(count - 1);
    Some((0..count).map(|n| rounded(from + step * f64::from(n))).collect())
}

/// Rounds to six decimals, to remove the error of binary fractions.
fn rounded(load: f64) -> f64 {
    (load * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        let parse = |text| Loads::parse(text).unwrap().0;
        assert_eq!(parse("0.25"), [0.25]);
        assert_eq!(parse("0.1, 0.2,1"), [0.1, 0.2, 1.0]);
        assert_eq!(parse("0.1..0.7/4"), [0.1, 0.3, 0.5, 0.7]);
        assert_eq!(parse("0.01,0.1..0.3/3,0.9"), [0.01, 0.1, 0.2, 0.3, 0.9]);
    }

    #[test]
    fn what_is_no_load_is_refused() {
        for text in
            ["", "x", "0", "1.5", "-0.1", "nan", "0.1,", "0.1..0.2", "0.1..0.2/1", "0.1..2/3"]
        {
            assert!(Loads::parse(text).unwrap_err().contains("0.05..0.95/10"), "{text}");
        }
        for text in ["0.2,0.1", "0.1,0.1", "0.5..0.1/3"] {
            assert!(Loads::parse(text).unwrap_err().contains("ascending"), "{text}");
        }
    }
}
