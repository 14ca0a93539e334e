//! A program that creates tensor maps and passes them to kernels.

use std::ffi::{c_char, c_void};
use std::{mem, ptr};

use crate::api::{Library, call, load_kernel, upload};
use crate::common::is_captured;

const INVALID: u32 = 1;
const UNSUPPORTED: u32 = 801;

/// `CUtensorMap`
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Map([u8; 128]);

/// `cuTensorMapEncodeTiled`
type Encode = unsafe extern "C" fn(
    *mut Map,
    u32,
    u32,
    u64,
    *const u64,
    *const u64,
    *const u32,
    *const u32,
    u32,
    u32,
    u32,
    u32,
) -> u32;

/// Arguments of a call.
#[derive(Clone, Copy)]
struct EncodeArguments {
    data_type: u32,
    rank: u32,
    address: u64,
    sizes: [u64; 6],
    strides: [u64; 5],
    extents: [u32; 6],
    steps: [u32; 6],
    interleave: u32,
    swizzle: u32,
    promotion: u32,
    fill: u32,
}

/// Eight columns and four rows of 32-bit integers, with a box of four by two.
const MATRIX: EncodeArguments = EncodeArguments {
    data_type: 2,
    rank: 2,
    address: 16,
    sizes: [8, 4, 1, 1, 1, 1],
    strides: [32, 128, 128, 128, 128],
    extents: [4, 2, 1, 1, 1, 1],
    steps: [1; 6],
    interleave: 0,
    swizzle: 0,
    promotion: 0,
    fill: 0,
};

/// Returns the driver's function, looked up through the runtime.
fn encode_function(cuda: &Library) -> Encode {
    let (mut address, mut why) = (ptr::null_mut::<c_void>(), 9u32);
    let found = call!(cuda, "cudaGetDriverEntryPoint"(
        c"cuTensorMapEncodeTiled".as_ptr() => *const c_char, &raw mut address => *mut *mut c_void,
        0 => u64, &raw mut why => *mut u32
    ));
    assert_eq!((found, why), (0, 0));
    // SAFETY: the manual gives the function this type.
    unsafe { mem::transmute::<*mut c_void, Encode>(address) }
}

fn encode(function: Encode, request: &EncodeArguments) -> (u32, Map) {
    let mut map = Map([0; 128]);
    let status = encode_to(function, &raw mut map, request);
    (status, map)
}

fn encode_to(function: Encode, map: *mut Map, request: &EncodeArguments) -> u32 {
    // SAFETY: the arrays have six elements, and each test chooses the address of the map.
    unsafe {
        function(
            map,
            request.data_type,
            request.rank,
            request.address,
            request.sizes.as_ptr(),
            request.strides.as_ptr(),
            request.extents.as_ptr(),
            request.steps.as_ptr(),
            request.interleave,
            request.swizzle,
            request.promotion,
            request.fill,
        )
    }
}

#[test]
#[ignore = "runs only inside a capture"]
fn tensor() {
    if !is_captured() {
        return;
    }
    let cuda = Library::open(c"libcuda.so.1");
    let runtime = Library::open(c"libcudart.so.13");
    assert_eq!(call!(runtime, "cudaFree"(0 => u64)), 0);
    let function = encode_function(&runtime);
    checks(function);
    places(&cuda, function);
    launches(&cuda, function);
}

/// Violates each requirement of the manual on its own.
fn checks(function: Encode) {
    let status = |request: EncodeArguments| encode(function, &request).0;
    let with = |change: fn(&mut EncodeArguments)| {
        let mut request = MATRIX;
        change(&mut request);
        status(request)
    };
    assert_eq!(status(MATRIX), 0);
    let allowed: [fn(&mut EncodeArguments); 16] = [
        |r| r.rank = 1,
        |r| r.rank = 5,
        |r| r.sizes[1] = 1 << 32,
        |r| r.strides[0] = (1 << 40) - 16,
        |r| r.extents[1] = 256,
        |r| r.steps[1] = 8,
        |r| (r.data_type, r.extents[0]) = (0, 16),
        |r| (r.data_type, r.fill) = (7, 1),
        |r| (r.data_type, r.extents[0], r.fill) = (9, 8, 1),
        |r| r.data_type = 10,
        |r| (r.data_type, r.fill) = (11, 1),
        |r| r.data_type = 12,
        |r| r.promotion = 3,
        |r| (r.swizzle, r.extents[0]) = (1, 8),
        |r| (r.swizzle, r.extents[0]) = (2, 16),
        |r| (r.swizzle, r.extents[0]) = (3, 32),
    ];
    for (at, change) in allowed.into_iter().enumerate() {
        assert_eq!(with(change), 0, "allowed {at}");
    }
    let invalid: [fn(&mut EncodeArguments); 23] = [
        |r| r.rank = 0,
        |r| r.rank = 6,
        |r| r.address = 8,
        |r| r.sizes[0] = 0,
        |r| r.sizes[1] = (1 << 32) + 1,
        |r| r.strides[0] = 24,
        |r| r.strides[0] = 1 << 40,
        |r| r.extents[1] = 0,
        |r| r.extents[1] = 257,
        |r| r.extents[0] = 3,
        |r| r.steps[0] = 0,
        |r| r.steps[1] = 0,
        |r| r.steps[1] = 9,
        |r| r.data_type = 16,
        |r| r.interleave = 3,
        |r| r.swizzle = 7,
        |r| r.promotion = 4,
        |r| r.fill = 2,
        |r| r.fill = 1,
        |r| (r.swizzle, r.extents[0]) = (1, 12),
        |r| (r.swizzle, r.extents[0]) = (2, 20),
        |r| (r.swizzle, r.extents[0]) = (3, 36),
        |r| r.data_type = u32::MAX,
    ];
    for (at, change) in invalid.into_iter().enumerate() {
        assert_eq!(with(change), INVALID, "invalid {at}");
    }
    for data_type in 13..=15 {
        assert_eq!(
            status(EncodeArguments { data_type, ..MATRIX }),
            UNSUPPORTED,
            "type {data_type}"
        );
    }
    for interleave in [1, 2] {
        assert_eq!(status(EncodeArguments { interleave, ..MATRIX }), UNSUPPORTED);
    }
    for swizzle in 4..=6 {
        assert_eq!(status(EncodeArguments { swizzle, ..MATRIX }), UNSUPPORTED, "swizzle {swizzle}");
    }
}

