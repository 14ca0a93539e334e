//! A program that uses the driver, as Triton and Numba do.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::api::{Library, call, find_kernel, load_module, upload};
use crate::common::is_captured;
use crate::fat_binary::KERNELS;

/// `CUDA_MEMCPY2D`: its two sides, then width and height.
#[repr(C)]
struct Copy2d {
    sides: [Side; 2],
    extent: [usize; 2],
}

/// A side of a copy; kind 1 is host memory, 2 device memory.
#[repr(C)]
struct Side {
    offset: [usize; 2],
    kind: u32,
    host: u64,
    device: u64,
    array: u64,
    pitch: usize,
}

#[test]
#[ignore = "runs only inside a capture"]
fn driver() {
    if !is_captured() {
        return;
    }
    let cuda = Library::open(c"libcuda.so.1");
    start(&cuda);
    contexts(&cuda);
    let module = module(&cuda);
    launches(&cuda, module);
    memory(&cuda);
    streams(&cuda);
    links(&cuda);
}

fn start(cuda: &Library) {
    let mut count = 0i32;
    assert_eq!(call!(cuda, "cuDeviceGetCount"(&raw mut count => *mut i32)), 3);
    assert_eq!(call!(cuda, "cuInit"(1 => u32)), 1);
    assert_eq!(call!(cuda, "cuInit"(0 => u32)), 0);
    assert_eq!(call!(cuda, "cuDeviceGetCount"(&raw mut count => *mut i32)), 0);
    assert_eq!(count, 1);
    let mut name = [0 as c_char; 8];
    call!(cuda, "cuDeviceGetName"(name.as_mut_ptr() => *mut c_char, 8 => i32, 0 => i32));
    // SAFETY: the name ends with a zero byte.
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"a devic");
    let mut major = 0i32;
    call!(cuda, "cuDeviceGetAttribute"(&raw mut major => *mut i32, 75 => u32, 0 => i32));
    assert_eq!(major, 7);
    let mut text = ptr::null::<c_char>();
    assert_eq!(call!(cuda, "cuGetErrorName"(700 => u32, &raw mut text => *mut *const c_char)), 0);
    // SAFETY: a static text of the driver.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(call!(cuda, "cuGetErrorName"(77 => u32, &raw mut text => *mut *const c_char)), 1);
    assert!(text.is_null());
    // Functions by name: the newest form of the release.
    let find = |name: &CStr, release: i32| {
        let (mut address, mut why) = (0usize, 9u32);
        let status = call!(cuda, "cuGetProcAddress_v2"(
            name.as_ptr() => *const c_char, &raw mut address => *mut usize, release => i32,
            0 => u64, &raw mut why => *mut u32
        ));
        (status, address, why)
    };
    // SAFETY: only the address is used.
    let newest: usize = unsafe { cuda.function("cuMemAlloc_v2") };
    assert_eq!(find(c"cuMemAlloc", 12_000), (0, newest, 0));
    assert_eq!(find(c"cuFrobnicate", 12_000), (0, 0, 1));
}

/// Checks contexts: nothing can be allocated without one.
fn contexts(cuda: &Library) {
    let (mut address, mut context, mut current) = (0u64, 0u64, 1u64);
    let allocate = |to: *mut u64| call!(cuda, "cuMemAlloc_v2"(to => *mut u64, 4 => usize));
    assert_eq!(allocate(&raw mut address), 201);
    call!(cuda, "cuCtxGetCurrent"(&raw mut current => *mut u64));
    assert_eq!(current, 0);
    let made = call!(cuda, "cuCtxCreate_v2"(&raw mut context => *mut u64, 0 => u32, 0 => i32));
    assert_eq!((made, allocate(&raw mut address)), (0, 0));
    assert_eq!(call!(cuda, "cuCtxDestroy_v2"(context => u64)), 0);
    assert_eq!(allocate(&raw mut address), 201);
    call!(cuda, "cuDevicePrimaryCtxRetain"(&raw mut context => *mut u64, 0 => i32));
    assert_eq!(call!(cuda, "cuCtxSetCurrent"(context => u64)), 0);
    assert_eq!(call!(cuda, "cuCtxSetCurrent"(7 => u64)), 201);
    assert_eq!(allocate(&raw mut address), 0);
}

fn module(cuda: &Library) -> u64 {
    let (loaded, mut module) = load_module(cuda, KERNELS);
    assert_eq!(loaded, 0);
    let machine_code = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0";
    let refused = call!(cuda, "cuModuleLoadData"(
        &raw mut module => *mut u64, machine_code.as_ptr() => *const u8
    ));
    assert_eq!(refused, 209);
    logs(cuda);
    let (mut address, mut bytes) = (0u64, 0usize);
    let found = call!(cuda, "cuModuleGetGlobal_v2"(
        &raw mut address => *mut u64, &raw mut bytes => *mut usize, module => u64,
        c"factors".as_ptr() => *const c_char
    ));
    assert_eq!((found, bytes), (0, 16));
    let missing = call!(cuda, "cuModuleGetGlobal_v2"(
        &raw mut address => *mut u64, &raw mut bytes => *mut usize, module => u64,
        c"nothing".as_ptr() => *const c_char
    ));
    assert_eq!(missing, 500);
    module
}

