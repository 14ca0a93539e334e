//! Loads and stores.

use warpmem_ptx::Type;

use super::{Tensor, boxed_kernel, bytes, bytes_of, each_word, load, loaded, machine, put_map};
use crate::tests::coverage::tests;
use crate::tests::kernel;
use crate::{Fill, Image, Launch, Limits, Params, Run, TensorElement};

tests!(
    a_box_is_read_at_its_coordinates,
    elements_beyond_the_tensor_are_zero,
    elements_beyond_the_tensor_are_not_written,
    boxes_have_up_to_five_dimensions
);

fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

/// Eight columns and four rows; each element is ten times its row plus its column.
fn tens() -> Vec<u8> {
    bytes_of((0..32u32).map(|at| (at / 8 * 10 + at % 8).to_le_bytes()))
}

/// A box of four columns and two rows of [`tens`].
fn matrix() -> Tensor {
    Tensor::new(Type::U32, [8, 4], [4, 2])
}

#[test]
fn a_box_is_read_at_its_coordinates() {
    let got = u32s(&loaded(&matrix(), &tens(), &[3, 1]));
    assert_eq!(got, [13, 14, 15, 16, 23, 24, 25, 26]);
}

#[test]
fn elements_beyond_the_tensor_are_zero() {
    let at = |x, y| u32s(&loaded(&matrix(), &tens(), &[x, y]));
    assert_eq!(at(6, 3), [36, 37, 0, 0, 0, 0, 0, 0]);
    assert_eq!(at(-2, -1), [0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(at(8, 0), [0; 8], "no column");
    assert_eq!(at(0, 4), [0; 8], "no row");
    assert_eq!(at(-4, 0), [0; 8]);
    assert_eq!(at(i32::MIN, i32::MAX), [0; 8]);
}

#[test]
fn loads_round_and_flush_singles_as_the_map_says() {
    let tie = f32::from_bits(0x3f80_1000);
    let below = f32::from_bits(0x3f80_0fff);
    let values = [tie, -tie, below, f32::from_bits(1), -f32::from_bits(0x007f_ffff), 1.0, 0.0, 2.5];
    let bytes = bytes_of(values.map(f32::to_le_bytes));
    let got = |element: TensorElement| u32s(&loaded(&Tensor::new(element, [8], [8]), &bytes, &[0]));
    let same = [1.0f32, 0.0, 2.5].map(f32::to_bits);
    let with = |first: [u32; 5]| [&first[..], &same].concat();
    assert_eq!(got(Type::F32.into()), values.map(f32::to_bits));
    let [t, b] = [tie, below].map(f32::to_bits);
    let minus = 1 << 31;
    assert_eq!(got(TensorElement::F32Ftz), with([t, t | minus, b, 0, minus]));
    // Ties away from zero; a subnormal that rounds to the least normal number.
    let (up, down) = (0x3f80_2000, 0x3f80_0000);
    assert_eq!(got(TensorElement::Tf32), with([up, up | minus, down, 0, 0x0080_0000 | minus]));
    assert_eq!(got(TensorElement::Tf32Ftz), with([up, up | minus, down, 0, minus]));
}

#[test]
fn stores_do_not_convert_singles() {
    // Small integers are subnormal numbers.
    let plain = stored(&matrix(), [0, 1]);
    for element in [TensorElement::F32Ftz, TensorElement::Tf32, TensorElement::Tf32Ftz] {
        assert_eq!(stored(&Tensor::new(element, [8, 4], [4, 2]), [0, 1]), plain);
    }
}

#[test]
fn elements_beyond_the_tensor_are_nan_if_the_map_says_so() {
    let nan = |element, sizes| Tensor {
        fill: Fill::Nan,
        ..Tensor::new(element, sizes, sizes.map(|n| n as u32))
    };
    let singles = nan(Type::F32, [4, 2]);
    let values = bytes_of((0..8).map(|n| (n as f32).to_le_bytes()));
    let got = u32s(&loaded(&singles, &values, &[2, 1]));
    let x = 0x7fff_ffff;
    assert_eq!(got, [6f32.to_bits(), 7f32.to_bits(), x, x, x, x, x, x]);
    for element in [Type::F16, Type::Bf16] {
        let halves = nan(element, [8, 2]);
        let got = loaded(&halves, &bytes_of((1..=16u16).map(u16::to_le_bytes)), &[-7, 1]);
        let got: Vec<u16> =
            got.as_chunks().0.iter().map(|&half| u16::from_le_bytes(half)).collect();
        let row = [0x7fff, 0x7fff, 0x7fff, 0x7fff, 0x7fff, 0x7fff, 0x7fff, 9];
        assert_eq!(got, [row, [0x7fff; 8]].concat());
    }
    let doubles = nan(Type::F64, [2, 1]);
    let got = loaded(&doubles, &bytes_of([1f64, 2.0].map(f64::to_le_bytes)), &[1, 0]);
    assert_eq!(got, bytes_of([2f64.to_bits(), 0x7ff8_0000_0000_0000].map(u64::to_le_bytes)));
}

/// Of rows y, y + 1, …, the box holds every step-th one. Columns are not skipped, whatever the map says.
#[test]
fn element_strides_skip_rows() {
    let with_step =
        |extent, step| Tensor::new(Type::U32, [8, 4], [4, extent]).with_steps(&[3, step]);
    let got = |tensor: &Tensor, y| u32s(&loaded(tensor, &tens(), &[0, y]));
    assert_eq!(got(&with_step(4, 2), 0), [0, 1, 2, 3, 20, 21, 22, 23]);
    assert_eq!(got(&with_step(3, 2), 1), [10, 11, 12, 13, 30, 31, 32, 33]);
    assert_eq!(got(&with_step(2, 2), 1), [10, 11, 12, 13]);
    assert_eq!(got(&with_step(4, 3), -1), [0, 0, 0, 0, 20, 21, 22, 23]);
    assert_eq!(got(&with_step(256, 8), 3)[..8], [30, 31, 32, 33, 0, 0, 0, 0]);
}

/// Elements whose digits are their coordinates, innermost last.
fn digits<const N: usize>(sizes: [u64; N]) -> Vec<u8> {
    let count = sizes.iter().product();
    let digit = |at: u64, dimension: usize| {
        let below: u64 = sizes[..dimension].iter().product();
        (at / below % sizes[dimension]) as u32 * 10u32.pow(dimension as u32)
    };
    bytes_of((0..count).map(|at| (0..N).map(|d| digit(at, d)).sum::<u32>().to_le_bytes()))
}

#[test]
fn boxes_have_up_to_five_dimensions() {
    let got = |tensor: &Tensor, values: &[u8], at: &[i32]| u32s(&loaded(tensor, values, at));
    let one = Tensor::new(Type::U32, [9], [4]);
    assert_eq!(got(&one, &digits([9]), &[6]), [6, 7, 8, 0]);
    let three = Tensor::new(Type::U32, [4, 3, 2], [4, 2, 2]);
    let expected = [10, 11, 12, 13, 20, 21, 22, 23, 110, 111, 112, 113, 120, 121, 122, 123];
    assert_eq!(got(&three, &digits([4, 3, 2]), &[0, 1, 0]), expected);
    let four = Tensor::new(Type::U32, [4, 2, 2, 2], [4, 1, 2, 2]);
    let expected = [1010, 1011, 1012, 1013, 1110, 1111, 1112, 1113, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(got(&four, &digits([4, 2, 2, 2]), &[0, 1, 0, 1]), expected);
    let five = Tensor::new(Type::U32, [4, 2, 2, 2, 2], [4, 1, 2, 1, 2]);
    let expected =
        [1011, 1012, 1013, 0, 1111, 1112, 1113, 0, 11011, 11012, 11013, 0, 11111, 11112, 11113, 0];
    assert_eq!(got(&five, &digits([4, 2, 2, 2, 2]), &[1, 1, 0, 1, 0]), expected);
}

/// Rows of the tensor with padding.
#[test]
fn strides_skip_the_padding_between_rows() {
    let mut padded = Tensor::new(Type::U32, [5, 3], [4, 2]);
    padded.axes[1].stride = 32;
    let values = bytes_of((0..24u32).map(u32::to_le_bytes));
    assert_eq!(u32s(&loaded(&padded, &values, &[2, 1])), [10, 11, 12, 0, 18, 19, 20, 0]);
}

/// Stores a box of words 100, 101, … over [`tens`]; returns the result.
fn stored(tensor: &Tensor, coordinates: [i32; 2]) -> Vec<u32> {
    let [x, y] = coordinates;
    let mut machine = machine(tensor, &tens());
    let code = [
        each_word(
            "FILL",
            tensor.box_bytes() / 8,
            "shl.b32 %r5, %r1, 1;\nadd.u32 %r5, %r5, 100;\nadd.u32 %r6, %r5, 1;\n\
             st.shared.v2.u32 [%r4], {%r5, %r6};",
        ),
        format!(
            "setp.eq.u32 %p1, %r0, 0;\n@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group \
             [%rd2, {{{x}, {y}}}], [boxed];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
        ),
    ];
    machine.run(&boxed_kernel(&code.concat()), 1, 32).unwrap();
    u32s(&bytes(&machine, 0))
}

#[test]
fn elements_beyond_the_tensor_are_not_written() {
    let expected = |changed: &[(usize, u32)]| {
        let mut values = u32s(&tens());
        values.resize(2 * super::WORDS, 0);
        changed.iter().for_each(|&(at, value)| values[at] = value);
        values
    };
    let inside =
        [(8, 100), (9, 101), (10, 102), (11, 103), (16, 104), (17, 105), (18, 106), (19, 107)];
    assert_eq!(stored(&matrix(), [0, 1]), expected(&inside));
    assert_eq!(stored(&matrix(), [6, 3]), expected(&[(30, 100), (31, 101)]));
    assert_eq!(stored(&matrix(), [-3, -1]), expected(&[(0, 107)]));
    let apart = Tensor::new(Type::U32, [8, 4], [4, 3]).with_steps(&[1, 2]);
    let rows = [(0, 100), (1, 101), (2, 102), (3, 103), (16, 104), (17, 105), (18, 106), (19, 107)];
    assert_eq!(stored(&apart, [0, 0]), expected(&rows));
}

/// A map that the kernel receives as a `__grid_constant__` structure parameter.
#[test]
fn a_map_may_be_a_parameter_of_the_kernel() {
    let tensor = matrix();
    let text = boxed_kernel(
        &(load(&tensor, &[3, 1], 0).replace("[%rd2,", "[%rd8,")
            + &each_word("DUMP", 4, "ld.shared.u64 %rd5, [%r4];\nst.global.u64 [%rd4], %rd5;")),
    )
    .replace(".param .u32 n)", ".param .u32 n, .param .align 64 .b8 m[128])")
    .replace(
        "setp.eq.u32 %p1",
        "mov.b64 %rd7, m;\ncvta.param.u64 %rd8, %rd7;\nprefetch.tensormap [%rd8];\nsetp.eq.u32 %p1",
    );
    let mut machine = machine(&tensor, &tens());
    let image = Image::load(warpmem_ptx::parse(&text).unwrap(), &mut machine.memory).unwrap();
    let mut launch: Launch = machine.launch(1, 32);
    let Params(params) = &mut launch.params;
    params.push(tensor.map_at(machine.arrays[0]).to_bytes().to_vec());
    // The map of another array.
    put_map(&mut machine, 0, &tensor, 2);
    let run = Run::new(&image, &launch).unwrap();
    run.execute(&mut machine.memory, None, Limits::default(), &()).unwrap();
    assert_eq!(u32s(&bytes(&machine, 2))[..8], [13, 14, 15, 16, 23, 24, 25, 26]);
}

/// Every lane copies its own box.
#[test]
fn lanes_have_their_own_maps_and_coordinates() {
    let tensor = Tensor::new(Type::U32, [8, 4], [4, 1]);
    let mut machine = machine(&tensor, &tens());
    put_map(&mut machine, 1, &tensor, 2);
    // Lanes 0 to 3 move the left half of rows 0 to 3 to the right half of the row above.
    let code = "setp.lt.u32 %p1, %r0, 4;\n@!%p1 bra END;\nsub.u64 %rd2, %rd2, %rd0;\n\
        shl.b32 %r1, %r0, 7;\nmov.u32 %r2, boxed;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r3, %r0, -1;\n\
        mbarrier.init.shared.b64 [bar], 4;\nmbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], 16;\n\
        cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {0, %r0}], [bar];\n\
        add.u64 %rd2, %rd2, 128;\n\
        cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {4, %r3}], [%r1];\nEND: bar.warp.sync -1;";
    machine.run(&boxed_kernel(code), 1, 32).unwrap();
    let got = u32s(&bytes(&machine, 2));
    let row = |y: u32| [0, 0, 0, 0, 10 * y, 10 * y + 1, 10 * y + 2, 10 * y + 3];
    assert_eq!(got[..32], [row(1), row(2), row(3), [0; 8]].concat());
}

#[test]
fn prefetches_and_fences_have_no_effect() {
    let tensor = matrix();
    let mut machine = machine(&tensor, &tens());
    let code = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd2, {2, 3}];\nprefetch.tensormap [%rd2];\n\
        fence.proxy.tensormap::generic.release.gpu;\nfence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;";
    let alone = format!("setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\n{code}\nEND: bar.warp.sync -1;");
    machine.run(&kernel(&alone), 1, 32).unwrap();
    assert_eq!(u32s(&bytes(&machine, 0))[..32], u32s(&tens()));
}
