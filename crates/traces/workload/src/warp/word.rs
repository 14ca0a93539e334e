//! Values that lanes load and store.

use std::fmt::Debug;

use half::f16;

/// A value that one lane loads or stores in one access. Little-endian in memory.
pub trait Word: Copy + Debug + PartialEq + 'static {
    const BYTES: usize;
    const ZERO: Self;
    fn decode(bytes: &[u8]) -> Self;
    fn encode(self, bytes: &mut [u8]);
}

macro_rules! number_words {
    ($($t:ty),*) => {$(
        impl Word for $t {
            const BYTES: usize = size_of::<$t>();
            const ZERO: $t = 0 as $t;
            fn decode(bytes: &[u8]) -> $t {
                let mut word = [0; size_of::<$t>()];
                word.copy_from_slice(bytes);
                <$t>::from_le_bytes(word)
            }
            fn encode(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
number_words!(u8, i16, u32, u64, f32, f64);

/// Half precision.
impl Word for f16 {
    const BYTES: usize = 2;
    const ZERO: f16 = f16::ZERO;
    fn decode(bytes: &[u8]) -> f16 {
        f16::from_le_bytes([bytes[0], bytes[1]])
    }
    fn encode(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.to_le_bytes());
    }
}

/// CUDA's vector types (`float4`, `int2`) and structures of one element type.
impl<T: Word, const N: usize> Word for [T; N] {
    const BYTES: usize = N * T::BYTES;
    const ZERO: [T; N] = [T::ZERO; N];
    fn decode(bytes: &[u8]) -> [T; N] {
        std::array::from_fn(|i| T::decode(&bytes[i * T::BYTES..(i + 1) * T::BYTES]))
    }
    fn encode(self, bytes: &mut [u8]) {
        for (part, slot) in self.iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
            part.encode(slot);
        }
    }
}
