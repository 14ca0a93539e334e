//! A program that uses memory pools, exhausts memory, and calls unsupported driver functions.

use std::ptr;

use crate::api::{Library, call, load_module, open_driver};
use crate::common::is_captured;
use crate::fat_binary::KERNELS;

const USED: u32 = 7;
const USED_HIGH: u32 = 8;

/// `CUmemPoolProps`
#[repr(C)]
struct Properties {
    allocation_type: u32,
    handle_types: u32,
    location: [u32; 2],
    security: u64,
    most_bytes: usize,
    reserved: [u64; 7],
}

const ON_DEVICE: Properties = Properties {
    allocation_type: 1,
    handle_types: 0,
    location: [1, 0],
    security: 0,
    most_bytes: 0,
    reserved: [0; 7],
};

#[test]
#[ignore = "runs only inside a capture"]
fn pools() {
    if !is_captured() {
        return;
    }
    let cuda = open_driver();
    let own = own_pool(&cuda);
    made_pools(&cuda, own);
    too_much(&cuda);
    unsupported(&cuda);
    parameters(&cuda);
}

fn attribute(cuda: &Library, pool: u64, number: u32) -> u64 {
    let mut value = u64::MAX;
    let got = call!(cuda, "cuMemPoolGetAttribute"(
        pool => u64, number => u32, &raw mut value => *mut u64
    ));
    assert_eq!(got, 0);
    value
}

/// Checks that the device's default pool is current and counts stream-ordered allocations.
fn own_pool(cuda: &Library) -> u64 {
    let (mut supported, mut own, mut current, mut at) = (0i32, 0u64, 0u64, 0u64);
    call!(cuda, "cuDeviceGetAttribute"(&raw mut supported => *mut i32, 115 => u32, 0 => i32));
    call!(cuda, "cuDeviceGetDefaultMemPool"(&raw mut own => *mut u64, 0 => i32));
    call!(cuda, "cuDeviceGetMemPool"(&raw mut current => *mut u64, 0 => i32));
    assert_eq!((supported, current), (1, own));
    assert_ne!(own, 0);
    call!(cuda, "cuMemAllocAsync"(&raw mut at => *mut u64, 100 => usize, 0 => u64));
    assert_eq!([USED, USED_HIGH].map(|number| attribute(cuda, own, number)), [100, 100]);
    assert_eq!(call!(cuda, "cuMemFreeAsync"(at => u64, 0 => u64)), 0);
    assert_eq!([USED, USED_HIGH].map(|number| attribute(cuda, own, number)), [0, 100]);
    assert_eq!(call!(cuda, "cuMemPoolDestroy"(own => u64)), 1);
    own
}

fn made_pools(cuda: &Library, own: u64) {
    let create = |properties: &Properties| {
        let mut pool = 0u64;
        let status = call!(cuda, "cuMemPoolCreate"(
            &raw mut pool => *mut u64, properties => &Properties
        ));
        (status, pool)
    };
    assert_eq!(create(&Properties { handle_types: 1, ..ON_DEVICE }).0, 801);
    assert_eq!(create(&Properties { location: [2, 0], ..ON_DEVICE }).0, 801);
    assert_eq!(create(&Properties { location: [1, 1], ..ON_DEVICE }).0, 101);
    let (made, pool) = create(&Properties { most_bytes: 1000, ..ON_DEVICE });
    assert_eq!(made, 0);
    let (mut at, mut access, mut current) = (0u64, 0u32, 0u64);
    let allocate = |at: *mut u64, bytes: usize| {
        call!(cuda, "cuMemAllocFromPoolAsync"(
            at => *mut u64, bytes => usize, pool => u64, 0 => u64
        ))
    };
    assert_eq!([1000, 1].map(|bytes| allocate(&raw mut at, bytes)), [0, 2]);
    assert_eq!((attribute(cuda, pool, USED), attribute(cuda, own, USED)), (1000, 0));
    let location = [1u32, 0];
    call!(cuda, "cuMemPoolGetAccess"(
        &raw mut access => *mut u32, pool => u64, location.as_ptr() => *const u32
    ));
    assert_eq!(access, 3);
    assert_eq!(call!(cuda, "cuDeviceSetMemPool"(0 => i32, pool => u64)), 0);
    assert_eq!(call!(cuda, "cuMemPoolDestroy"(pool => u64)), 0);
    call!(cuda, "cuDeviceGetMemPool"(&raw mut current => *mut u64, 0 => i32));
    assert_eq!(current, own);
}

