//! The launches of a profile.

use super::readings::{Reading, Readings};
use std::fmt;

/// Size of a grid or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Dimensions([u32; 3]),
    /// The product of the dimensions.
    Total(u64),
}

impl Extent {
    /// Parses `(32, 1, 1)`, or a product.
    pub(super) fn parse(text: &str) -> Option<Extent> {
        let is_separator = |c: char| !c.is_ascii_digit();
        let numbers = text.split(is_separator).filter(|number| !number.is_empty());
        let numbers = numbers.map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>()?;
        match numbers[..] {
            [x, y, z] => Some(Extent::Dimensions([x, y, z])),
            [total] => Some(Extent::Total(total.into())),
            _ => None,
        }
    }

    /// Whether these dimensions agree with the known ones.
    pub(super) fn fits(self, dimensions: [u32; 3]) -> bool {
        match self {
            Extent::Dimensions(known) => known == dimensions,
            Extent::Total(total) => {
                let product = dimensions.iter().map(|&size| u128::from(size)).product::<u128>();
                u128::from(total) == product
            }
        }
    }
}

impl fmt::Display for Extent {
    /// Formats the dimensions: `32x1x1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Dimensions([x, y, z]) => write!(f, "{x}x{y}x{z}"),
            Extent::Total(total) => write!(f, "{total}"),
        }
    }
}

/// A launch, or several of a kernel as their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub name: String,
    pub grid: Option<Extent>,
    pub block: Option<Extent>,
    /// Number of launches of which the readings are the mean, if the profiler printed a mean.
    pub mean_of: Option<u64>,
    pub(super) readings: Readings,
}

impl fmt::Display for Launch {
    /// Formats the name, and grid and block if both are known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.grid.zip(self.block) {
            Some((grid, block)) => write!(f, "{} {grid} x {block}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Launch {
    /// Returns the clock of the SMs, Hz.
    pub fn sm_clock(&self) -> Option<f64> {
        self.readings.get(Reading::SmClock).filter(|&hz| hz > 0.0)
    }

    /// Returns the clock of DRAM, Hz: half of the data rate of a pin.
    pub fn dram_clock(&self) -> Option<f64> {
        self.readings.get(Reading::DramClock).filter(|&hz| hz > 0.0)
    }

    /// Whether cycles are known only as a duration.
    pub fn has_only_duration(&self) -> bool {
        let has = |reading| self.readings.get(reading).is_some();
        has(Reading::Duration) && !has(Reading::Cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_have_three_dimensions_or_a_product() {
        let known = Some(Extent::Dimensions([32, 4, 1]));
        for text in ["(32, 4, 1)", "32,4,1", "( 32,  4,  1 )", "32x4x1"] {
            assert_eq!(Extent::parse(text), known, "{text}");
        }
        assert_eq!(Extent::parse("128"), Some(Extent::Total(128)));
        for text in ["", "(1, 2)", "(1, 2, 3, 4)", "99999999999"] {
            assert_eq!(Extent::parse(text), None, "{text}");
        }
        assert!(Extent::Total(128).fits([32, 4, 1]) && !Extent::Total(129).fits([32, 4, 1]));
        assert!(!Extent::Dimensions([128, 1, 1]).fits([32, 4, 1]));
    }
}
