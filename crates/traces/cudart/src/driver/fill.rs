//! Fills, with values of 8, 16 and 32 bits.

use crate::driver::functions;
use crate::runtime::Address;
use crate::status::{Outcome, Status};

/// Returns the bytes of `count` values.
fn bytes_of<T>(count: usize) -> Outcome<u64> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or(Status::INVALID_VALUE)?;
    Ok(bytes as u64)
}

/// Defines the functions that fill a line of values or a rectangle.
macro_rules! fills {
    ($($line:ident, $line_async:ident, $rows:ident, $rows_async:ident: $type:ty;)*) => {
        functions! { in_context:
            $(
                fn $line(to: Address, value: $type, count: usize) |engine| {
                    let bytes = bytes_of::<$type>(count)?;
                    engine.fill(to, 0, &value.to_le_bytes(), bytes, 1)
                }

                fn $line_async(to: Address, value: $type, count: usize, stream: Address) |engine| {
                    engine.clock.stream(stream)?;
                    let bytes = bytes_of::<$type>(count)?;
                    engine.fill(to, 0, &value.to_le_bytes(), bytes, 1)
                }

                fn $rows(
                    to: Address,
                    pitch: usize,
                    value: $type,
                    width: usize,
                    height: usize,
                ) |engine| {
                    let bytes = bytes_of::<$type>(width)?;
                    engine.fill(to, pitch as u64, &value.to_le_bytes(), bytes, height as u64)
                }

                fn $rows_async(
                    to: Address,
                    pitch: usize,
                    value: $type,
                    width: usize,
                    height: usize,
                    stream: Address,
                ) |engine| {
                    engine.clock.stream(stream)?;
                    let bytes = bytes_of::<$type>(width)?;
                    engine.fill(to, pitch as u64, &value.to_le_bytes(), bytes, height as u64)
                }
            )*
        }
    };
}

fills! {
    cuMemsetD8_v2, cuMemsetD8Async, cuMemsetD2D8_v2, cuMemsetD2D8Async: u8;
    cuMemsetD16_v2, cuMemsetD16Async, cuMemsetD2D16_v2, cuMemsetD2D16Async: u16;
    cuMemsetD32_v2, cuMemsetD32Async, cuMemsetD2D32_v2, cuMemsetD2D32Async: u32;
}
