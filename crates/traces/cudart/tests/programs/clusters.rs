//! A program that launches kernels in clusters of CTAs.

use std::ffi::CStr;
use std::ptr;

use crate::api::{Attribute, DriverConfig, Library, allocate, call, load_kernel, open_driver};
use crate::common::is_captured;

/// `exchange` writes the number of the next CTA of its cluster, read from that CTA's shared memory; `fixed`
/// does so in clusters of two.
const KERNELS: &str = "
.version 7.8
.target sm_90
.address_size 64
.visible .entry NAME(.param .u64 y) DIRECTIVES
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 own[4];
    mov.u32 %r1, %ctaid.x;
    st.shared.u32 [own], %r1;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %cluster_nctarank;
    add.u32 %r2, %r2, 1;
    rem.u32 %r2, %r2, %r3;
    mapa.shared::cluster.u32 %r4, own, %r2;
    ld.shared::cluster.u32 %r5, [%r4];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.param.u64 %rd1, [y];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r5;
    ret;
}";

/// `cudaLaunchConfig_t`
#[repr(C)]
struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: usize,
    stream: u64,
    attributes: *const Attribute,
    count: u32,
}

const INVALID_CLUSTER_SIZE: u32 = 912;

struct Cuda {
    driver: Library,
    runtime: Library,
    y: u64,
}

fn attribute(cluster: [u32; 3]) -> Attribute {
    const CLUSTER: u32 = 4;
    let mut value = [0; 16];
    value[..3].copy_from_slice(&cluster);
    Attribute { kind: CLUSTER, padding: 0, value }
}

impl Cuda {
    fn start() -> Option<Cuda> {
        if !is_captured() {
            return None;
        }
        let (driver, runtime) = (open_driver(), Library::open(c"libcudart.so.13"));
        let y = allocate(&driver, 256);
        Some(Cuda { driver, runtime, y })
    }

    fn kernel(&self, name: &CStr, directives: &str) -> usize {
        let text =
            KERNELS.replace("NAME", name.to_str().unwrap()).replace("DIRECTIVES", directives);
        load_kernel(&self.driver, &text, name)
    }

    /// Launches through the runtime, with the cluster attribute if given.
    fn launch(&self, kernel: usize, ctas: u32, cluster: Option<[u32; 3]>) -> u32 {
        let attributes: Vec<Attribute> = cluster.into_iter().map(attribute).collect();
        let config = Config {
            grid: [ctas, 1, 1],
            block: [32, 1, 1],
            shared: 0,
            stream: 0,
            attributes: attributes.as_ptr(),
            count: attributes.len() as u32,
        };
        let arguments: [*const u64; 1] = [&raw const self.y];
        call!(self.runtime, "cudaLaunchKernelExC"(
            &raw const config => *const Config, kernel => usize,
            arguments.as_ptr() => *const *const u64
        ))
    }

    fn set(&self, kernel: usize, number: u32, value: i32) -> u32 {
        call!(self.driver, "cuFuncSetAttribute"(
            kernel => usize, number => u32, value => i32
        ))
    }

    fn get(&self, kernel: usize, number: u32) -> i32 {
        let mut value = -1;
        call!(self.driver, "cuFuncGetAttribute"(
            &raw mut value => *mut i32, number => u32, kernel => usize
        ));
        value
    }

    fn left<const N: usize>(&self) -> [u32; N] {
        let mut values = [0; N];
        call!(self.driver, "cuMemcpyDtoH_v2"(
            values.as_mut_ptr() => *mut u32, self.y => u64, 4 * N => usize
        ));
        values
    }
}

#[test]
#[ignore = "runs only inside a capture"]
fn clusters() {
    let Some(cuda) = Cuda::start() else { return };
    let mut has_clusters = 0i32;
    call!(cuda.driver, "cuDeviceGetAttribute"(
        &raw mut has_clusters => *mut i32, 120 => u32, 0 => i32
    ));
    assert_eq!(has_clusters, 1);
    launches(&cuda);
    sizes(&cuda);
    room(&cuda);
}

