//! Functions without effect: hints, and waits for work that is already complete. They fail if an earlier call
//! left the device with a sticky error.

use crate::context;
use crate::status::Status;

macro_rules! no_effect {
    ($($name:ident),* $(,)?) => {
        $(
            /// Ignores its arguments.
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> Status {
                context::run_and_note(|_, _| Ok(()))
            }
        )*
    };
}

no_effect!(
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
