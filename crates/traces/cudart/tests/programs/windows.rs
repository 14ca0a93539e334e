//! A program that sets access policy windows.

use std::ptr;

use crate::api::{Attribute, DriverConfig, Library, allocate, call, load_kernel, open_driver};
use crate::common::is_captured;

/// One thread reads a word, reads another 4 KiB further on, and writes one.
const KERNEL: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [%rd1+4096];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%rd1+8192], %r1;
    ret;
}";

/// `CUaccessPolicyWindow`
#[repr(C)]
#[derive(Clone, Copy)]
struct Window {
    base: u64,
    bytes: u64,
    hit_ratio: f32,
    hit: u32,
    miss: u32,
}

const WINDOW: u32 = 1;
const NORMAL: u32 = 0;
const STREAMING: u32 = 1;
const PERSISTING: u32 = 2;

/// Encodes a window as the words of an attribute's value.
fn value_of(Window { base, bytes, hit_ratio, hit, miss }: Window) -> [u32; 16] {
    let words = |long: u64| [long as u32, (long >> 32) as u32];
    let mut value = [0; 16];
    value[..2].copy_from_slice(&words(base));
    value[2..4].copy_from_slice(&words(bytes));
    value[4..7].copy_from_slice(&[hit_ratio.to_bits(), hit, miss]);
    value
}

#[test]
#[ignore = "runs only inside a capture"]
fn windows() {
    if !is_captured() {
        return;
    }
    let cuda = open_driver();
    let runtime = Library::open(c"libcudart.so.13");
    let x = allocate(&cuda, 1 << 14);
    let kernel = load_kernel(&cuda, KERNEL, c"k");
    let mut stream = 0u64;
    call!(cuda, "cuStreamCreate"(&raw mut stream => *mut u64, 0 => u32));
    let sizes = [108, 109].map(|number| {
        let mut value = 0i32;
        call!(cuda, "cuDeviceGetAttribute"(&raw mut value => *mut i32, number => u32, 0 => i32));
        value
    });
    assert_eq!(sizes, [3 << 18, (128 << 20) - 4096]);

    let window = Window { base: x, bytes: 64, hit_ratio: 1.0, hit: PERSISTING, miss: NORMAL };
    let set =
        |library: &Library, name: &str, stream: u64, attribute: u32, window: Window| match name {
            "driver" => call!(library, "cuStreamSetAttribute"(
                stream => u64, attribute => u32, &raw const window => *const Window
            )),
            _ => call!(library, "cudaStreamSetAttribute"(
                stream => u64, attribute => u32, &raw const window => *const Window
            )),
        };
    let launch = |stream: u64, attributes: &[Attribute]| {
        let config = DriverConfig {
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            stream,
            attributes: attributes.as_ptr(),
            count: attributes.len() as u32,
        };
        let arguments: [*const u64; 1] = [&raw const x];
        call!(cuda, "cuLaunchKernelEx"(
            &raw const config => *const DriverConfig, kernel => usize,
            arguments.as_ptr() => *const *const u64, ptr::null() => *const usize
        ))
    };
    // Launch 0: the stream's window. 1: the launch's own. 2: another stream's. 3: removed.
    assert_eq!(set(&cuda, "driver", stream, WINDOW, window), 0);
    assert_eq!(launch(stream, &[]), 0);
    let half = Window { hit_ratio: 0.5, hit: STREAMING, ..window };
    let attribute = |window| Attribute { kind: WINDOW, padding: 0, value: value_of(window) };
    assert_eq!(launch(stream, &[attribute(half)]), 0);
    assert_eq!(launch(0, &[]), 0);
    assert_eq!(set(&cuda, "driver", stream, WINDOW, Window { bytes: 0, ..window }), 0);
    assert_eq!(launch(stream, &[]), 0);
    // Launch 4: through the runtime, for the default stream.
    assert_eq!(set(&runtime, "runtime", 0, WINDOW, Window { bytes: 8192, ..window }), 0);
    assert_eq!(launch(0, &[]), 0);
    // Before launches 5 and 6.
    assert_eq!(call!(runtime, "cudaCtxResetPersistingL2Cache"()), 0);
    assert_eq!(launch(0, &[]), 0);
    assert_eq!(call!(cuda, "cuCtxResetPersistingL2Cache"()), 0);
    assert_eq!(launch(0, &[]), 0);
    // Invalid windows.
    assert_eq!(set(&cuda, "driver", stream, WINDOW, Window { hit: 3, ..window }), 1);
    assert_eq!(set(&cuda, "driver", stream, WINDOW, Window { hit_ratio: 1.5, ..window }), 1);
    assert_eq!(launch(stream, &[attribute(Window { miss: 9, ..window })]), 1);
    assert_eq!(set(&cuda, "driver", 77, WINDOW, window), 400);
    assert_eq!(set(&cuda, "driver", stream, 3, window), 0, "other attributes have no effect");
}
