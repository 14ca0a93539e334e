//! Maps that kernels create field by field, from zeroed bytes.

use warpmem_ptx::Type;

use super::super::{Tensor, boxed_kernel, bytes, bytes_of, each_word, load, loaded, words_of};
use super::{PLACE, ZERO, publish, replace_all};
use crate::tests::Machine;
use crate::tests::coverage::tests;
use crate::{Fill, Swizzle, TensorElement};

tests!(a_box_is_loaded_by_a_map_that_the_kernel_made);

const WORDS: usize = 512;

/// Returns the bytes of the map that a kernel creates in a space, and of the host's map.
fn made(tensor: &Tensor, space: &str) -> [Vec<u8>; 2] {
    let in_shared =
        |suffix, place| [ZERO, &replace_all(tensor, (suffix, place)), &publish("%rd3")].concat();
    let generic = |address: &str| format!("{address}\nadd.u64 %rd42, %rd42, 64;\n");
    let code = match space {
        "shared" => in_shared(".shared::cta", PLACE),
        "global" => replace_all(tensor, (".global", "%rd3")),
        "generic to shared" => {
            generic("mov.u64 %rd42, boxed;\ncvta.shared.u64 %rd42, %rd42;")
                + &in_shared("", "%rd42+16320")
        }
        _ => generic("cvta.global.u64 %rd42, %rd3;") + &replace_all(tensor, ("", "%rd42+-64")),
    };
    let mut machine = Machine::new(WORDS);
    machine.run(&boxed_kernel(&code), 1, 32).unwrap_or_else(|error| panic!("{space}: {error}"));
    [bytes(&machine, 2)[..128].to_vec(), tensor.map_at(machine.arrays[0]).to_bytes().to_vec()]
}

#[test]
fn maps_created_by_field_equal_the_hosts() {
    let halves = Tensor::new(Type::F16, [64, 50], [64, 8]);
    let padded = Tensor::new(Type::Bf16, [32, 4, 3], [16, 2, 1]);
    let doubles = Tensor::new(Type::F64, [16, 2, 2, 2], [8, 1, 2, 1]);
    for tensor in [
        Tensor::new(Type::U8, [100], [32]),
        Tensor { swizzle: Swizzle::B128, fill: Fill::Nan, ..halves },
        Tensor { swizzle: Swizzle::B32, ..padded },
        Tensor { swizzle: Swizzle::B64, ..doubles },
        Tensor::new(Type::S64, [4, 3, 4, 5, 6], [2, 256, 1, 7, 8]).with_steps(&[1, 2, 3, 7, 8]),
    ] {
        for space in ["shared", "global", "generic to shared", "generic to global"] {
            let [made, of_host] = made(&tensor, space);
            assert_eq!(made, of_host, "{space}: {tensor:?}");
        }
    }
}

#[test]
fn elements_are_numbered_as_in_the_isa() {
    let plain = [Type::U8, Type::U16, Type::U32, Type::S32, Type::U64, Type::S64]
        .into_iter()
        .chain([Type::F16, Type::F32, Type::F64, Type::Bf16]);
    let others = [TensorElement::F32Ftz, TensorElement::Tf32, TensorElement::Tf32Ftz];
    for element in plain.map(TensorElement::from).chain(others) {
        let [made, of_host] = made(&Tensor::new(element, [32], [16]), "global");
        assert_eq!(made, of_host, "{element:?}");
    }
}

/// Creates a map as Triton does for `make_tensor_descriptor`: zeroes, all fields, a copy to global memory;
/// then loads through it.
fn loaded_by_made(tensor: &Tensor, values: &[u8], coordinates: &[i32]) -> Vec<u8> {
    let words = tensor.box_bytes() / 8;
    let code = [
        ZERO,
        &replace_all(tensor, (".shared::cta", PLACE)),
        &publish("%rd2"),
        "bar.sync 0;\n",
        &load(tensor, coordinates, 0),
        &each_word("DUMP", words, "ld.shared.u64 %rd5, [%r4];\nst.global.u64 [%rd4], %rd5;"),
    ];
    let mut machine = Machine::new(WORDS);
    machine.set(0, &words_of(values));
    machine.run(&boxed_kernel(&code.concat()), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    bytes(&machine, 2)[..8 * words as usize].to_vec()
}

#[test]
pub(in crate::tests) fn a_box_is_loaded_by_a_map_that_the_kernel_made() {
    // Eight columns and four rows; each element is ten times its row plus its column.
    let tens = bytes_of((0..32u32).map(|at| (at / 8 * 10 + at % 8).to_le_bytes()));
    let matrix = Tensor::new(Type::U32, [8, 4], [4, 2]);
    let got = loaded_by_made(&matrix, &tens, &[5, 2]);
    assert_eq!(got, bytes_of([25u32, 26, 27, 0, 35, 36, 37, 0].map(u32::to_le_bytes)));
    let values: Vec<u8> = (0..4096u32).map(|at| (at * 7 + at / 256) as u8).collect();
    let tiles = Tensor::new(Type::U16, [64, 16, 2], [64, 8, 2]);
    for tensor in [
        Tensor { swizzle: Swizzle::B128, ..tiles.clone() },
        tiles.with_steps(&[1, 3, 1]),
        Tensor { fill: Fill::Nan, ..Tensor::new(TensorElement::Tf32, [32, 32], [8, 8]) },
    ] {
        let at = &[-3, 9, 1][..tensor.axes.len()];
        let (by_made, by_host) =
            (loaded_by_made(&tensor, &values, at), loaded(&tensor, &values, at));
        assert_eq!(by_made, by_host, "{tensor:?}");
    }
}
