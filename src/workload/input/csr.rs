//! Compressed sparse rows: the structure of a graph or of a sparse matrix.

/// Row `r` holds `columns[offsets[r]..offsets[r + 1]]`, ascending and without repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    pub offsets: Vec<u32>,
    pub columns: Vec<u32>,
}

impl Csr {
    /// From (row, column) pairs in any order; repeats are dropped.
    pub fn from_pairs(rows: u32, mut pairs: Vec<(u32, u32)>) -> Csr {
        pairs.sort_unstable();
        pairs.dedup();
        let mut offsets = vec![0u32; rows as usize + 1];
        for &(row, _) in &pairs {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..rows as usize {
            offsets[row + 1] += offsets[row];
        }
        Csr { offsets, columns: pairs.into_iter().map(|(_, column)| column).collect() }
    }

    pub fn rows(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// Columns of row `row`.
    #[cfg(test)]
    pub fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.columns[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Number of columns in row `row`.
    pub fn degree(&self, row: u32) -> u32 {
        self.offsets[row as usize + 1] - self.offsets[row as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_into_rows_without_repeats() {
        let csr = Csr::from_pairs(4, vec![(2, 1), (0, 3), (0, 1), (2, 1), (3, 0)]);
        assert_eq!(csr.offsets, [0, 2, 2, 3, 4]);
        assert_eq!(csr.columns, [1, 3, 1, 0]);
        assert_eq!((csr.rows(), csr.row(0), csr.degree(1)), (4, &[1, 3][..], 0));
    }
}