/// Checks the error log: it gives the reason why PTX is rejected, truncated to the buffer, and its length.
fn logs(cuda: &Library) {
    let text = c".version 7.0\n.target sm_70\nnonsense";
    let load = |room: usize| {
        let (mut log, mut module) = ([1u8; 256], 0u64);
        let options = [5u32, 6];
        let mut values = [log.as_mut_ptr(), ptr::without_provenance_mut(room)];
        let status = call!(cuda, "cuModuleLoadDataEx"(
            &raw mut module => *mut u64, text.as_ptr() => *const c_char, 2 => u32,
            options.as_ptr() => *const u32, values.as_mut_ptr() => *mut *mut u8
        ));
        assert_eq!(status, 218);
        let length = values[1].addr();
        assert_eq!(log[length..][..2], [0, 1]);
        String::from_utf8(log[..length].to_vec()).unwrap()
    };
    let whole = load(256);
    assert!(whole.contains("nonsense"), "{whole}");
    assert_eq!(load(8), whole[..7]);
}

fn download<const N: usize>(cuda: &Library, address: u64) -> [f32; N] {
    let mut values = [0.0; N];
    let copied = call!(cuda, "cuMemcpyDtoH_v2"(
        values.as_mut_ptr() => *mut f32, address => u64, 4 * N => usize
    ));
    assert_eq!(copied, 0);
    values
}

fn launches(cuda: &Library, module: u64) {
    assert_eq!(find_kernel(cuda, module, c"nothing").0, 500);
    let (found, saxpy) = find_kernel(cuda, module, c"saxpy");
    assert_eq!(found, 0);
    let (x, y) = (upload(cuda, &[1.0f32; 8]), upload(cuda, &[1.0f32; 8]));
    let (a, n) = (2f32, 8u32);
    let arguments: [*const u8; 4] = [
        ptr::from_ref(&a).cast(),
        ptr::from_ref(&x).cast(),
        ptr::from_ref(&y).cast(),
        ptr::from_ref(&n).cast(),
    ];
    let launch = |arguments: *const *const u8, extra: *const usize| {
        call!(cuda, "cuLaunchKernel"(
            saxpy => usize, 1 => u32, 1 => u32, 1 => u32, 32 => u32, 1 => u32, 1 => u32,
            0 => u32, 0 => u64, arguments => *const *const u8, extra => *const usize
        ))
    };
    assert_eq!(launch(arguments.as_ptr(), ptr::null()), 0);
    // The same arguments in one buffer, with addresses aligned to 8 bytes.
    let mut buffer = [0u8; 28];
    buffer[..4].copy_from_slice(&a.to_le_bytes());
    buffer[8..16].copy_from_slice(&x.to_le_bytes());
    buffer[16..24].copy_from_slice(&y.to_le_bytes());
    buffer[24..].copy_from_slice(&n.to_le_bytes());
    let length = buffer.len();
    let place = |of: *const u8| of.expose_provenance();
    let extra = [1, place(buffer.as_ptr()), 2, place(ptr::from_ref(&length).cast()), 0];
    assert_eq!(launch(ptr::null(), extra.as_ptr()), 0);
    assert_eq!(download::<8>(cuda, y), [5.0; 8]);
    assert_eq!(call!(cuda, "cuCtxSynchronize"()), 0);
    let mut registers = 0i32;
    call!(cuda, "cuFuncGetAttribute"(&raw mut registers => *mut i32, 4 => i32, saxpy => usize));
    assert!(registers > 0);
    // One CTA has all of an SM's 32 warps.
    let (mut grid, mut block) = (0i32, 0i32);
    call!(cuda, "cuOccupancyMaxPotentialBlockSize"(
        &raw mut grid => *mut i32, &raw mut block => *mut i32, saxpy => usize, 0 => usize,
        0 => usize, 0 => i32
    ));
    assert_eq!((grid, block), (7, 1024));
    // A CTA that is too large.
    let refused = call!(cuda, "cuLaunchKernel"(
        saxpy => usize, 1 => u32, 1 => u32, 1 => u32, 2048 => u32, 1 => u32, 1 => u32,
        0 => u32, 0 => u64, arguments.as_ptr() => *const *const u8, ptr::null() => *const usize
    ));
    assert_eq!(refused, 1);
}

