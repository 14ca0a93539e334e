//! Functions that have nothing to do here: hints, and waiting for what has happened already. They
//! fail if an earlier call broke the device.

use crate::context;
use crate::status::Status;

macro_rules! nothing {
    ($($name:ident),* $(,)?) => {
        $(
            /// Takes what its caller gives and looks at none of it.
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> Status {
                context::run_and_note(|_, _| Ok(()))
            }
        )*
    };
}

nothing!(
    cudaDeviceSynchronize,
    cudaThreadSynchronize,
    cudaSetDeviceFlags,
    cudaSetValidDevices,
    cudaDeviceSetCacheConfig,
    cudaDeviceSetSharedMemConfig,
    cudaDeviceSetLimit,
    cudaThreadSetCacheConfig,
    cudaThreadSetLimit,
    cudaFuncSetCacheConfig,
    cudaFuncSetSharedMemConfig,
    cudaProfilerStart,
    cudaProfilerStop,
    cudaMemPrefetchAsync,
    cudaMemPrefetchAsync_v2,
    cudaMemAdvise,
    cudaMemAdvise_v2,
    cudaStreamAttachMemAsync,
);