fn launches(cuda: &Cuda) {
    let exchange = cuda.kernel(c"exchange", "");
    assert_eq!(cuda.launch(exchange, 4, None), 0);
    assert_eq!(cuda.left(), [0, 1, 2, 3], "each is a cluster of its own");
    assert_eq!(cuda.launch(exchange, 4, Some([2, 1, 1])), 0);
    assert_eq!(cuda.left(), [1, 0, 3, 2]);
    // The same launch through the driver.
    let cluster = attribute([4, 1, 1]);
    let config = DriverConfig {
        grid: [4, 1, 1],
        block: [32, 1, 1],
        shared: 0,
        stream: 0,
        attributes: &raw const cluster,
        count: 1,
    };
    let arguments: [*const u64; 1] = [&raw const cuda.y];
    let launched = call!(cuda.driver, "cuLaunchKernelEx"(
        &raw const config => *const DriverConfig, exchange => usize,
        arguments.as_ptr() => *const *const u64, ptr::null() => *const usize
    ));
    assert_eq!((launched, cuda.left()), (0, [1, 2, 3, 0]));
    let fixed = cuda.kernel(c"fixed", ".explicitcluster .reqnctapercluster 2");
    assert_eq!(cuda.launch(fixed, 4, None), 0);
    assert_eq!(cuda.left(), [1, 0, 3, 2]);
    assert_eq!(cuda.launch(fixed, 4, Some([4, 1, 1])), INVALID_CLUSTER_SIZE);
    assert_eq!(cuda.launch(fixed, 3, None), INVALID_CLUSTER_SIZE);
    assert_eq!([10, 11, 12, 13].map(|number| cuda.get(fixed, number)), [1, 2, 1, 1]);
    assert_eq!(cuda.set(fixed, 11, 4), 800, "the code already fixes it");
}

fn sizes(cuda: &Cuda) {
    let kernel = cuda.kernel(c"sizes", "");
    for (ctas, cluster) in [(3, [2, 1, 1]), (4, [0, 1, 1]), (4, [1, 2, 1]), (32, [16, 1, 1])] {
        assert_eq!(cuda.launch(kernel, ctas, Some(cluster)), INVALID_CLUSTER_SIZE, "{cluster:?}");
    }
    assert_eq!(cuda.get(kernel, 14), 0);
    assert_eq!(cuda.set(kernel, 14, 1), 0);
    assert_eq!(cuda.get(kernel, 14), 1);
    assert_eq!(cuda.launch(kernel, 32, Some([16, 1, 1])), 0);
    assert_eq!(cuda.left::<17>()[15..], [0, 17]);
    assert_eq!(cuda.launch(kernel, 32, Some([32, 1, 1])), INVALID_CLUSTER_SIZE);
    // A kernel attribute sets the cluster shape of its launches.
    for (number, ctas) in [(11, 2), (12, 1), (13, 1)] {
        assert_eq!(cuda.set(kernel, number, ctas), 0);
    }
    assert_eq!([10, 11, 12, 13].map(|number| cuda.get(kernel, number)), [0, 2, 1, 1]);
    assert_eq!(cuda.launch(kernel, 4, None), 0);
    assert_eq!(cuda.left(), [1, 0, 3, 2]);
    assert_eq!(cuda.launch(kernel, 4, Some([4, 1, 1])), INVALID_CLUSTER_SIZE);
    assert_eq!(cuda.set(kernel, 11, -1), 1);
}

/// Checks cluster occupancy: an SM of the device holds 16 CTAs, and there are seven SMs.
fn room(cuda: &Cuda) {
    let kernel = cuda.kernel(c"room", "");
    let config = |attributes: &[Attribute]| Config {
        grid: [8, 1, 1],
        block: [32, 1, 1],
        shared: 0,
        stream: 0,
        attributes: attributes.as_ptr(),
        count: attributes.len() as u32,
    };
    let mut clusters = 0i32;
    let four = [attribute([2, 2, 1])];
    let active = |clusters: &mut i32, config: Config| {
        call!(cuda.runtime, "cudaOccupancyMaxActiveClusters"(
            &raw mut *clusters => *mut i32, kernel => usize, &raw const config => *const Config
        ))
    };
    assert_eq!((active(&mut clusters, config(&four)), clusters), (0, 28));
    assert_eq!(active(&mut clusters, config(&[])), INVALID_CLUSTER_SIZE);
    let potential = || {
        let (mut size, config) = (0i32, config(&[]));
        let told = call!(cuda.runtime, "cudaOccupancyMaxPotentialClusterSize"(
            &raw mut size => *mut i32, kernel => usize, &raw const config => *const Config
        ));
        (told, size)
    };
    assert_eq!(potential(), (0, 8));
    assert_eq!(cuda.set(kernel, 14, 1), 0);
    assert_eq!(potential(), (0, 16));
}
