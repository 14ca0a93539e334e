//! Illegal actions of kernels, and launches that do not match their kernel.

use super::{Machine, kernel};
use crate::{DeviceMemory, Image, Launch, LaunchError, Limits, Params, Run};

fn failure(code: &str, grid: u32, block: u32) -> String {
    Machine::new(64).run(&kernel(code), grid, block).unwrap_err().to_string()
}

#[test]
fn out_of_bounds_accesses_name_kernel_thread_and_address() {
    let error = failure("add.u64 %rd4, %rd3, 400;\nst.global.u32 [%rd4], 1;", 1, 64);
    assert!(error.starts_with("kernel `k`: access of 4 bytes at 0x7f"), "{error}");
    assert!(
        error.contains("of global memory is out of bounds: the nearest allocation has 512 bytes"),
        "{error}"
    );
    assert!(
        error.contains("line 24 of the PTX") && error.ends_with("CTA (0, 0, 0), thread (14, 0, 0)"),
        "{error}"
    );
    let null = failure("mov.u64 %rd4, 0;\nld.global.u32 %r1, [%rd4];", 1, 32);
    assert!(null.contains("access of 4 bytes at 0x0"), "{null}");
    let shared = failure("mov.u32 %r1, 4096;\nld.shared.u32 %r2, [%r1];", 1, 32);
    assert!(shared.contains("shared memory has"), "{shared}");
    let odd = failure("ld.global.u32 %r1, [%rd1+2];", 1, 32);
    assert!(odd.contains("at the misaligned address"), "{odd}");
}

#[test]
fn endless_loops_stop_at_the_limit_with_their_position() {
    let error = failure("L: bra L;", 1, 32);
    assert!(error.contains("has executed 10000000 warp instructions, the limit"), "{error}");
    assert!(error.contains("CTA (0, 0, 0) warp 0 is at PC"), "{error}");
}

#[test]
fn deadlocked_warps_are_named() {
    let error = failure(
        "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra OTHER;\nbar.sync 1;\nbra END;\nOTHER: bar.sync 2;\nEND:",
        1,
        64,
    );
    assert!(
        error.contains("is deadlocked: CTA (0, 0, 0) warp 0 waits at barrier 2 at PC"),
        "{error}"
    );
    assert!(error.contains("warp 1 waits at barrier 1"), "{error}");
}

#[test]
fn a_trap_stops_the_kernel() {
    let error = failure("setp.eq.u32 %p1, %r0, 5;\n@%p1 trap;", 1, 32);
    assert!(error.contains("the kernel trapped") && error.contains("thread (5, 0, 0)"), "{error}");
}

#[test]
fn unsupported_code_is_refused_at_launch_with_its_lines() {
    let error = failure("frobnicate.b32 %r1, %r2;", 1, 32);
    assert!(error.contains("kernel `k` needs unsupported features"), "{error}");
    assert!(error.contains("line 23: instruction `frobnicate` is not supported"), "{error}");
}

