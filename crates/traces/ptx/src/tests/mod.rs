//! Tests of whole modules.

mod assembler;
mod clusters;
mod damage;
mod decoding;
mod fat_binaries;
mod flow;
mod forms;
mod modules;
mod tensor_maps;
mod tensors;
mod warpgroup;

use crate::{Body, Instruction, Module, Op, parse};

/// Wraps code into a module with one kernel, `k`, that declares some registers.
fn kernel_text(code: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.global .align 4 .b8 table[64];\n\
         .visible .entry k(.param .u64 a, .param .u32 n)\n{{\n\
         .reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<32>;\n\
         .reg .b64 %rd<16>;\n.reg .f64 %fd<16>;\n.shared .align 16 .b8 tile[1024];\n{code}\nret;\n}}\n"
    )
}

fn kernel(code: &str) -> Module {
    parse(&kernel_text(code)).unwrap_or_else(|error| panic!("{error}"))
}

fn body(module: &Module) -> &Body {
    let body = module.functions.last().and_then(|function| function.body.as_ref()).unwrap();
    assert_eq!(body.unsupported, []);
    body
}

/// Returns the reasons why statements of this code are unsupported.
fn unsupported(code: &str) -> Vec<String> {
    let module = kernel(code);
    let body = module.functions[0].body.as_ref().unwrap();
    body.unsupported.iter().map(ToString::to_string).collect()
}

/// Checks that the single statement of this code is refused for a reason that contains `reason`.
fn assert_refused(code: &str, reason: &str) {
    let refused = unsupported(code);
    assert!(refused.len() == 1 && refused[0].contains(reason), "{code}: {refused:?}");
}

/// Returns the first instruction of some code.
fn first(code: &str) -> Instruction {
    body(&kernel(code)).instructions[0].clone()
}

/// Returns the first operation of some code.
fn op(code: &str) -> Op {
    first(code).op
}
