//! System functions of kernels: print, assert, allocate and free.

use std::cell::RefCell;

use super::{Machine, kernel_with};
use crate::{Image, Limits, Progress, Run};

const DECLARATIONS: &str = "
    .extern .func (.param .b32 count) vprintf(.param .b64 format, .param .b64 arguments);
    .extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
    .extern .func (.param .b64 address) malloc(.param .b64 bytes);
    .extern .func free(.param .b64 address);
    .global .align 1 .b8 format[] = {84, 37, 100, 61, 37, 46, 49, 102, 10, 0};
    .global .align 1 .b8 message[] = {97, 60, 98, 0};
    .global .align 1 .b8 file[] = {107, 46, 99, 117, 0};
    .global .align 1 .b8 function[] = {102, 0};";

/// Collects the printed text.
#[derive(Default)]
struct Printed(RefCell<String>);

impl Progress for Printed {
    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }

    fn print(&self, text: &str) {
        self.0.borrow_mut().push_str(text);
    }
}

/// `printf("T%d=%.1f\n", tid, 1.5)` of two threads in two CTAs.
const PRINT: &str = "
    mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 2, %r0;
    mov.u64 %rd4, own16; cvta.local.u64 %rd5, %rd4;
    st.local.u32 [%rd4], %r1; mov.f64 %fd1, 0d3FF8000000000000; st.local.f64 [%rd4+8], %fd1;
    mov.u64 %rd6, format; cvta.global.u64 %rd6, %rd6;
    .param .b64 p0; .param .b64 p1; .param .b32 count;
    st.param.b64 [p0], %rd6; st.param.b64 [p1], %rd5;
    call (count), vprintf, (p0, p1);
    ld.param.b32 %r2, [count]; st.global.u32 [%rd3], %r2;";

fn printed(threads: usize) -> (String, Vec<u64>) {
    let mut machine = Machine::new(2);
    let code = format!(".local .align 8 .b8 own16[16];\n{PRINT}");
    let text = super::silent_kernel(DECLARATIONS, &code);
    let module = warpmem_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let image = Image::load(module, &mut machine.memory).unwrap();
    let (launch, printed) = (machine.launch(2, 2), Printed::default());
    let limits = Limits { threads, ..Limits::default() };
    let run = Run::new(&image, &launch).unwrap();
    run.execute(&mut machine.memory, None, limits, &printed).unwrap();
    (printed.0.into_inner(), machine.get(2))
}

#[test]
fn threads_print_in_grid_order() {
    let expected = "T0=1.5\nT1=1.5\nT2=1.5\nT3=1.5\n";
    for threads in [1, 2] {
        assert_eq!(printed(threads), (expected.into(), vec![2, 2]));
    }
}

#[test]
fn failed_assertions_stop_the_kernel() {
    let code = "
        setp.ne.u32 %p1, %r0, 3; @%p1 bra END;
        mov.u64 %rd4, message; cvta.global.u64 %rd4, %rd4;
        mov.u64 %rd5, file; cvta.global.u64 %rd5, %rd5;
        mov.u64 %rd6, function; cvta.global.u64 %rd6, %rd6;
        .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
        st.param.b64 [p0], %rd4; st.param.b64 [p1], %rd5; st.param.b32 [p2], 12;
        st.param.b64 [p3], %rd6; st.param.b64 [p4], 1;
        call __assertfail, (p0, p1, p2, p3, p4);
        END:";
    let error = Machine::new(32).run(&kernel_with(DECLARATIONS, code), 1, 32).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("k.cu:12: f: assertion `a<b` failed"), "{text}");
    assert!(text.contains("thread (3, 0, 0)"), "{text}");
}

/// Each thread allocates, writes, reads and frees a word; the addresses differ.
#[test]
fn threads_allocate_and_free() {
    let code = "
        .param .b64 bytes; .param .b64 address;
        st.param.b64 [bytes], 8; call (address), malloc, (bytes); ld.param.b64 %rd4, [address];
        st.u64 [%rd4], %rd0; ld.u64 %rd5, [%rd4]; st.global.u64 [%rd3], %rd4; st.global.u64 [%rd2], %rd5;
        .param .b64 p0; st.param.b64 [p0], %rd4; call free, (p0);";
    let mut machine = Machine::new(32);
    let before = machine.memory.capacity().1;
    machine.run(&kernel_with(DECLARATIONS, code), 1, 32).unwrap();
    assert_eq!(machine.get(1), (0..32).map(|n| 8 * n).collect::<Vec<_>>());
    let mut addresses = machine.get(2);
    addresses.dedup();
    assert_eq!(addresses.len(), 32);
    // Only the module's own variables remain allocated.
    assert!(before - machine.memory.capacity().1 <= 4 * 256);
    let wrong = "
        .param .b64 p0; add.u64 %rd4, %rd3, 8; st.param.b64 [p0], %rd4; call free, (p0);";
    let error = machine.run(&kernel_with(DECLARATIONS, wrong), 1, 1).unwrap_err().to_string();
    assert!(error.contains("which is not the start of an allocation"), "{error}");
}