#[test]
fn mismatched_launches_are_refused() {
    let mut memory = DeviceMemory::default();
    let text = ".version 8.0\n.target sm_70\n.address_size 64\n\
                .entry k(.param .u64 a, .param .align 4 .b8 s[12], .param .f32 x) .reqntid 64 { ret; }\n\
                .entry m() .maxntid 64 { ret; }\n.extern .func f();\n.entry c() { call f; ret; }";
    let image = Image::load(warpmem_ptx::parse(text).unwrap(), &mut memory).unwrap();
    let launch = |kernel: &str, block: u32, params: &[usize]| {
        let params = Params(params.iter().map(|&bytes| vec![0; bytes]).collect());
        let launch = Launch {
            kernel: kernel.into(),
            grid: [1; 3],
            block: [block, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            workspace: 0,
            window: None,
            params,
        };
        let outcome: Result<(), LaunchError> = Run::new(&image, &launch).map(drop);
        outcome.map_err(|error| error.to_string())
    };
    assert_eq!(launch("k", 64, &[8, 12, 4]), Ok(()));
    assert_eq!(
        launch("x", 64, &[]).unwrap_err(),
        "there is no kernel `x` in the module; it has k, m, c"
    );
    let count = launch("k", 64, &[8]).unwrap_err();
    assert_eq!(count, "kernel `k` takes 3 arguments (.u64 a, .b8 s[12], .f32 x), 1 are given");
    let size = launch("k", 64, &[8, 12, 8]).unwrap_err();
    assert_eq!(size, "argument 3 of kernel `k`, `x`, has 4 bytes, 8 are given");
    assert!(launch("k", 32, &[8, 12, 4]).unwrap_err().contains("compiled for CTAs of [64, 1, 1]"));
    assert!(launch("m", 65, &[]).unwrap_err().contains("at most [64, 1, 1]"));
    assert!(launch("m", 0, &[]).unwrap_err().contains("every dimension must be from 1"));
    assert!(launch("m", 2000, &[]).unwrap_err().contains("every dimension must be from 1 to 1024"));
    assert_eq!(
        launch("c", 1, &[]).unwrap_err(),
        "kernel `c` calls `f`, which the module only declares"
    );
}

/// Runs kernel `k` of a module, without arguments, on one thread; returns the outcome.
fn outcome(code: &str) -> Result<(), String> {
    let text = format!(".version 8.0\n.target sm_70\n.address_size 64\n{code}");
    let mut memory = DeviceMemory::default();
    let image = Image::load(warpmem_ptx::parse(&text).unwrap(), &mut memory);
    let image = image.map_err(|error| error.to_string())?;
    let launch = Launch { kernel: "k".into(), grid: [1; 3], block: [1; 3], ..Launch::default() };
    let run = Run::new(&image, &launch).map_err(|error| error.to_string())?;
    let done = run.execute(&mut memory, None, Limits::default(), &());
    done.map(drop).map_err(|error| error.to_string())
}

#[test]
fn local_memory_of_a_thread_is_limited() {
    let local = |bytes: u64| outcome(&format!(".entry k() {{ .local .b8 a[{bytes}]; ret; }}"));
    assert_eq!(local(512 << 10), Ok(()));
    let needs = |bytes| {
        format!(
            "kernel `k` needs {bytes} bytes of local memory per thread, the maximum of any device is 524288"
        )
    };
    assert_eq!(local((512 << 10) + 16), Err(needs(524_304u64)));
    assert_eq!(local(1 << 40), Err(needs(1 << 40)));
}

#[test]
fn local_memory_of_nested_calls_is_limited() {
    let nested = |bytes: u64| {
        outcome(&format!(
            ".func f() {{ .local .b8 a[{bytes}]; ret; }}\n\
             .entry k() {{ .local .b8 a[300000]; call f; call f; ret; }}"
        ))
    };
    assert_eq!(nested(224_288), Ok(()));
    let error = nested(224_304).unwrap_err();
    assert!(error.contains("nested calls need 524304 bytes of local memory, of 524288"), "{error}");
}

#[test]
fn variables_that_do_not_fit_are_named() {
    let error = outcome(".global .b8 big[1099511627776];\n.entry k() { ret; }").unwrap_err();
    assert!(error.starts_with("variable `big`: 1099511627776 bytes do not fit"), "{error}");
    // A large variable that is hardly touched fits on any machine.
    outcome(
        ".global .b8 large[8589934592];\n.entry k() { .reg .b64 r; mov.u64 r, large;\n\
             st.global.u32 [r], 1; ret; }",
    )
    .unwrap();
}

#[test]
fn a_run_can_be_stopped() {
    struct Stop;
    impl crate::Progress for Stop {
        fn advance(&self, ctas: u64, _: u64) -> bool {
            ctas < 3
        }
    }
    let mut machine = Machine::new(64);
    let module = warpmem_ptx::parse(&kernel("")).unwrap();
    let image = Image::load(module, &mut machine.memory).unwrap();
    let launch = machine.launch(10, 32);
    let run = Run::new(&image, &launch).unwrap();
    let outcome = run.execute(&mut machine.memory, None, Limits::default(), &Stop);
    assert!(matches!(outcome, Err(LaunchError::Cancelled)));
}
