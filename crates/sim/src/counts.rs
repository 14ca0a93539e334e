//! Counts of units: sums over units of one kind, and differences between two times.
//!
//! Each crate declares its counts' fields once, with [`count_fields`](crate::count_fields).

use crate::Histogram;

/// The sum of `units`, count by count.
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

/// Counts that only grow.
pub trait Since {
    /// Subtracts `before`, an earlier state of the same counts.
    fn subtract(&mut self, before: &Self);
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

impl Total for u64 {
    fn add(&mut self, other: &u64) {
        *self += other;
    }
}

impl<const N: usize> Total for [u64; N]
where
    [u64; N]: Default,
{
    fn add(&mut self, other: &[u64; N]) {
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }
}

impl Total for Histogram {
    fn add(&mut self, other: &Histogram) {
        self.merge(other);
    }
}

/// By value of something: that of a longer list is 0 in a shorter.
impl Total for Vec<u64> {
    fn add(&mut self, other: &Vec<u64>) {
        self.resize(self.len().max(other.len()), 0);
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Adds and subtracts field by field; the patterns name every field, so that a new one cannot be
/// forgotten. Lists after `append` are put one behind the other where the rest is added.
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

/// Adds field by field.
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
    };
}

/// `above / below`; none where there is nothing below.
pub fn quotient(above: u64, below: u64) -> Option<f64> {
    (below > 0).then(|| above as f64 / below as f64)
}
