//! Table cells.

use crate::study::kernel_name::readable;
use warpmem_support::text::shortened;

/// Placeholder where nothing was counted.
const NOTHING: &str = "–";
/// Maximum length of a kernel's name, characters, and the length in wide tables.
const NAME: usize = 28;
const HEAD: usize = 12;

pub fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// Formats a number with `digits` decimals.
pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(NOTHING.to_owned(), |value| format!("{value:.digits$}"))
}

pub fn percent(share: Option<f64>) -> String {
    share.map_or(NOTHING.to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// Formats a share of a whole in percent; empty if the whole is zero.
pub fn percent_of(part: u64, whole: u64) -> String {
    percent((whole > 0).then(|| part as f64 / whole as f64))
}

/// Formats a share in percent without decimals.
pub fn whole(part: u64, whole: u64) -> String {
    match whole {
        0 => NOTHING.to_owned(),
        _ => format!("{:.0} %", 100.0 * part as f64 / whole as f64),
    }
}

pub fn count(value: Option<u32>) -> String {
    value.map_or(NOTHING.to_owned(), |value| value.to_string())
}

/// Formats bytes: `12`, `4.0 KiB`, `1.5 MiB`.
pub fn bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes >> shift > 0);
    unit.map_or(format!("{bytes} B"), |(shift, unit)| {
        format!("{:.1} {unit}", bytes as f64 / f64::from(1u32 << shift))
    })
}

/// Formats `16 KiB` for whole multiples of a KiB.
pub fn size(bytes: u64) -> String {
    let units = [(20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|&(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    unit.map_or(format!("{bytes} B"), |(shift, unit)| format!("{} {unit}", bytes >> shift))
}

/// Formats `bfs_kernel ×12`; a mangled name is demangled, a long one truncated.
pub fn kernel(name: &str, launches: u64) -> String {
    format!("{}{}", cut(&readable(name)), times(launches))
}

/// Formats a shorter heading with the kernel's number, because names may share beginnings and ends.
pub fn column(number: usize, name: &str, launches: u64) -> String {
    format!("{number} {}{}", shortened(&readable(name), HEAD), times(launches))
}

fn times(launches: u64) -> String {
    if launches > 1 { format!(" ×{launches}") } else { String::new() }
}

pub fn cut(name: &str) -> String {
    shortened(name, NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_what_was_not_counted() {
        assert_eq!((number(Some(1.25), 1), number(None, 1)), ("1.2".to_owned(), "–".to_owned()));
        assert_eq!((percent(Some(0.125)), percent(None)), ("12.5 %".to_owned(), "–".to_owned()));
        assert_eq!((percent_of(1, 8), percent_of(0, 0)), ("12.5 %".to_owned(), "–".to_owned()));
        assert_eq!((whole(1, 8), whole(0, 0)), ("12 %".to_owned(), "–".to_owned()));
        assert_eq!((count(Some(3)), count(None)), ("3".to_owned(), "–".to_owned()));
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            [0, 1023, 1536, 3 << 20, 5 << 30].map(bytes),
            ["0 B", "1023 B", "1.5 KiB", "3.0 MiB", "5.0 GiB"]
        );
        assert_eq!([16 << 10, 6 << 20, 1000].map(size), ["16 KiB", "6 MiB", "1000 B"]);
    }

    #[test]
    fn names_are_cut_and_launches_counted() {
        assert_eq!(kernel("bfs", 1), "bfs");
        assert_eq!(kernel("_Z4scanIfEvPT_", 12), "scan<float> ×12");
        assert_eq!(kernel("bfs", 40), "bfs ×40");
        let long = format!("{}{}", "a".repeat(40), "b".repeat(20));
        assert_eq!(kernel(&long, 2), format!("{}…{} ×2", "a".repeat(18), "b".repeat(9)));
        assert_eq!(column(3, &long, 1), format!("3 {}…{}", "a".repeat(7), "b".repeat(4)));
    }
}
