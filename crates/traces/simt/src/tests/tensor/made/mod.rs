//! Maps that kernels create and change.

mod changes;
mod faults;
pub(in crate::tests) mod maps;
mod records;

use warpmem_ptx::Type;

use super::Tensor;
use crate::{Fill, Swizzle, TensorElement};

/// Zeroes the map in shared memory.
const ZERO: &str = "shl.b32 %r40, %r0, 2;\nmov.u32 %r41, boxed;\nadd.u32 %r40, %r40, %r41;\n\
    st.shared.u32 [%r40+16384], 0;\nbar.warp.sync -1;\n";
/// Address of the map.
const PLACE: &str = "boxed+16384";

/// Returns the number of an element in the ISA's table.
fn number_of(element: TensorElement) -> u32 {
    match element {
        TensorElement::Plain(Type::U8) => 0,
        TensorElement::Plain(Type::U16) => 1,
        TensorElement::Plain(Type::U32) => 2,
        TensorElement::Plain(Type::S32) => 3,
        TensorElement::Plain(Type::U64) => 4,
        TensorElement::Plain(Type::S64) => 5,
        TensorElement::Plain(Type::F16) => 6,
        TensorElement::Plain(Type::F32) => 7,
        TensorElement::F32Ftz => 8,
        TensorElement::Plain(Type::F64) => 9,
        TensorElement::Plain(Type::Bf16) => 10,
        TensorElement::Tf32 => 11,
        TensorElement::Tf32Ftz => 12,
        TensorElement::Plain(ty) => panic!("there are no elements of type {ty:?}"),
    }
}

/// Replaces a field of the map at a place in a space, by lane 0.
fn replace(field: &str, (space, place): (&str, &str), operands: &str) -> String {
    let ty = if matches!(field, "global_address" | "global_stride") { "b64" } else { "b32" };
    format!("@%p1 tensormap.replace.tile.{field}{space}.b1024.{ty} [{place}], {operands};\n")
}

/// Replaces all fields, as compilers do, by those of a tensor whose address is in `%rd1` of lane 0.
fn replace_all(tensor: &Tensor, at: (&str, &str)) -> String {
    let swizzle = match tensor.swizzle {
        Swizzle::None => 0,
        Swizzle::B32 => 1,
        Swizzle::B64 => 2,
        Swizzle::B128 => 3,
    };
    let mut code = "setp.eq.u32 %p1, %r0, 0;\n".to_owned();
    code += &replace("global_address", at, "%rd1");
    code += &replace("rank", at, &(tensor.axes.len() - 1).to_string());
    for (n, axis) in tensor.axes.iter().enumerate() {
        code += &format!("mov.u32 %r42, {};\n", axis.extent);
        code += &replace("box_dim", at, &format!("{n}, %r42"));
        code += &replace("global_dim", at, &format!("{n}, {}", axis.size));
        code += &replace("element_stride", at, &format!("{n}, {}", axis.step));
    }
    for (n, axis) in tensor.axes[1..].iter().enumerate() {
        code += &format!("mov.u64 %rd40, {};\n", axis.stride);
        code += &replace("global_stride", at, &format!("{n}, %rd40"));
    }
    code += &replace("elemtype", at, &number_of(tensor.element).to_string());
    code += &replace("interleave_layout", at, "0");
    code += &replace("swizzle_mode", at, &swizzle.to_string());
    code += &replace("swizzle_atomicity", at, "0");
    code += &replace("fill_mode", at, &u32::from(tensor.fill == Fill::Nan).to_string());
    code
}

/// Copies the map from shared memory to the start of an array, whose address lane 0 has in the register.
fn publish(array: &str) -> String {
    format!(
        "sub.u64 %rd41, {array}, %rd0;\n\
         tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \
         [%rd41], [{PLACE}], 128;\nfence.proxy.tensormap::generic.acquire.gpu [%rd41], 128;\n"
    )
}
