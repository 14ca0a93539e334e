//! Estimate of the registers that a kernel needs.

use std::collections::HashMap;

use warpmem_ptx::{Call, Callee, Flow, FunctionId, Module, ThreadLimit, live_words};

use crate::lanes::WARP;

/// Registers of a thread other than those of live values. With it, the median difference to ptxas 13.0 for
/// sm_75 is 0 over 93 kernels of Rodinia, PolyBench-GPU and the CUDA samples; the mean of its magnitude is
/// 6.0.
const OTHER_REGISTERS: u32 = 4;

/// Registers of an SM, from sm_50 on.
const REGISTER_FILE: u32 = 1 << 16;
/// Allocation unit of a thread's registers.
const UNIT: u32 = 8;
const MAX: u32 = 255;

/// Estimates the registers per thread of a kernel from its maximum live values. Limits them so that one CTA
/// of the declared size fits on an SM, as an assembler does: in kernels that move registers between warps
/// (`setmaxnreg`), some warps have more live values than a thread starts with.
pub fn estimated_registers(module: &Module, kernel: FunctionId) -> u32 {
    let live = registers(module, kernel).saturating_add(OTHER_REGISTERS);
    live.min(most_registers(module.function(kernel).threads))
}

/// Returns the maximum registers per thread with which a CTA fits on an SM.
fn most_registers(threads: ThreadLimit) -> u32 {
    let (ThreadLimit::Exactly(block) | ThreadLimit::AtMost(block)) = threads else { return MAX };
    let threads = block.iter().fold(1u32, |threads, &side| threads.saturating_mul(side));
    let of_warp = REGISTER_FILE / threads.div_ceil(WARP as u32).max(1);
    (of_warp / WARP as u32 / UNIT * UNIT).min(MAX)
}

/// Returns the maximum live words over all call chains; a recursive function counts once.
fn registers(module: &Module, kernel: FunctionId) -> u32 {
    let mut live: HashMap<FunctionId, (u32, Vec<u32>)> = HashMap::new();
    let mut with_callees: HashMap<FunctionId, u32> = HashMap::new();
    let mut open = vec![kernel];
    while let Some(&id) = open.last() {
        let Some(body) = &module.function(id).body else {
            open.pop();
            continue;
        };
        let Some((most, at_calls)) = live.get(&id) else {
            live.insert(id, live_words(body, &Flow::of(body)));
            let callees = body.calls.iter().filter_map(|call| direct(call.callee));
            open.extend(callees.filter(|callee| !live.contains_key(callee)));
            continue;
        };
        let of_callee = |call: &Call| direct(call.callee).and_then(|id| with_callees.get(&id));
        let through = body.calls.iter().zip(at_calls);
        let through =
            through.map(|(call, live)| live.saturating_add(*of_callee(call).unwrap_or(&0)));
        let words = through.max().unwrap_or(0).max(*most);
        with_callees.insert(id, words);
        open.pop();
    }
    with_callees.get(&kernel).copied().unwrap_or(0)
}

fn direct(callee: Callee) -> Option<FunctionId> {
    match callee {
        Callee::Direct(id) => Some(id),
        Callee::Indirect => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Estimates a kernel with `live` live registers.
    fn registers(limit: &str, live: u32) -> u32 {
        let values = (0..live).map(|at| format!("ld.global.u32 %r{at}, [%rd0+{}];\n", 4 * at));
        let uses = (0..live).map(|at| format!("st.global.u32 [%rd0], %r{at};\n"));
        let code: String = values.chain(uses).collect();
        let text = format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 a) {limit} {{\n\
             .reg .b32 %r<300>;\n.reg .b64 %rd<1>;\nld.param.u64 %rd0, [a];\n{code}ret;\n}}\n"
        );
        let module = warpmem_ptx::parse(&text).unwrap();
        estimated_registers(&module, module.kernel("k").unwrap())
    }

    #[test]
    fn a_cta_of_the_declared_size_fits_on_an_sm() {
        let live = |live: u32| live + 2 + OTHER_REGISTERS;
        for limit in ["", ".maxntid 384, 1, 1", ".reqntid 128, 3"] {
            assert_eq!(registers(limit, 100), live(100), "{limit}");
        }
        assert_eq!(registers("", 290), 255);
        assert_eq!(registers(".maxntid 384, 1, 1", 240), 168);
        assert_eq!(registers(".reqntid 128, 3", 240), 168);
        assert_eq!(registers(".maxntid 1000", 240), 64);
        assert_eq!(registers(".maxntid 128", 290), 255);
        assert_eq!(registers(".reqntid 65536, 65536, 65536", 9), 0);
    }

    #[test]
    fn recursive_functions_count_once() {
        let calls = |at: usize| format!(".func f{at}() {{ call f{0}; call f{0}; ret; }}\n", at + 1);
        let functions: String = (0..60).rev().map(calls).collect();
        let text = format!(
            ".version 8.0\n.target sm_75\n.address_size 64\n.func f60() {{ .reg .b32 a; .reg .b64 d; \
             ld.global.b32 a, [d]; st.global.b32 [d], a; ret; }}\n{functions}.entry k() {{ call f0; ret; }}\n"
        );
        let module = warpmem_ptx::parse(&text).unwrap();
        let kernel = module.kernel("k").unwrap();
        assert_eq!(estimated_registers(&module, kernel), 3 + OTHER_REGISTERS);
    }
}