/// Checks addresses of maps and arrays, and unsupported modes.
fn places(cuda: &Library, function: Encode) {
    let mut maps = [Map([0; 128]); 2];
    let first = maps.as_mut_ptr();
    assert_eq!(encode_to(function, ptr::null_mut(), &MATRIX), INVALID);
    assert_eq!(encode_to(function, first.wrapping_byte_add(32), &MATRIX), INVALID);
    assert_eq!(encode_to(function, first.wrapping_byte_add(64), &MATRIX), 0);
    // A one-dimensional tensor has no strides.
    let (null, sizes) = (ptr::null::<u64>(), [8u64, 4]);
    let counts = [4u32, 2];
    let with_arrays = |rank: u32, sizes: *const u64, counts: *const u32| {
        // SAFETY: the arrays are null or have at least as many elements as are read.
        unsafe { function(first, 2, rank, 16, sizes, null, counts, counts, 0, 0, 0, 0) }
    };
    assert_eq!(with_arrays(1, sizes.as_ptr(), counts.as_ptr()), 0);
    assert_eq!(with_arrays(2, sizes.as_ptr(), counts.as_ptr()), INVALID);
    assert_eq!(with_arrays(1, null, counts.as_ptr()), INVALID);
    assert_eq!(with_arrays(1, sizes.as_ptr(), ptr::null()), INVALID);
    let mut map = encode(function, &MATRIX).1;
    let replace = |map: *mut Map, address: u64| call!(cuda, "cuTensorMapReplaceAddress"(map => *mut Map, address => u64));
    assert_eq!(replace(&raw mut map, 40), INVALID);
    assert_eq!(replace(&raw mut map, 48), 0);
    let moved = encode(function, &EncodeArguments { address: 48, ..MATRIX }).1;
    assert_eq!(map.0, moved.0);
    let mut other = Map([0; 128]);
    assert_eq!(replace(&raw mut other, 48), INVALID);
    assert_eq!(call!(cuda, "cuTensorMapEncodeIm2col"()), UNSUPPORTED);
    assert_eq!(call!(cuda, "cuTensorMapEncodeIm2colWide"()), UNSUPPORTED);
}

/// Copies a box from one tensor to the same coordinates of another.
const TRANSFER: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry transfer(.param .align 64 .b8 from[128], .param .u64 to)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<5>;
    .shared .align 128 .b8 box[32];
    .shared .align 8 .b64 bar;
    mov.b64 %rd1, from;
    cvta.param.u64 %rd2, %rd1;
    ld.param.u64 %rd3, [to];
    mbarrier.init.shared::cta.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [bar], 32;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%rd2, {2, 1}], [bar];
LOADING:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra LOADING;
    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {2, 1}], [box];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    ret;
}";

/// Launches with one map as a parameter and the other in device memory.
fn launches(cuda: &Library, function: Encode) {
    let kernel = load_kernel(cuda, TRANSFER, c"transfer");
    let values: Vec<u32> = (0..32).map(|at| at / 8 * 10 + at % 8).collect();
    let (from, to) = (upload(cuda, &values), upload(cuda, &[0u32; 32]));
    let map_of = |address| encode(function, &EncodeArguments { address, ..MATRIX }).1;
    let launch = |map: Map, other: u64| {
        let arguments: [*const u8; 2] = [ptr::from_ref(&map).cast(), ptr::from_ref(&other).cast()];
        call!(cuda, "cuLaunchKernel"(
            kernel => usize, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 0 => u32,
            0 => u64, arguments.as_ptr() => *const *const u8, ptr::null() => *const usize
        ))
    };
    let mut left = [0u32; 32];
    let to_map = upload(cuda, &map_of(to).0);
    for _ in 0..2 {
        assert_eq!(launch(map_of(from), to_map), 0);
    }
    call!(cuda, "cuMemcpyDtoH_v2"(left.as_mut_ptr() => *mut u32, to => u64, 128 => usize));
    let mut expected = [0; 32];
    expected[10..14].copy_from_slice(&[12, 13, 14, 15]);
    expected[18..22].copy_from_slice(&[22, 23, 24, 25]);
    assert_eq!(left, expected);
    // The tensor itself is not a map.
    assert_eq!(launch(map_of(from), from), 719);
}
