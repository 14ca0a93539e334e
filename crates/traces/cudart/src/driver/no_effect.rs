//! Functions without effect: hints, and waits for work that is already complete.

use crate::driver::functions;

functions! { in_context:
    fn cuCtxSynchronize() |_engine| { Ok(()) }
    fn cuCtxSetLimit() |_engine| { Ok(()) }
    fn cuCtxSetCacheConfig() |_engine| { Ok(()) }
    fn cuCtxSetSharedMemConfig() |_engine| { Ok(()) }
    fn cuFuncSetCacheConfig() |_engine| { Ok(()) }
    fn cuFuncSetSharedMemConfig() |_engine| { Ok(()) }
    fn cuKernelSetCacheConfig() |_engine| { Ok(()) }
    fn cuMemAdvise() |_engine| { Ok(()) }
    fn cuMemAdvise_v2() |_engine| { Ok(()) }
    fn cuMemPrefetchAsync() |_engine| { Ok(()) }
    fn cuMemPrefetchAsync_v2() |_engine| { Ok(()) }
    fn cuProfilerStart() |_engine| { Ok(()) }
    fn cuProfilerStop() |_engine| { Ok(()) }
    fn cuStreamAttachMemAsync() |_engine| { Ok(()) }
}
