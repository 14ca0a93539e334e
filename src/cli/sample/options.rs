//! Options that select a part of a trace, and the size of the sample.

use crate::study::sample::{Design, Selection, Size};
use crate::trace::Ranges;
use anyhow::bail;
use clap::Args;
use clap::builder::RangedU64ValueParser;

/// Which kernels and CTAs to select.
#[derive(Args, Clone, Debug)]
pub struct PartOptions {
    /// Kernels, by their numbers in `warpmem info`; all by default
    #[arg(long, value_name = "A..B,…")]
    kernels: Option<Ranges>,
    /// Kernels with this text in their names, among those selected
    #[arg(long, value_name = "TEXT")]
    kernel_name: Option<String>,
    /// Only the launch of each kernel with the most warp instructions
    #[arg(long)]
    longest: bool,
    /// CTAs of each kernel, by their numbers in launch order from 0; all by default. A kernel
    /// without any of them is left out
    #[arg(long, value_name = "A..B,…")]
    ctas: Option<Ranges>,
}

impl PartOptions {
    pub fn selection(&self) -> Selection {
        Selection {
            kernels: self.kernels.clone().unwrap_or_else(Ranges::all),
            kernel_name: self.kernel_name.clone(),
            longest: self.longest,
            ctas: self.ctas.clone().unwrap_or_else(Ranges::all),
        }
    }
}

/// Size of the random sample.
#[derive(Args, Clone, Debug)]
pub struct SizeOptions {
    /// Share of each kernel's CTAs to draw, as in 10% or 0.1; two CTAs at least
    #[arg(long, value_name = "SHARE", value_parser = parse_fraction, conflicts_with = "ctas_per_kernel")]
    fraction: Option<f64>,
    /// CTAs of each kernel to draw, two at least
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(1..))]
    ctas_per_kernel: Option<u32>,
    /// CTAs of each kernel to draw even if its share is smaller; a kernel with no more is kept
    /// whole
    #[arg(long, value_name = "N")]
    at_least: Option<u32>,
    /// Neighbouring CTAs to draw together; by default an eighth of a kernel's sample, 32 at most
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(1..))]
    run: Option<u32>,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl SizeOptions {
    /// Returns the design; none if everything is taken.
    pub fn design(&self) -> anyhow::Result<Option<Design>> {
        if self.size().is_none() && (self.run.is_some() || self.at_least.is_some()) {
            bail!(
                "--run and --at-least apply to random samples: give --fraction or --ctas-per-kernel too"
            );
        }
        Ok(self.size().map(|size| self.with(size)))
    }

    fn size(&self) -> Option<Size> {
        let ctas = self.ctas_per_kernel.map(Size::Ctas);
        self.fraction.map(Size::Fraction).or(ctas)
    }

    fn with(&self, size: Size) -> Design {
        let design = Design::of(size);
        let at_least = self.at_least.unwrap_or(design.at_least);
        Design { at_least, run: self.run, ..design }
    }
}

fn parse_fraction(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= unit => Ok(number / unit),
        _ => Err("valid are shares above 0 and at most 1, as in 10% or 0.1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_percentages_or_fractions() {
        assert_eq!(parse_fraction("10%"), Ok(0.1));
        assert_eq!(parse_fraction("2.5 %"), Ok(0.025));
        assert_eq!(parse_fraction("0.1"), Ok(0.1));
        assert_eq!(parse_fraction("100%"), Ok(1.0));
        for text in ["0", "0%", "-1", "1.01", "101%", "NaN", "inf", "", "%", "a"] {
            assert!(parse_fraction(text).is_err(), "{text}");
        }
    }
}
