//! Classification of workloads: figures of a workload's runs on a machine and on ideal machines,
//! and the papers' classes derived from them.
//!
//! Sources: Li 2015, Jog et al. (OWL) 2013, Yuan et al. 2009, Warped-MC 2023, Shin et al. 2018.
//! [`cells`] lists the required runs. The class of translation divergence is determined by the
//! trace alone.

mod cells;
mod columns;
mod figures;

pub use cells::{AlreadyIdeal, RUNS, cells, classified, machines, small_pages_per_instruction};
pub use columns::columns;
pub use figures::{Classified, Ideal, Runs, peak_ipc};

/// Memory sensitivity (Li 2015, chapter 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitivity {
    Insensitive,
    /// Sensitive; inter-core locality is unknown, because there is no L2.
    Sensitive,
    /// Sensitive, low inter-core locality.
    Low,
    /// Sensitive, high inter-core locality.
    High,
}

impl Sensitivity {
    /// Classifies by the speedup with perfect DRAM, and the fraction of cycles with inter-core
    /// locality.
    ///
    /// The thesis does not define exactly 10 %; it counts as low here.
    pub fn of(perfect_dram: f64, inter_core_locality: Option<f64>) -> Sensitivity {
        match inter_core_locality {
            _ if perfect_dram < 1.2 => Sensitivity::Insensitive,
            None => Sensitivity::Sensitive,
            Some(fraction) if fraction > 0.1 => Sensitivity::High,
            Some(_) => Sensitivity::Low,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Sensitivity::Insensitive => "insensitive",
            Sensitivity::Sensitive => "sensitive",
            Sensitivity::Low => "LIL",
            Sensitivity::High => "HIL",
        }
    }
}

/// Memory intensity (OWL, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Highly memory-intensive.
    One,
    Two,
}

impl Type {
    /// Classifies by the speedup with a perfect L1.
    pub fn of(perfect_l1: f64) -> Type {
        if perfect_l1 >= 1.4 { Type::One } else { Type::Two }
    }

    pub fn name(self) -> &'static str {
        match self {
            Type::One => "Type-1",
            Type::Two => "Type-2",
        }
    }
}

/// Off-chip access (Warped-MC, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffChip {
    Low,
    Medium,
    High,
}

impl OffChip {
    /// Classifies by the mean number of off-chip requests per load. In the paper low is below 1,
    /// medium from 2 to 8, and high above. The paper leaves 1 to 2 undefined; it counts as medium
    /// here.
    pub fn of(per_load: f64) -> OffChip {
        match per_load {
            _ if per_load < 1.0 => OffChip::Low,
            _ if per_load > 8.0 => OffChip::High,
            _ => OffChip::Medium,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            OffChip::Low => "LOA",
            OffChip::Medium => "MOA",
            OffChip::High => "HOA",
        }
    }
}

/// Pages of 4 KiB per instruction from which translation divergence is medium: two
/// translations each.
const MEDIUM_PAGES: f64 = 2.0;

/// Pages of 4 KiB per instruction from which translation divergence is high: at most four lanes per
/// page.
const HIGH_PAGES: f64 = 8.0;

/// Translation divergence. Shin et al. 2018 divide programs into regular and irregular ones by this
/// behaviour; the thresholds are a choice of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    Low,
    Medium,
    High,
}

impl Translation {
    /// Classifies by the mean number of distinct 4 KiB pages per global or local memory
    /// instruction.
    pub fn of(per_instruction: f64) -> Translation {
        match per_instruction {
            _ if per_instruction < MEDIUM_PAGES => Translation::Low,
            _ if per_instruction < HIGH_PAGES => Translation::Medium,
            _ => Translation::High,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Translation::Low => "LTD",
            Translation::Medium => "MTD",
            Translation::High => "HTD",
        }
    }
}

/// The three criteria of Yuan 2009, section 4, for selecting workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criteria {
    /// IPC below 75 % of the peak.
    pub is_slow: bool,
    /// DRAM data bus busy for more than 20 % of the time, mean over channels.
    pub uses_dram: bool,
    /// DRAM efficiency below 90 %, mean over channels.
    pub wastes_dram: bool,
}

