//! Reductions.

use half::{bf16, f16};
use warpmem_ptx::Type;

use super::{Tensor, boxed_kernel, bytes, bytes_of, each_word, machine};
use crate::TensorElement;
use crate::tests::coverage::tests;

tests!(every_operation_combines_elements_of_its_types);

/// Reduces elements `old` of a tensor with a box full of `operand`; returns the result.
fn reduced(operation: &str, element: impl Into<TensorElement>, old: u64, operand: u64) -> u64 {
    let element = element.into();
    let (width, count) = (u64::from(element.ty().bytes()), 16 / element.ty().bytes());
    let tensor = Tensor::new(element, [2 * u64::from(count)], [count]);
    let low = |value: u64| value.to_le_bytes()[..width as usize].to_vec();
    let values = low(old).repeat(2 * count as usize);
    let word = u64::from_le_bytes(low(operand).repeat(8 / width as usize).try_into().unwrap());
    let code = each_word("FILL", 2, &format!("st.shared.u64 [%r4], {word};"))
        + &format!(
            "setp.eq.u32 %p1, %r0, 0;\n\
             @%p1 cp.reduce.async.bulk.tensor.1d.global.shared::cta.{operation}.bulk_group \
             [%rd2, {{{}}}], [boxed];",
            count + 1
        );
    let mut machine = machine(&tensor, &values);
    machine.run(&boxed_kernel(&code), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    let left = bytes(&machine, 0);
    let elements: Vec<&[u8]> = left[..32].chunks(width as usize).collect();
    // The box starts one element after the middle and ends one beyond the end.
    let (before, behind) = elements.split_at(count as usize + 1);
    assert!(before.iter().all(|&element| element == low(old)), "{operation}: {elements:?}");
    assert!(behind.iter().all(|&element| element == behind[0]), "{operation}: {elements:?}");
    assert!(left[32..].iter().all(|&byte| byte == 0), "nothing is written after the tensor");
    let mut word = [0; 8];
    word[..width as usize].copy_from_slice(behind[0]);
    u64::from_le_bytes(word)
}

#[test]
fn reductions_do_not_convert_singles() {
    let [old, operand, sum] = [1.0f32, 0.000_1, 1.000_1].map(|single| u64::from(single.to_bits()));
    for element in [TensorElement::F32Ftz, TensorElement::Tf32, TensorElement::Tf32Ftz] {
        assert_eq!(reduced("add", element, old, operand), sum, "{element:?}");
    }
}

#[test]
fn every_operation_combines_elements_of_its_types() {
    use Type::{Bf16, F16, F32, S32, S64, U32, U64};
    let (all, most) = (u64::from(u32::MAX), u64::from(u32::MAX) - 1);
    for ty in [U32, S32] {
        assert_eq!(reduced("add", ty, most, 3), 1, "{ty:?} wraps");
        assert_eq!(reduced("and", ty, 0b1100, 0b1010), 0b1000);
        assert_eq!(reduced("or", ty, 0b1100, 0b1010), 0b1110);
        assert_eq!(reduced("xor", ty, 0b1100, 0b1010), 0b0110);
    }
    assert_eq!(reduced("add", U64, all, 1), 1 << 32);
    for ty in [U64, S64] {
        assert_eq!(reduced("xor", ty, u64::MAX, 1 << 40), !(1 << 40));
        assert_eq!(reduced("and", ty, u64::MAX, 1 << 40), 1 << 40);
        assert_eq!(reduced("or", ty, 1, 1 << 40), 1 << 40 | 1);
    }
    // All bits set: the largest unsigned number, or -1.
    for (ty, ones) in [(U32, all), (U64, u64::MAX)] {
        assert_eq!((reduced("min", ty, ones, 5), reduced("max", ty, ones, 5)), (5, ones));
    }
    for (ty, ones) in [(S32, all), (S64, u64::MAX)] {
        assert_eq!((reduced("min", ty, ones, 5), reduced("max", ty, ones, 5)), (ones, 5));
    }
    assert_eq!([4, 5, 6].map(|old| reduced("inc", U32, old, 5)), [5, 0, 0]);
    assert_eq!([0, 5, 6].map(|old| reduced("dec", U32, old, 5)), [5, 4, 5]);
    let single = |value: f32| u64::from(value.to_bits());
    assert_eq!(reduced("add", F32, single(1.5), single(-0.25)), single(1.25));
    let half = |value: f32| u64::from(f16::from_f32(value).to_bits());
    let brain = |value: f32| u64::from(bf16::from_f32(value).to_bits());
    assert_eq!(reduced("add", F16, half(1.5), half(2.0)), half(3.5));
    assert_eq!(reduced("add", Bf16, brain(1.5), brain(2.0)), brain(3.5));
    // The bits of -2 exceed those of 1.
    assert_eq!(reduced("min", F16, half(1.0), half(-2.0)), half(-2.0));
    assert_eq!(reduced("max", F16, half(1.0), half(-2.0)), half(1.0));
    assert_eq!(reduced("min", Bf16, brain(1.0), brain(-2.0)), brain(-2.0));
    assert_eq!(reduced("max", Bf16, brain(1.0), brain(-2.0)), brain(1.0));
    assert_eq!(reduced("max", F16, 0x7e00, half(1.0)), half(1.0), "a NaN is not larger");
}

#[test]
fn reductions_of_all_ctas_add_up() {
    let tensor = Tensor::new(Type::U32, [4], [4]);
    let mut machine = machine(&tensor, &bytes_of([7u32, 8, 9, 10].map(u32::to_le_bytes)));
    let code = "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\nst.shared.u64 [boxed], 0x200000001;\n\
        st.shared.u64 [boxed+8], 0x400000003;\n\
        cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd2, {0}], [boxed];\n\
        END: bar.warp.sync -1;";
    machine.run(&boxed_kernel(code), 40, 32).unwrap();
    let expected = bytes_of([47u32, 88, 129, 170].map(u32::to_le_bytes));
    assert_eq!(bytes(&machine, 0)[..16], expected);
}

/// The first CTA waits for the second one's addition: they cannot be executed one after the other.
#[test]
fn a_cta_may_wait_for_the_reduction_of_another() {
    let tensor = Tensor::new(Type::U32, [4], [4]);
    let mut machine = machine(&tensor, &[0; 16]);
    let code = "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\nmov.u32 %r1, %ctaid.x;\n\
        setp.eq.u32 %p2, %r1, 0;\n@%p2 bra WAIT;\nst.shared.u64 [boxed], 1;\nst.shared.u64 [boxed+8], 0;\n\
        cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%rd2, {0}], [boxed];\nbra END;\n\
        WAIT: ld.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra WAIT;\nEND: bar.warp.sync -1;";
    machine.run(&boxed_kernel(code), 2, 32).unwrap();
    assert_eq!(bytes(&machine, 0)[..4], [1, 0, 0, 0]);
}
