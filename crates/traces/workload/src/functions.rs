//! Conversions and functions of lane values, issued as the instructions that a compiler emits.
//!
//! Results are identical on every platform: IEEE arithmetic, and `libm` for functions that IEEE
//! does not define exactly.

use std::f32::consts::{LN_2, LOG2_E};
use std::ops::Neg;

use half::f16;
use warpmem_trace::OpClass;

use super::warp::lanes::{Lanes, Operand};

impl<'w> Lanes<'w, u32> {
    /// `(float)x` (`I2F`)
    pub fn to_f32(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Integer, |value| value as f32)
    }

    /// `__umulhi`: the upper half of the product (`IMAD.HI.U32`)
    pub fn mul_high(self, factor: u32) -> Lanes<'w, u32> {
        let high = |value| ((u64::from(value) * u64::from(factor)) >> 32) as u32;
        self.converted(OpClass::Integer, high)
    }

    /// `__uint_as_float(x)`: the same register, no instruction.
    pub fn as_f32(self) -> Lanes<'w, f32> {
        self.view(f32::from_bits)
    }

    /// `(uint64_t)x` (`MOV` of the upper half)
    pub fn to_u64(self) -> Lanes<'w, u64> {
        self.converted(OpClass::Integer, u64::from)
    }
}

impl<'w> Lanes<'w, u8> {
    /// `(unsigned)x`: loads of bytes fill the register with zeros, no instruction.
    pub fn to_u32(self) -> Lanes<'w, u32> {
        self.view(u32::from)
    }
}

impl<'w> Lanes<'w, u64> {
    /// `(uint32_t)x`: the lower of two registers, no instruction.
    pub fn to_u32(self) -> Lanes<'w, u32> {
        self.view(|value| value as u32)
    }
}

impl<'w> Lanes<'w, u8> {
    /// `(float)x` (`I2F.U8`)
    pub fn to_f32(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Integer, f32::from)
    }
}

impl<'w> Lanes<'w, i16> {
    /// `(float)x` (`I2F.S16`)
    pub fn to_f32(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Integer, f32::from)
    }
}