fn memory(cuda: &Library) {
    let y = upload(cuda, &[0.0f32; 8]);
    let one = 1f32.to_bits();
    call!(cuda, "cuMemsetD32_v2"(y => u64, one => u32, 3 => usize));
    // Two rows of one value, 16 bytes apart.
    let two = 2f32.to_bits();
    call!(cuda, "cuMemsetD2D32_v2"(
        y + 12 => u64, 16 => usize, two => u32, 1 => usize, 2 => usize
    ));
    assert_eq!(download::<8>(cuda, y), [1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
    // The second column of a 2 × 4 array becomes two rows of one value.
    let column = [0f32; 2];
    let side =
        |kind, host, device, pitch| Side { offset: [0, 0], kind, host, device, array: 0, pitch };
    let mut from = side(2, 0, y, 16);
    from.offset = [12, 0];
    let to = side(1, ptr::from_ref(&column).expose_provenance() as u64, 0, 4);
    let copy = Copy2d { sides: [from, to], extent: [4, 2] };
    assert_eq!(call!(cuda, "cuMemcpy2D_v2"(&raw const copy => *const Copy2d)), 0);
    assert_eq!(column.map(std::hint::black_box), [2.0, 2.0]);
    let (mut kind, mut base, mut bytes) = (0u32, 0u64, 0usize);
    call!(cuda, "cuPointerGetAttribute"(&raw mut kind => *mut u32, 2 => u32, y => u64));
    call!(cuda, "cuMemGetAddressRange_v2"(
        &raw mut base => *mut u64, &raw mut bytes => *mut usize, y + 5 => u64
    ));
    assert_eq!((kind, base, bytes), (2, y, 32));
    assert_eq!(call!(cuda, "cuMemFree_v2"(y => u64)), 0);
    assert_eq!(call!(cuda, "cuMemFree_v2"(y => u64)), 1);
    assert_eq!(call!(cuda, "cuMemAlloc_v2"(&raw mut base => *mut u64, 0 => usize)), 1);
}

fn streams(cuda: &Library) {
    let (mut stream, mut start, mut end) = (0u64, 0u64, 0u64);
    assert_eq!(call!(cuda, "cuStreamCreate"(&raw mut stream => *mut u64, 0 => u32)), 0);
    call!(cuda, "cuEventCreate"(&raw mut start => *mut u64, 0 => u32));
    call!(cuda, "cuEventCreate"(&raw mut end => *mut u64, 0 => u32));
    call!(cuda, "cuEventRecord"(start => u64, stream => u64));
    call!(cuda, "cuEventRecord"(end => u64, stream => u64));
    let mut milliseconds = 0f32;
    call!(cuda, "cuEventElapsedTime"(
        &raw mut milliseconds => *mut f32, start => u64, end => u64
    ));
    assert_eq!(milliseconds, 0.001);
    assert_eq!(call!(cuda, "cuStreamDestroy_v2"(stream => u64)), 0);
    assert_eq!(call!(cuda, "cuStreamSynchronize"(stream => u64)), 400);
}

/// Checks linking: a kernel calls a function of another module.
fn links(cuda: &Library) {
    const KERNEL: &str = "
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .entry linked(.param .u64 y)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    .param .b32 value;
    .param .b32 result;
    mov.u32 %r1, 21;
    st.param.b32 [value], %r1;
    call (result), twice, (value);
    ld.param.b32 %r1, [result];
    ld.param.u64 %rd1, [y];
    st.global.u32 [%rd1], %r1;
    ret;
}";
    const FUNCTION: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [value];
    add.u32 %r1, %r1, %r1;
    st.param.b32 [result], %r1;
    ret;
}";
    let null = ptr::null::<u8>();
    let (mut link, mut image, mut bytes) = (0u64, null, 0usize);
    call!(cuda, "cuLinkCreate_v2"(
        0 => u32, null => *const u8, null => *const u8, &raw mut link => *mut u64
    ));
    for text in [KERNEL, FUNCTION] {
        let added = call!(cuda, "cuLinkAddData_v2"(
            link => u64, 1 => u32, text.as_ptr() => *const u8, text.len() => usize,
            null => *const u8, 0 => u32, null => *const u8, null => *const u8
        ));
        assert_eq!(added, 0);
    }
    call!(cuda, "cuLinkComplete"(
        link => u64, &raw mut image => *mut *const u8, &raw mut bytes => *mut usize
    ));
    let mut module = 0u64;
    let loaded = call!(cuda, "cuModuleLoadDataEx"(
        &raw mut module => *mut u64, image => *const u8, 0 => u32, null => *const u8,
        null => *const u8
    ));
    assert_eq!((loaded, call!(cuda, "cuLinkDestroy"(link => u64))), (0, 0));
    let (found, linked) = find_kernel(cuda, module, c"linked");
    assert_eq!(found, 0);
    let y = upload(cuda, &[0.0f32]);
    let arguments = [ptr::from_ref(&y)];
    let launched = call!(cuda, "cuLaunchKernel"(
        linked => usize, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32,
        0 => u32, 0 => u64, arguments.as_ptr() => *const *const u64, ptr::null() => *const usize
    ));
    assert_eq!((launched, download::<1>(cuda, y)[0].to_bits()), (0, 42));
    assert_eq!(call!(cuda, "cuModuleUnload"(module => u64)), 0);
    assert_eq!(find_kernel(cuda, module, c"linked").0, 400);
}