/// Checks that an allocation that does not fit fails harmlessly, and that one that fits costs only the
/// touched pages.
fn too_much(cuda: &Library) {
    let mut at = 0u64;
    let allocate =
        |at: *mut u64, bytes: usize| call!(cuda, "cuMemAlloc_v2"(at => *mut u64, bytes => usize));
    assert_eq!([usize::MAX, 1 << 40].map(|bytes| allocate(&raw mut at, bytes)), [2, 2]);
    assert_eq!(allocate(&raw mut at, 48 << 30), 0);
    let last = ptr::with_exposed_provenance_mut::<u32>(at as usize + (48 << 30) - 4);
    // SAFETY: the program owns these bytes, and no kernel runs.
    unsafe { last.write(7) };
    assert_eq!(allocate(&raw mut at, 48 << 30), 2);
    let count = 1usize << 62;
    assert_eq!(call!(cuda, "cuMemsetD32_v2"(at => u64, 0 => u32, count => usize)), 1);
    let table = format!("{KERNELS}\n.global .align 4 .b8 table[1099511627776];");
    assert_eq!(load_module(cuda, &table).0, 2);
}

/// Checks that unsupported functions can be bound and report their lack of support.
fn unsupported(cuda: &Library) {
    let (mut handle, mut graph) = ([0u8; 64], 0u64);
    let shared = call!(cuda, "cuIpcGetMemHandle"(handle.as_mut_ptr() => *mut u8, 0 => u64));
    let created = call!(cuda, "cuGraphCreate"(&raw mut graph => *mut u64, 0 => u32));
    let begun = call!(cuda, "cuStreamBeginCapture_v2"(0 => u64, 0 => u32));
    assert_eq!([shared, created, begun], [801; 3]);
    let runtime = Library::open(c"libcudart.so.13");
    let shared = call!(runtime, "cudaIpcGetMemHandle"(handle.as_mut_ptr() => *mut u8, 0 => u64));
    assert_eq!((shared, call!(runtime, "cudaGetLastError"())), (801, 801));
    // Streams are never captured either.
    let mut status = 9u32;
    let asked = call!(cuda, "cuStreamGetCaptureInfo_v2"(
        0 => u64, &raw mut status => *mut u32, 0 => u64, 0 => u64, 0 => u64, 0 => u64
    ));
    assert_eq!((asked, status), (0, 0));
    let mut attribute = 1i32;
    call!(cuda, "cuDeviceGetAttribute"(&raw mut attribute => *mut i32, 102 => u32, 0 => i32));
    assert_eq!(attribute, 0, "virtual memory management");
}

fn parameters(cuda: &Library) {
    let (_, module) = load_module(cuda, KERNELS);
    let (mut count, mut kernels) = (0u32, [0usize; 2]);
    call!(cuda, "cuModuleGetFunctionCount"(&raw mut count => *mut u32, module => u64));
    assert_eq!(count, 5);
    call!(cuda, "cuModuleEnumerateFunctions"(
        kernels.as_mut_ptr() => *mut usize, 2 => u32, module => u64
    ));
    let parameter = |number: usize| {
        let (mut offset, mut size) = (9usize, 9usize);
        let status = call!(cuda, "cuFuncGetParamInfo"(
            kernels[0] => usize, number => usize, &raw mut offset => *mut usize,
            &raw mut size => *mut usize
        ));
        (status, offset, size)
    };
    assert_eq!([0, 1, 3].map(parameter), [(0, 0, 4), (0, 8, 8), (0, 24, 4)]);
    assert_eq!(parameter(4).0, 1);
}
