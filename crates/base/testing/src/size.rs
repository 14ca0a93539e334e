//! Size of test runs: short by default, whole with `WARPMEM_LONG_TESTS=1`.

/// Returns whether products of test cases run whole, which takes several times as long.
pub fn is_long() -> bool {
    std::env::var_os("WARPMEM_LONG_TESTS").is_some_and(|value| value != "0")
}

/// Returns whether a cell of a product of test cases runs: each in a [long](is_long) run, otherwise
/// one in `every` along the diagonals, so that each row and each column of at least `every` cells
/// is represented.
pub fn is_sampled(row: usize, column: usize, every: usize) -> bool {
    is_long() || (row + column).is_multiple_of(every)
}

/// Returns the number of random cases of a property: `short`, or 16 times that in a [long](is_long)
/// run. Each run draws other cases.
pub fn cases(short: u32) -> u32 {
    if is_long() { 16 * short } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_and_column_is_sampled() {
        for line in 0..7 {
            assert!((0..5).any(|cell| is_sampled(line, cell, 5)));
            assert!((0..5).any(|cell| is_sampled(cell, line, 5)));
        }
    }
}
