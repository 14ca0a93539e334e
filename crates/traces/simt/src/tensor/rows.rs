//! Rows of a box: the part of each that is inside the tensor, and its address.

use super::{TensorAxis, TensorMap};

/// A row of the box, along the innermost dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Offset in the box, bytes.
    pub at: u64,
    /// Part inside the tensor.
    pub inside: Option<RowPart>,
}

/// A part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowPart {
    /// Offset in the row, bytes.
    pub skipped: u64,
    /// Address in global memory.
    pub address: u64,
    pub bytes: u64,
}

impl TensorMap {
    pub(super) fn row_count(&self) -> u64 {
        self.axes[1..].iter().map(TensorAxis::count).product()
    }

    /// Returns the rows of the box at some coordinates, one per dimension.
    pub(crate) fn rows<'a>(&'a self, coordinates: &'a [i32]) -> impl Iterator<Item = Row> + 'a {
        let row_bytes = self.row_bytes();
        let first = self.first_row(coordinates[0]);
        (0..self.row_count()).map(move |number| {
            let before = self.bytes_before(number, &coordinates[1..]);
            let inside = first.zip(before).map(|(part, before)| RowPart {
                address: part.address.wrapping_add(before),
                ..part
            });
            Row { at: number * row_bytes, inside }
        })
    }

    /// Returns the part of a box row inside the tensor's first row, for a box that starts at `coordinate`.
    fn first_row(&self, coordinate: i32) -> Option<RowPart> {
        let TensorAxis { size, stride, extent, .. } = self.axes[0];
        let (from, to) = (i64::from(coordinate), i64::from(coordinate) + i64::from(extent));
        let (first, end) = (from.max(0), to.min(size as i64));
        (first < end).then(|| RowPart {
            skipped: (first - from) as u64 * stride,
            address: self.address.wrapping_add(first as u64 * stride),
            bytes: (end - first) as u64 * stride,
        })
    }

    /// Returns the distance, in bytes, from the tensor's first row to row `number` of the box, if inside the
    /// tensor.
    fn bytes_before(&self, number: u64, coordinates: &[i32]) -> Option<u64> {
        let mut rest = number;
        let mut bytes = 0u64;
        for (axis, &coordinate) in self.axes[1..].iter().zip(coordinates) {
            let at = (rest % axis.count()) as i64 * i64::from(axis.step);
            rest /= axis.count();
            let element = u64::try_from(i64::from(coordinate) + at).ok()?;
            if element >= axis.size {
                return None;
            }
            bytes = bytes.wrapping_add(element.wrapping_mul(axis.stride));
        }
        Some(bytes)
    }
}

impl Row {
    /// Returns the byte ranges of a row of `bytes` bytes that are outside the tensor.
    pub fn outside(&self, bytes: u64) -> [std::ops::Range<u64>; 2] {
        match self.inside {
            None => [0..bytes, bytes..bytes],
            Some(part) => [0..part.skipped, part.skipped + part.bytes..bytes],
        }
    }
}

/// Returns addresses and bytes of the rows in global memory; merges contiguous rows.
pub(crate) fn pieces(rows: &[Row]) -> Vec<(u64, u64)> {
    let mut pieces: Vec<(u64, u64)> = Vec::new();
    for part in rows.iter().filter_map(|row| row.inside) {
        match pieces.last_mut() {
            Some((address, bytes)) if *address + *bytes == part.address => *bytes += part.bytes,
            _ => pieces.push((part.address, part.bytes)),
        }
    }
    pieces
}
