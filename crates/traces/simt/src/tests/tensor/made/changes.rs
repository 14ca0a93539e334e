//! Host-created maps that kernels change.

use warpmem_ptx::Type;

use super::super::{Tensor, boxed_kernel, bytes, bytes_of, each_word, load, machine};
use super::{PLACE, publish, replace};
use crate::tests::Machine;
use crate::{Swizzle, TensorMap};

/// Copies the map at the start of the second array to shared memory, one word per lane.
const TO_SHARED: &str = "mul.wide.u32 %rd43, %r0, 4;\nsub.u64 %rd44, %rd2, %rd0;\n\
    add.u64 %rd44, %rd44, %rd43;\nld.global.u32 %r43, [%rd44];\nshl.b32 %r40, %r0, 2;\n\
    mov.u32 %r41, boxed;\nadd.u32 %r40, %r40, %r41;\nst.shared.u32 [%r40+16384], %r43;\n\
    bar.warp.sync -1;\n";

/// Six columns and five rows of 32 bytes including padding, 64 bytes into the array.
fn problem() -> Tensor {
    let mut problem = Tensor::new(Type::U32, [6, 5], [4, 2]);
    problem.axes[1].stride = 32;
    problem
}

/// Replaces fields as a grouped GEMM does before each problem: all dimensions and strides get values,
/// including absent ones.
fn replace_problem() -> String {
    let at = (".shared::cta", PLACE);
    let mut code = "setp.eq.u32 %p1, %r0, 0;\nadd.u64 %rd45, %rd1, 64;\n".to_owned();
    code += &replace("global_address", at, "%rd45");
    for (n, size) in [6, 5, 1, 1, 1].into_iter().enumerate() {
        code +=
            &format!("mov.u32 %r44, {size};\n{}", replace("global_dim", at, &format!("{n}, %r44")));
    }
    for (n, stride) in [32, 0, 0, 0].into_iter().enumerate() {
        let operands = format!("{n}, %rd46");
        code += &format!("mov.u64 %rd46, {stride};\n{}", replace("global_stride", at, &operands));
    }
    code + "bar.warp.sync -1;\n"
}

#[test]
fn address_and_sizes_of_host_maps_are_replaced() {
    let values = bytes_of((0..100u32).map(u32::to_le_bytes));
    let host = Tensor::new(Type::U32, [64, 64], [4, 2]);
    let code = [
        TO_SHARED,
        &replace_problem(),
        &publish("%rd2"),
        &load(&problem(), &[4, 3], 0),
        &each_word("DUMP", 4, "ld.shared.u64 %rd5, [%r4];\nst.global.u64 [%rd4], %rd5;"),
    ];
    let mut machine = machine(&host, &values);
    machine.run(&boxed_kernel(&code.concat()), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    let map = problem().map_at(machine.arrays[0] + 64);
    assert_eq!(bytes(&machine, 1)[..128], map.to_bytes());
    // The element at column 4 of row 3, in a tensor 16 elements into the array.
    let element = 16 + 3 * 8 + 4;
    let expected = [element, element + 1, 0, 0, element + 8, element + 9, 0, 0];
    assert_eq!(bytes(&machine, 2)[..32], bytes_of(expected.map(u32::to_le_bytes)));
}

/// Replaces a field of the host's map, of `[64, 64]`, by lane 0; returns the map.
fn changed(field: &str, operands: &str) -> (TensorMap, Machine) {
    let host = Tensor { swizzle: Swizzle::B32, ..Tensor::new(Type::U32, [64, 64], [8, 2]) };
    let code =
        format!("setp.eq.u32 %p1, %r0, 0;\n{}", replace(field, (".global", "%rd2"), operands));
    let mut machine = machine(&host, &[]);
    machine.run(&boxed_kernel(&code), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    let map = TensorMap::of_bytes(bytes(&machine, 1).first_chunk().unwrap());
    (map.unwrap_or_else(|error| panic!("{field}: {error}")), machine)
}

/// Each field alone; the others are unchanged.
#[test]
fn a_replacement_changes_one_field() {
    type Change = fn(&mut Tensor);
    let changes: [(&str, &str, Change); 8] = [
        ("rank", "0", |tensor| tensor.axes.truncate(1)),
        ("box_dim", "1, 256", |tensor| tensor.axes[1].extent = 256),
        ("global_dim", "0, 0xffffffff", |tensor| tensor.axes[0].size = u64::from(u32::MAX)),
        ("global_stride", "0, 1099511627760", |tensor| tensor.axes[1].stride = (1 << 40) - 16),
        ("element_stride", "1, 8", |tensor| tensor.axes[1].step = 8),
        ("elemtype", "3", |tensor| tensor.element = Type::S32.into()),
        ("swizzle_mode", "0", |tensor| tensor.swizzle = Swizzle::None),
        ("interleave_layout", "0", |_| {}),
    ];
    for (field, operands, change) in changes {
        let mut expected =
            Tensor { swizzle: Swizzle::B32, ..Tensor::new(Type::U32, [64, 64], [8, 2]) };
        change(&mut expected);
        let (map, machine) = changed(field, operands);
        assert_eq!(map, expected.map_at(machine.arrays[0]), "{field}");
    }
}

/// 32 bits cannot express it otherwise.
#[test]
fn a_size_of_0_means_2_to_the_32() {
    let mut expected = Tensor { swizzle: Swizzle::B32, ..Tensor::new(Type::U32, [64, 64], [8, 2]) };
    expected.axes[1].size = 1 << 32;
    let (map, machine) = changed("global_dim", "1, 0");
    assert_eq!(map, expected.map_at(machine.arrays[0]));
}

/// Lanes 0 to 2 each replace the extent of a map by their number plus 8.
#[test]
fn every_active_lane_replaces_a_field_of_its_map() {
    let tensor = Tensor::new(Type::U32, [64, 64], [4, 2]);
    let mut machine = machine(&tensor, &[]);
    (1..4).for_each(|number| super::super::put_map(&mut machine, number, &tensor, 0));
    let code = "sub.u64 %rd2, %rd2, %rd0;\nmul.wide.u32 %rd4, %r0, 128;\nadd.u64 %rd2, %rd2, %rd4;\n\
        add.u32 %r1, %r0, 8;\nsetp.lt.u32 %p1, %r0, 3;\n\
        @%p1 tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 1, %r1;";
    machine.run(&boxed_kernel(code), 1, 32).unwrap_or_else(|error| panic!("{error}"));
    let all = bytes(&machine, 1);
    for (number, extent) in [8, 9, 10, 2].into_iter().enumerate() {
        let expected = Tensor::new(Type::U32, [64, 64], [4, extent]).map_at(machine.arrays[0]);
        assert_eq!(all[128 * number..][..128], expected.to_bytes(), "lane {number}");
    }
}
