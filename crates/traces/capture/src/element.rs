//! Types of array elements and scalar arguments.

use half::{bf16, f16};

use crate::number::Number;

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

use Element::*;

/// Each type with its name and NumPy's.
const ELEMENTS: [(Element, &str, &str); 12] = [
    (U8, "u8", "|u1"),
    (S8, "s8", "|i1"),
    (U16, "u16", "<u2"),
    (S16, "s16", "<i2"),
    (U32, "u32", "<u4"),
    (S32, "s32", "<i4"),
    (U64, "u64", "<u8"),
    (S64, "s64", "<i8"),
    (F16, "f16", "<f2"),
    // NumPy lacks this type and stores its bits.
    (Bf16, "bf16", "<u2"),
    (F32, "f32", "<f4"),
    (F64, "f64", "<f8"),
];

impl Element {
    /// Returns the type called `name`, as `f32`.
    pub fn named(name: &str) -> Option<Element> {
        ELEMENTS.iter().find(|(_, known, _)| *known == name).map(|&(element, ..)| element)
    }

    /// Lists the names of all types, for messages.
    pub fn names() -> String {
        ELEMENTS.map(|(_, name, _)| name).join(", ")
    }

    pub fn name(self) -> &'static str {
        ELEMENTS[self as usize].1
    }

    /// Returns the type's description in a `.npy` header.
    pub(crate) fn numpy(self) -> &'static str {
        ELEMENTS[self as usize].2
    }

    /// Returns the type that a `.npy` header describes.
    pub(crate) fn of_numpy(described: &str) -> Option<Element> {
        ELEMENTS.iter().find(|(_, _, known)| *known == described).map(|&(element, ..)| element)
    }

    pub fn bytes(self) -> usize {
        match self {
            U8 | S8 => 1,
            U16 | S16 | F16 | Bf16 => 2,
            U32 | S32 | F32 => 4,
            U64 | S64 | F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, F16 | Bf16 | F32 | F64)
    }

    /// Returns the smallest and the largest integer of the type.
    pub(crate) fn range(self) -> [i128; 2] {
        let bits = 8 * self.bytes();
        match self {
            S8 | S16 | S32 | S64 => [-(1 << (bits - 1)), (1 << (bits - 1)) - 1],
            _ => [0, (1 << bits) - 1],
        }
    }

    /// Encodes a number; `None` if the type cannot represent it.
    pub(crate) fn encode(self, number: Number) -> Option<Vec<u8>> {
        Some(match (self, number) {
            (F16, number) => f16::from_f64(number.real()).to_le_bytes().to_vec(),
            (Bf16, number) => bf16::from_f64(number.real()).to_le_bytes().to_vec(),
            (F32, number) => (number.real() as f32).to_le_bytes().to_vec(),
            (F64, number) => number.real().to_le_bytes().to_vec(),
            (_, Number::Whole(whole)) => {
                let [least, most] = self.range();
                let fits = (least..=most).contains(&whole);
                fits.then(|| whole.to_le_bytes()[..self.bytes()].to_vec())?
            }
            (_, Number::Real(_)) => return None,
        })
    }

    /// Decodes a number.
    ///
    /// # Panics
    /// When `bytes` is shorter than the type.
    pub(crate) fn decode(self, bytes: &[u8]) -> Number {
        let mut all = [0; 16];
        all[..self.bytes()].copy_from_slice(&bytes[..self.bytes()]);
        let bits = u128::from_le_bytes(all);
        match self {
            F16 => Number::Real(f16::from_bits(bits as u16).to_f64()),
            Bf16 => Number::Real(bf16::from_bits(bits as u16).to_f64()),
            F32 => Number::Real(f32::from_bits(bits as u32).into()),
            F64 => Number::Real(f64::from_bits(bits as u64)),
            S8 | S16 | S32 | S64 => {
                let spare = 128 - 8 * self.bytes();
                Number::Whole((bits as i128) << spare >> spare)
            }
            U8 | U16 | U32 | U64 => Number::Whole(bits as i128),
        }
    }
}
