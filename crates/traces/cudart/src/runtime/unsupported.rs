//! Unsupported families of functions: each call fails with `cudaErrorNotSupported` and names the function.

use crate::context;
use crate::status::{Failure, Status};

macro_rules! unsupported {
    ($($family:literal: $($name:ident)*;)*) => {
        $($(
            /// Ignores its arguments.
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> Status {
                context::run_and_note(|_, _| {
                    Err(Failure::unsupported(stringify!($name), $family))
                })
            }
        )*)*
    };
}

unsupported! {
    "graphs":
        cudaDeviceGetGraphMemAttribute cudaDeviceGraphMemTrim cudaDeviceSetGraphMemAttribute
        cudaGraphAddChildGraphNode cudaGraphAddDependencies cudaGraphAddDependencies_v2
        cudaGraphAddEmptyNode cudaGraphAddEventRecordNode cudaGraphAddEventWaitNode
        cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
        cudaGraphAddHostNode cudaGraphAddKernelNode cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode
        cudaGraphAddMemcpyNode cudaGraphAddMemcpyNode1D cudaGraphAddMemcpyNodeFromSymbol
        cudaGraphAddMemcpyNodeToSymbol cudaGraphAddMemsetNode cudaGraphAddNode cudaGraphAddNode_v2
        cudaGraphChildGraphNodeGetGraph cudaGraphClone cudaGraphConditionalHandleCreate
        cudaGraphConditionalHandleCreate_v2 cudaGraphCreate cudaGraphDebugDotPrint cudaGraphDestroy
        cudaGraphDestroyNode cudaGraphEventRecordNodeGetEvent cudaGraphEventRecordNodeSetEvent
        cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent
        cudaGraphExecChildGraphNodeSetParams cudaGraphExecDestroy
        cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
        cudaGraphExecExternalSemaphoresSignalNodeSetParams
        cudaGraphExecExternalSemaphoresWaitNodeSetParams cudaGraphExecGetFlags cudaGraphExecGetId
        cudaGraphExecHostNodeSetParams cudaGraphExecKernelNodeSetParams
        cudaGraphExecMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams1D
        cudaGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol
        cudaGraphExecMemsetNodeSetParams cudaGraphExecNodeSetParams cudaGraphExecUpdate
        cudaGraphExternalSemaphoresSignalNodeGetParams
        cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
        cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphGetEdges cudaGraphGetEdges_v2
        cudaGraphGetId cudaGraphGetNodes cudaGraphGetRootNodes cudaGraphHostNodeGetParams
        cudaGraphHostNodeSetParams cudaGraphInstantiate cudaGraphInstantiateWithFlags
        cudaGraphInstantiateWithParams cudaGraphKernelNodeCopyAttributes
        cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeGetParams cudaGraphKernelNodeSetAttribute
        cudaGraphKernelNodeSetParams cudaGraphLaunch cudaGraphMemAllocNodeGetParams
        cudaGraphMemFreeNodeGetParams cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams
        cudaGraphMemcpyNodeSetParams1D cudaGraphMemcpyNodeSetParamsFromSymbol
        cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphMemsetNodeGetParams
        cudaGraphMemsetNodeSetParams cudaGraphNodeFindInClone cudaGraphNodeGetContainingGraph
        cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2 cudaGraphNodeGetDependentNodes
        cudaGraphNodeGetDependentNodes_v2 cudaGraphNodeGetEnabled cudaGraphNodeGetLocalId
        cudaGraphNodeGetParams cudaGraphNodeGetToolsId cudaGraphNodeGetType cudaGraphNodeSetEnabled
        cudaGraphNodeSetParams cudaGraphReleaseUserObject cudaGraphRemoveDependencies
        cudaGraphRemoveDependencies_v2 cudaGraphRetainUserObject cudaGraphUpload
        cudaUserObjectCreate cudaUserObjectRelease cudaUserObjectRetain;
    "stream capture":
        cudaStreamBeginCapture cudaStreamBeginCaptureToGraph cudaStreamBeginRecaptureToGraph
        cudaStreamEndCapture cudaStreamUpdateCaptureDependencies
        cudaStreamUpdateCaptureDependencies_v2;
    "inter-process memory and events":
        cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle cudaIpcOpenEventHandle
        cudaIpcOpenMemHandle cudaMemPoolExportPointer cudaMemPoolExportToShareableHandle
        cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer;
    "external memory and semaphores":
        cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaExternalMemoryGetMappedBuffer
        cudaExternalMemoryGetMappedMipmappedArray cudaImportExternalMemory
        cudaImportExternalSemaphore cudaSignalExternalSemaphoresAsync
        cudaSignalExternalSemaphoresAsync_ptsz cudaSignalExternalSemaphoresAsync_v2
        cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_ptsz
        cudaWaitExternalSemaphoresAsync_v2;
    "graphics":
        cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage
        cudaGraphicsMapResources cudaGraphicsResourceGetMappedEglFrame
        cudaGraphicsResourceGetMappedMipmappedArray cudaGraphicsResourceGetMappedPointer
        cudaGraphicsResourceSetMapFlags cudaGraphicsSubResourceGetMappedArray
        cudaGraphicsUnmapResources cudaGraphicsUnregisterResource
        cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface;
    "green contexts":
        cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount
        cudaDeviceGetDevResource cudaDeviceGetExecutionCtx cudaExecutionCtxDestroy
        cudaExecutionCtxGetDevResource cudaExecutionCtxGetDevice cudaExecutionCtxGetId
        cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize
        cudaExecutionCtxWaitEvent cudaGreenCtxCreate cudaStreamGetDevResource;
    "surfaces":
        cudaCreateSurfaceObject cudaDestroySurfaceObject cudaGetSurfaceObjectResourceDesc;
    "mipmapped and sparse arrays":
        cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties
        cudaFreeMipmappedArray cudaGetMipmappedArrayLevel cudaMallocMipmappedArray
        cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties;
    "batched copies":
        cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardBatchAsync cudaMemPrefetchBatchAsync
        cudaMemcpy3DBatchAsync cudaMemcpy3DWithAttributesAsync cudaMemcpyBatchAsync
        cudaMemcpyWithAttributesAsync;
}
