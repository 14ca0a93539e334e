//! Units of profilers, scaled to their base.

/// The quantity of a metric, and with it the base of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Things of this name, without a prefix.
    Count(&'static str),
    /// Seconds.
    Time,
    /// Hz.
    Frequency,
    /// Bytes per second.
    ByteRate,
    /// Percent.
    Percent,
}

impl Quantity {
    /// Returns the factor from `unit` to the base; none if it is a unit of something else.
    pub fn factor(self, unit: &str) -> Option<f64> {
        let unit = unit.trim();
        match self {
            Quantity::Count(name) => count(unit, name),
            Quantity::Time => Some(1.0 / per_second(unit)?),
            Quantity::Frequency => frequency(unit),
            Quantity::ByteRate => rate(unit, "byte").or_else(|| rate(unit, "b")),
            Quantity::Percent => matches!(unit, "%" | "").then_some(1.0),
        }
    }

    /// Describes valid units, for messages.
    pub fn expected(self) -> String {
        match self {
            Quantity::Count(name) => format!("`{name}`, `K{name}`, `M{name}` or `G{name}`"),
            Quantity::Time => "`nsecond`, `usecond`, `msecond` or `second`".to_owned(),
            Quantity::Frequency => "`hz`, `Mhz`, `Ghz` or `cycle/nsecond`".to_owned(),
            Quantity::ByteRate => "`byte/second`, `Mbyte/second` or `Gbyte/second`".to_owned(),
            Quantity::Percent => "`%`".to_owned(),
        }
    }
}

/// Things with a decimal prefix; without a unit, just things.
fn count(unit: &str, name: &str) -> Option<f64> {
    if unit.is_empty() {
        return Some(1.0);
    }
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    let split = unit.len().checked_sub(name.len()).filter(|&at| unit.is_char_boundary(at))?;
    let (prefix, unit) = unit.split_at(split);
    if unit.eq_ignore_ascii_case(name) { decimal(prefix) } else { None }
}

fn decimal(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        "t" | "T" => 1e12,
        _ => return None,
    })
}

/// Returns the number of these units in a second.
fn per_second(unit: &str) -> Option<f64> {
    let unit = unit.strip_suffix("econd").or_else(|| unit.strip_suffix("econds")).unwrap_or(unit);
    Some(match unit {
        "s" => 1.0,
        "ms" => 1e3,
        "us" | "µs" | "μs" => 1e6,
        "ns" => 1e9,
        _ => return None,
    })
}

fn frequency(unit: &str) -> Option<f64> {
    let hz = (!unit.is_empty()).then(|| count(unit, "hz")).flatten();
    hz.or_else(|| rate(unit, "cycle"))
}

fn rate(unit: &str, name: &str) -> Option<f64> {
    let (above, below) = unit.split_once('/')?;
    Some(count(above, name)? * per_second(below)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Quantity::{ByteRate, Count, Frequency, Percent, Time};

    #[test]
    fn units_are_scaled_to_their_base() {
        let cases = [
            (Count("byte"), "Kbyte", 1e3),
            (Count("byte"), "Gbyte", 1e9),
            (Count("sector"), "sector", 1.0),
            (Count("inst"), "Minst", 1e6),
            (Count("cycle"), "", 1.0),
            (Count("cycle"), "cycles", 1.0),
            (Time, "nsecond", 1e-9),
            (Time, "usecond", 1e-6),
            (Time, "us", 1e-6),
            (Time, "msecond", 1e-3),
            (Time, "ms", 1e-3),
            (Time, "s", 1.0),
            (Time, "second", 1.0),
            (Frequency, "Ghz", 1e9),
            (Frequency, "GHz", 1e9),
            (Frequency, "Mhz", 1e6),
            (Frequency, "hz", 1.0),
            (Frequency, "cycle/nsecond", 1e9),
            (Frequency, "cycle/second", 1.0),
            (Frequency, "cycle/us", 1e6),
            (ByteRate, "Gbyte/second", 1e9),
            (ByteRate, "byte/second", 1.0),
            (ByteRate, "Gbyte/s", 1e9),
            (ByteRate, "GB/s", 1e9),
            (Percent, "%", 1.0),
        ];
        for (quantity, unit, factor) in cases {
            let found = quantity.factor(unit).unwrap_or_else(|| panic!("{unit}"));
            assert!((found / factor - 1.0).abs() < 1e-12, "{unit}: {found} for {factor}");
        }
    }

    #[test]
    fn other_units_are_refused() {
        let cases = [
            (Count("byte"), "sector"),
            (Count("cycle"), "%"),
            (Count("byte"), "éyte"),
            (Count("byte"), "Xbyte"),
            (Count("byte"), "Gbyte/second"),
            (Time, "hz"),
            (Time, ""),
            (Frequency, ""),
            (ByteRate, "%"),
            (Percent, "inst"),
        ];
        for (quantity, unit) in cases {
            assert_eq!(quantity.factor(unit), None, "{quantity:?} {unit}");
        }
    }
}
