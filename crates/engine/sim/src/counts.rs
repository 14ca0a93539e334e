//! Arithmetic on the counts of units: sums over units, differences between two times, and weighted
//! sums of differences.
//!
//! Each crate declares its counts' fields once, with [`count_fields`](crate::count_fields).

use crate::Histogram;
use crate::times::Times;

/// Returns the sum of `units`, count by count.
pub fn total<T: Total>(units: &[T]) -> T {
    units.iter().fold(T::default(), |mut sum, unit| {
        sum.add(unit);
        sum
    })
}

/// Counts that add up over units.
pub trait Total: Default {
    fn add(&mut self, other: &Self);
}

/// Monotonic counts.
pub trait Since {
    /// Subtracts `before`, an earlier state of the same counts.
    fn subtract(&mut self, before: &Self);
}

/// Counts of one unit, extrapolated from periods that each stand for several.
pub trait Weigh {
    /// Adds `times` the difference between `before` and `after`, two states of the same counts.
    fn weigh(&mut self, before: &Self, after: &Self, times: Times);
}

impl Since for u64 {
    fn subtract(&mut self, before: &u64) {
        *self -= before;
    }
}

impl<const N: usize> Since for [u64; N] {
    fn subtract(&mut self, before: &[u64; N]) {
        self.iter_mut().zip(before).for_each(|(mine, theirs)| *mine -= theirs);
    }
}

impl<T: Since> Since for Vec<T> {
    fn subtract(&mut self, before: &Vec<T>) {
        self.iter_mut().zip(before).for_each(|(mine, theirs)| mine.subtract(theirs));
    }
}

macro_rules! add_numbers {
    ($($type:ty),*) => {
        $(impl Total for $type {
            fn add(&mut self, other: &$type) {
                *self += other;
            }
        })*
    };
}

add_numbers!(u64, i128);

impl<const N: usize> Total for [u64; N]
where
    [u64; N]: Default,
{
    fn add(&mut self, other: &[u64; N]) {
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }
}

macro_rules! weigh_numbers {
    ($($type:ty, $of:ident;)*) => {
        $(impl Weigh for $type {
            fn weigh(&mut self, before: &$type, after: &$type, times: Times) {
                *self += times.$of(after - before);
            }
        })*
    };
}

weigh_numbers!(u64, of; u128, of_sum; i128, of_difference;);

impl<T: Weigh, const N: usize> Weigh for [T; N] {
    fn weigh(&mut self, before: &[T; N], after: &[T; N], times: Times) {
        let states = before.iter().zip(after);
        self.iter_mut().zip(states).for_each(|(mine, (before, after))| {
            mine.weigh(before, after, times);
        });
    }
}

/// Entries missing from `before` or `self` count as zero.
impl<T: Weigh + Default + Clone> Weigh for Vec<T> {
    fn weigh(&mut self, before: &Vec<T>, after: &Vec<T>, times: Times) {
        self.resize(self.len().max(after.len()), T::default());
        let nothing = T::default();
        for (at, (mine, after)) in self.iter_mut().zip(after).enumerate() {
            mine.weigh(before.get(at).unwrap_or(&nothing), after, times);
        }
    }
}

impl Weigh for Histogram {
    fn weigh(&mut self, before: &Histogram, after: &Histogram, times: Times) {
        self.merge_since(before, after, times);
    }
}

impl Total for Histogram {
    fn add(&mut self, other: &Histogram) {
        self.merge(other);
    }
}

/// Indexed by a value; missing entries count as zero.
impl Total for Vec<u64> {
    fn add(&mut self, other: &Vec<u64>) {
        self.resize(self.len().max(other.len()), 0);
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Adds, subtracts and weighs field by field; the patterns name every field, so that none can be
/// forgotten. Lists after `append` are concatenated by addition.
#[macro_export]
macro_rules! count_fields {
    ($type:ident { $($field:ident),* $(,)? } $(append { $($list:ident),* $(,)? })?) => {
        $crate::add_fields!($type { $($field),* } $(append { $($list),* })?);
        $crate::subtract_fields!($type { $($field,)* $($($list),*)? });
    };
}

/// Subtracts field by field.
#[macro_export]
macro_rules! subtract_fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Since for $type {
            fn subtract(&mut self, before: &$type) {
                let $type { $($field),* } = before;
                $($crate::Since::subtract(&mut self.$field, $field);)*
            }
        }
    };
}

/// Adds and weighs field by field.
#[macro_export]
macro_rules! add_fields {
    ($type:ident { $($field:ident),* $(,)? } $(append { $($list:ident),* $(,)? })?) => {
        impl $crate::Total for $type {
            fn add(&mut self, other: &$type) {
                let $type { $($field,)* $($($list),*)? } = other;
                $($crate::Total::add(&mut self.$field, $field);)*
                $($(self.$list.extend_from_slice($list);)*)?
            }
        }

        $crate::weigh_fields!($type { $($field,)* $($($list),*)? });
    };
}

/// Weighs field by field. Fields after `keep` are not counts and take the value of the last state.
#[macro_export]
macro_rules! weigh_fields {
    ($type:ident { $($field:ident),* $(,)? } $(keep { $($kept:ident),* $(,)? })?) => {
        impl $crate::Weigh for $type {
            fn weigh(&mut self, before: &$type, after: &$type, times: $crate::Times) {
                let $type { $($field,)* $($($kept),*)? } = after;
                $($crate::Weigh::weigh(&mut self.$field, &before.$field, $field, times);)*
                $($(self.$kept = *$kept;)*)?
            }
        }
    };
}

/// Returns `above / below`; none if `below` is 0.
pub fn quotient(above: u64, below: u64) -> Option<f64> {
    (below > 0).then(|| above as f64 / below as f64)
}