impl Criteria {
    /// Evaluates the criteria; DRAM without any request is neither used nor wasted.
    pub fn of(ipc_over_peak: f64, utilization: Option<f64>, efficiency: Option<f64>) -> Criteria {
        Criteria {
            is_slow: ipc_over_peak < 0.75,
            uses_dram: utilization.is_some_and(|share| share > 0.2),
            wastes_dram: efficiency.is_some_and(|share| share < 0.9),
        }
    }

    pub fn is_memory_bound(self) -> bool {
        self.is_slow && self.uses_dram && self.wastes_dram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a threshold and its two neighbouring numbers.
    fn around(threshold: f64) -> [f64; 3] {
        [threshold.next_down(), threshold, threshold.next_up()]
    }

    #[test]
    fn a_fifth_faster_with_perfect_dram_is_sensitive() {
        let of = |speedup| Sensitivity::of(speedup, Some(0.0));
        use Sensitivity::{High, Insensitive, Low, Sensitive};
        assert_eq!(around(1.2).map(of), [Insensitive, Low, Low]);
        assert_eq!(Sensitivity::of(1.1, Some(1.0)), Insensitive, "whatever is shared");
        let sharing = |fraction| Sensitivity::of(2.0, Some(fraction));
        assert_eq!(around(0.1).map(sharing), [Low, Low, High]);
        assert_eq!(
            [1.1, 1.2].map(|speedup| Sensitivity::of(speedup, None)),
            [Insensitive, Sensitive]
        );
    }

    #[test]
    fn type_1_is_two_fifths_faster_with_a_perfect_l1() {
        assert_eq!(around(1.4).map(Type::of), [Type::Two, Type::One, Type::One]);
    }

    #[test]
    fn off_chip_access_is_low_below_1_and_high_above_8() {
        use OffChip::{High, Low, Medium};
        assert_eq!(around(1.0).map(OffChip::of), [Low, Medium, Medium]);
        assert_eq!([0.0, 1.5, 2.0, 32.0].map(OffChip::of), [Low, Medium, Medium, High]);
        assert_eq!(around(8.0).map(OffChip::of), [Medium, Medium, High]);
    }

    #[test]
    fn translation_divergence_is_low_below_2_and_high_from_8() {
        use Translation::{High, Low, Medium};
        assert_eq!(around(MEDIUM_PAGES).map(Translation::of), [Low, Medium, Medium]);
        assert_eq!(around(HIGH_PAGES).map(Translation::of), [Medium, High, High]);
        assert_eq!([1.0, 32.0].map(Translation::of), [Low, High]);
    }

    #[test]
    fn yuans_criteria_hold_together_or_not() {
        let of = |ipc, utilization, efficiency| {
            let Criteria { is_slow, uses_dram, wastes_dram } =
                Criteria::of(ipc, Some(utilization), Some(efficiency));
            [is_slow, uses_dram, wastes_dram]
        };
        assert_eq!(around(0.75).map(|ipc| of(ipc, 0.5, 0.5)[0]), [true, false, false]);
        assert_eq!(around(0.2).map(|share| of(0.5, share, 0.5)[1]), [false, false, true]);
        assert_eq!(around(0.9).map(|share| of(0.5, 0.5, share)[2]), [true, false, false]);
        let bound = |ipc, utilization, efficiency| {
            Criteria::of(ipc, Some(utilization), Some(efficiency)).is_memory_bound()
        };
        assert!(bound(0.7, 0.3, 0.8));
        assert!(!bound(0.8, 0.3, 0.8) && !bound(0.7, 0.1, 0.8) && !bound(0.7, 0.3, 0.95));
        assert!(!Criteria::of(0.1, None, None).is_memory_bound(), "without DRAM");
    }

    #[test]
    fn classes_have_the_papers_names() {
        use Sensitivity::{High, Insensitive, Low, Sensitive};
        let names = [Insensitive, Sensitive, Low, High].map(Sensitivity::name);
        assert_eq!(names, ["insensitive", "sensitive", "LIL", "HIL"]);
        assert_eq!([Type::One, Type::Two].map(Type::name), ["Type-1", "Type-2"]);
        let off_chip = [OffChip::Low, OffChip::Medium, OffChip::High].map(OffChip::name);
        assert_eq!(off_chip, ["LOA", "MOA", "HOA"]);
    }

    #[test]
    fn classes_of_translation_divergence_are_named_like_those_of_off_chip_access() {
        let all = [Translation::Low, Translation::Medium, Translation::High];
        assert_eq!(all.map(Translation::name), ["LTD", "MTD", "HTD"]);
    }
}