impl<'w> Lanes<'w, f16> {
    /// `__half2float` (`HADD2.F32`)
    pub fn to_f32(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Fp16, f16::to_f32)
    }

    /// `__hmul`: the product, rounded to half precision (`HMUL2`).
    pub fn hmul(self, other: Lanes<'w, f16>) -> Lanes<'w, f16> {
        self.paired(OpClass::Fp16, other, product)
    }

    /// `__hadd`: the sum, rounded to half precision (`HADD2`).
    pub fn hadd(self, other: Lanes<'w, f16>) -> Lanes<'w, f16> {
        self.paired(OpClass::Fp16, other, sum)
    }
}

/// Two halves in one register.
impl<'w> Lanes<'w, [f16; 2]> {
    /// `__hmul2`: both products, each rounded to half precision.
    pub fn hmul2(self, other: Lanes<'w, [f16; 2]>) -> Lanes<'w, [f16; 2]> {
        self.paired(OpClass::Fp16, other, |[a, b], [c, d]| [product(a, c), product(b, d)])
    }

    /// `__hadd2`: both sums, each rounded to half precision.
    pub fn hadd2(self, other: Lanes<'w, [f16; 2]>) -> Lanes<'w, [f16; 2]> {
        self.paired(OpClass::Fp16, other, |[a, b], [c, d]| [sum(a, c), sum(b, d)])
    }
}

/// Computes the product in single precision, which holds it exactly (sums almost exactly), and
/// rounds it to half. Rounding twice equals rounding the exact result, because 24 bits are at least
/// twice 11 plus two (Figueroa 1995).
fn product(a: f16, b: f16) -> f16 {
    f16::from_f32(a.to_f32() * b.to_f32())
}

/// Computes the sum, rounded as [`product`].
fn sum(a: f16, b: f16) -> f16 {
    f16::from_f32(a.to_f32() + b.to_f32())
}

impl<'w> Lanes<'w, f16> {
    /// `__halves2half2` (`PRMT`)
    pub fn pack(self, upper: Lanes<'w, f16>) -> Lanes<'w, [f16; 2]> {
        self.paired(OpClass::Integer, upper, |lower, upper| [lower, upper])
    }
}

impl<'w> Lanes<'w, f32> {
    /// `__floats2half2_rn` (`F2FP.PACK_AB`)
    pub fn pack(self, upper: Lanes<'w, f32>) -> Lanes<'w, [f16; 2]> {
        self.paired(OpClass::Integer, upper, |a, b| [a, b].map(f16::from_f32))
    }

    /// `rsqrtf` within its usual range (`MUFU.RSQ`), rounded to nearest here.
    pub fn inverse_sqrt(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Sfu, |value| (1.0 / f64::from(value).sqrt()) as f32)
    }

    /// `__fdividef(1, x)` (`MUFU.RCP`), rounded to nearest here.
    pub fn reciprocal(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Sfu, |value| 1.0 / value)
    }

    /// `(unsigned)x`, truncating (`F2I`).
    pub fn to_u32(self) -> Lanes<'w, u32> {
        self.converted(OpClass::Integer, |value| value as u32)
    }

    /// `__float_as_uint(x)`: the same register, no instruction.
    pub fn as_u32(self) -> Lanes<'w, u32> {
        self.view(f32::to_bits)
    }

    /// `fabsf`: a modifier of the reading instruction, no instruction.
    pub fn abs(self) -> Lanes<'w, f32> {
        self.view(f32::abs)
    }

    /// `__float2half` (`F2F.F16`)
    pub fn to_f16(self) -> Lanes<'w, f16> {
        self.converted(OpClass::Integer, f16::from_f32)
    }

    /// `(unsigned char)rintf(x)` for values from 0 to 255 (`F2I.U8`)
    pub fn to_u8(self) -> Lanes<'w, u8> {
        self.converted(OpClass::Integer, |value| value.round_ties_even() as u8)
    }

    /// `(short)rintf(x)` for values that fit (`F2I.S16`)
    pub fn to_i16(self) -> Lanes<'w, i16> {
        self.converted(OpClass::Integer, |value| value.round_ties_even() as i16)
    }

    /// `sqrtf` as compiled, within its usual range: `MUFU.RSQ`, the range check (`IADD3`, `ISETP`),
    /// the untaken branch to the slow path, two `FMUL` and two `FFMA`.
    pub fn sqrt(self) -> Lanes<'w, f32> {
        let warp = self.warp();
        let inverse = warp.compute(OpClass::Sfu, &[self.register()]);
        let offset = warp.compute(OpClass::Integer, &[self.register()]);
        warp.compute(OpClass::Integer, &[Some(offset)]);
        warp.not_taken();
        let root = warp.compute(OpClass::Fp32, &[self.register(), Some(inverse)]);
        let half = warp.compute(OpClass::Fp32, &[Some(inverse)]);
        let error = warp.compute(OpClass::Fp32, &[Some(root), self.register()]);
        let register = warp.compute(OpClass::Fp32, &[error, half, root].map(Some));
        Lanes::new(warp, std::array::from_fn(|lane| self.lane(lane).sqrt()), Some(register))
    }

    /// `self / divisor` as compiled, without overflow: `MUFU.RCP`, `FCHK`, five `FFMA`, and the
    /// untaken branch to the slow path.
    pub fn divided_by(self, divisor: impl Operand<f32>) -> Lanes<'w, f32> {
        let warp = self.warp();
        let reciprocal = warp.compute(OpClass::Sfu, &[divisor.register()]);
        warp.compute(OpClass::Fp32, &[self.register(), divisor.register()]);
        let mut refined = reciprocal;
        for _ in 0..4 {
            let sources = [Some(refined), self.register(), divisor.register()];
            refined = warp.compute(OpClass::Fp32, &sources);
        }
        warp.not_taken();
        let register = warp.compute(OpClass::Fp32, &[Some(refined), divisor.register()]);
        let values = std::array::from_fn(|lane| self.lane(lane) / divisor.lane(lane));
        Lanes::new(warp, values, Some(register))
    }

    /// `exp2f` within its usual range (`MUFU.EX2`).
    pub fn exp2(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Sfu, exp2)
    }

    /// `__expf`: `FMUL` by log2(e), `MUFU.EX2`.
    pub fn exp(self) -> Lanes<'w, f32> {
        (self * LOG2_E).exp2()
    }

    /// `__logf`: `MUFU.LG2`, `FMUL` by ln(2).
    pub fn ln(self) -> Lanes<'w, f32> {
        self.converted(OpClass::Sfu, |value| libm::log2(value.into()) as f32) * LN_2
    }
}

/// Returns two to the power of `x`, identical on every platform.
pub fn exp2(x: f32) -> f32 {
    libm::exp2(x.into()) as f32
}

/// `-x`: a modifier of the reading instruction, no instruction.
impl<'w> Neg for Lanes<'w, f32> {
    type Output = Lanes<'w, f32>;
    fn neg(self) -> Lanes<'w, f32> {
        self.view(|value| -value)
    }
}
