//! Options that supply values missing from an input.

use crate::import;
use clap::value_parser;

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Values missing from the input")]
pub struct Assumptions {
    /// First use of the result of a load or atomic without registers: after N more instructions of
    /// its warp, or never
    #[arg(long, value_name = "N|never", default_value = "0", value_parser = parse_distance)]
    use_distance: Distance,
    /// Integer instructions before each memory instruction
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u32).range(0..=i64::from(import::Assumptions::MOST_GAP)))]
    gap: u32,
}

/// `None` means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Distance(Option<u32>);

fn parse_distance(text: &str) -> Result<Distance, String> {
    match text {
        "never" => Ok(Distance(None)),
        _ => match text.parse() {
            Ok(distance) => Ok(Distance(Some(distance))),
            Err(_) => Err("expected a number of instructions or `never`".to_owned()),
        },
    }
}

impl From<&Assumptions> for import::Assumptions {
    fn from(args: &Assumptions) -> import::Assumptions {
        import::Assumptions { use_distance: args.use_distance.0, gap: args.gap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_numbers_or_never() {
        assert_eq!(parse_distance("never"), Ok(Distance(None)));
        assert_eq!(parse_distance("12"), Ok(Distance(Some(12))));
        for text in ["", "none", "-1", "1.5"] {
            assert!(parse_distance(text).is_err(), "{text}");
        }
    }
}
