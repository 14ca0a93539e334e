//! Random tensors, boxes and coordinates, compared with a plain copy, element by element.

use proptest::prelude::*;
use warpmem_ptx::Type;

use super::{Tensor, boxed_kernel, bytes, load, loaded, machine, put_map, vector};
use crate::{Fill, Swizzle, TensorAxis};

/// Returns the byte offset of a box element in the tensor, if inside.
fn place(tensor: &Tensor, coordinates: &[i32], element: usize) -> Option<usize> {
    let (mut rest, mut at) = (element as i64, 0);
    for (dimension, (axis, &from)) in tensor.axes.iter().zip(coordinates).enumerate() {
        let step = if dimension == 0 { 1 } else { i64::from(axis.step) };
        let count = (i64::from(axis.extent) + step - 1) / step;
        let coordinate = i64::from(from) + rest % count * step;
        rest /= count;
        if coordinate < 0 || coordinate >= axis.size as i64 {
            return None;
        }
        at += coordinate as usize * axis.stride as usize;
    }
    Some(at)
}

/// Returns the byte of the box at an offset in shared memory (CUDA C++ Programming Guide, "The Swizzle
/// Modes"): `smem[y][x]` is at `smem[y][(y % n) ^ x]`, in chunks and lines of 128 bytes.
fn swizzled(swizzle: Swizzle, at: usize) -> usize {
    let period = match swizzle {
        Swizzle::None => 1,
        Swizzle::B32 => 2,
        Swizzle::B64 => 4,
        Swizzle::B128 => 8,
    };
    let (line, chunk, byte) = (at / 128, at % 128 / 16, at % 16);
    128 * line + 16 * ((line % period) ^ chunk) + byte
}

fn expected(tensor: &Tensor, values: &[u8], coordinates: &[i32]) -> Vec<u8> {
    let (bytes, width) = (tensor.box_bytes() as usize, tensor.element.ty().bytes() as usize);
    // If the last line is incomplete, its chunks swap with some beyond the end.
    let mut shared = vec![super::BEFORE; bytes.next_multiple_of(128)];
    for element in 0..bytes / width {
        for byte in 0..width {
            let from = place(tensor, coordinates, element).map(|place| values[place + byte]);
            shared[swizzled(tensor.swizzle, element * width + byte)] = from.unwrap_or(0);
        }
    }
    shared.truncate(bytes);
    shared
}

/// Returns the bytes of memory that the tensor spans.
fn span(tensor: &Tensor) -> usize {
    let last: u64 = tensor.axes.iter().map(|axis| (axis.size - 1) * axis.stride).sum();
    last as usize + tensor.element.ty().bytes() as usize
}

fn axes(element: Type, swizzle: Swizzle) -> impl Strategy<Value = Vec<TensorAxis>> {
    let width = element.bytes();
    let chunks = match swizzle {
        Swizzle::None => 1..6u32,
        Swizzle::B32 => 2..3,
        Swizzle::B64 => 4..5,
        Swizzle::B128 => 8..9,
    };
    let inner = (1..40u64, chunks);
    let outer = prop::collection::vec((1..5u64, 0..3u64, 1..5u32, 1..4u32), 0..5);
    (inner, outer).prop_map(move |((size, chunks), outer)| {
        let extent = 16 * chunks / width;
        let stride = u64::from(width);
        let mut axes = vec![TensorAxis { size, stride, extent, step: 2 }];
        let mut end = (size * stride).next_multiple_of(16);
        for (size, padding, extent, step) in outer {
            let stride = end + 16 * padding;
            axes.push(TensorAxis { size, stride, extent, step });
            end = size * stride;
        }
        axes
    })
}

fn tensors() -> impl Strategy<Value = (Tensor, Vec<i32>)> {
    let elements = vec![Type::U8, Type::Bf16, Type::S32, Type::F32, Type::F64];
    let swizzles = vec![Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
    let kinds = (prop::sample::select(elements), prop::sample::select(swizzles));
    kinds
        .prop_flat_map(|(element, swizzle)| {
            let coordinates = prop::collection::vec(-4..6i32, 5);
            (Just(element), Just(swizzle), axes(element, swizzle), coordinates)
        })
        .prop_map(|(element, swizzle, axes, mut coordinates)| {
            coordinates.truncate(axes.len());
            (Tensor { element: element.into(), axes, swizzle, fill: Fill::Zero }, coordinates)
        })
        .prop_filter("it must fit", |(tensor, _)| {
            span(tensor) <= 8 * super::WORDS && tensor.box_bytes() <= 16 << 10
        })
}

/// Loads the box and stores it elsewhere; returns the result.
fn moved(tensor: &Tensor, values: &[u8], coordinates: &[i32]) -> Vec<u8> {
    let mut machine = machine(tensor, values);
    put_map(&mut machine, 1, tensor, 2);
    let (rank, at) = (coordinates.len(), vector(coordinates));
    let code = load(tensor, coordinates, 0)
        + &format!(
            "add.u64 %rd2, %rd2, 128;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 \
             cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%rd2, {at}], [boxed];"
        );
    machine.run(&boxed_kernel(&code), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    bytes(&machine, 2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(warpmem_testing::cases(48)))]

    #[test]
    fn copies_match_an_element_wise_copy((tensor, coordinates) in tensors(), seed: u8) {
        let values: Vec<u8> = (0..8 * super::WORDS).map(|at| (at * 37 / 8) as u8 ^ seed).collect();
        let got = loaded(&tensor, &values, &coordinates);
        prop_assert_eq!(got, expected(&tensor, &values, &coordinates));

        let (count, width) = (tensor.box_bytes() as usize, tensor.element.ty().bytes() as usize);
        let mut back = vec![0; 8 * super::WORDS];
        for place in (0..count / width).filter_map(|at| place(&tensor, &coordinates, at)) {
            back[place..][..width].copy_from_slice(&values[place..][..width]);
        }
        prop_assert!(moved(&tensor, &values, &coordinates) == back, "in and out again");
    }
}
