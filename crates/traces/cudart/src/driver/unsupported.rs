//! Unsupported families of functions. Packages bind them at load time and rarely call them; each call fails
//! with `CUDA_ERROR_NOT_SUPPORTED` and names the function.

use crate::driver::functions;
use crate::status::Failure;

macro_rules! unsupported {
    ($($family:literal: $($name:ident)*;)*) => {
        functions! { anywhere:
            $($(
                /// Ignores its arguments.
                fn $name() |_engine| { Err(Failure::unsupported(stringify!($name), $family)) }
            )*)*
        }
    };
}

unsupported! {
    "graphs":
        cuDeviceGetGraphMemAttribute cuDeviceGraphMemTrim cuDeviceSetGraphMemAttribute
        cuGraphAddBatchMemOpNode cuGraphAddChildGraphNode cuGraphAddDependencies
        cuGraphAddDependencies_v2 cuGraphAddEmptyNode cuGraphAddEventRecordNode
        cuGraphAddEventWaitNode cuGraphAddExternalSemaphoresSignalNode
        cuGraphAddExternalSemaphoresWaitNode cuGraphAddHostNode cuGraphAddKernelNode
        cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddMemcpyNode
        cuGraphAddMemsetNode cuGraphAddNode cuGraphAddNode_v2 cuGraphAddNode_v3
        cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphChildGraphNodeGetGraph
        cuGraphClone cuGraphConditionalHandleCreate cuGraphCreate cuGraphDebugDotPrint
        cuGraphDestroy cuGraphDestroyNode cuGraphEventRecordNodeGetEvent
        cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent
        cuGraphExecBatchMemOpNodeSetParams cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy
        cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
        cuGraphExecExternalSemaphoresSignalNodeSetParams
        cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExecGetFlags cuGraphExecGetId
        cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams
        cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams
        cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams cuGraphExecUpdate
        cuGraphExecUpdate_v2 cuGraphExternalSemaphoresSignalNodeGetParams
        cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams
        cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges cuGraphGetEdges_v2 cuGraphGetId
        cuGraphGetNodes cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams
        cuGraphInstantiate cuGraphInstantiateWithParams cuGraphInstantiate_v2
        cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute cuGraphKernelNodeGetParams
        cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams
        cuGraphKernelNodeSetParams_v2 cuGraphLaunch cuGraphMemAllocNodeGetParams
        cuGraphMemFreeNodeGetParams cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams
        cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams cuGraphNodeFindInClone
        cuGraphNodeGetContainingGraph cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2
        cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2 cuGraphNodeGetEnabled
        cuGraphNodeGetLocalId cuGraphNodeGetParams cuGraphNodeGetToolsId cuGraphNodeGetType
        cuGraphNodeSetEnabled cuGraphNodeSetParams cuGraphNodeSetParams_v2 cuGraphReleaseUserObject
        cuGraphRemoveDependencies cuGraphRemoveDependencies_v2 cuGraphRetainUserObject cuGraphUpload
        cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain;
    "stream capture":
        cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2
        cuStreamBeginRecaptureToGraph cuStreamEndCapture cuStreamUpdateCaptureDependencies
        cuStreamUpdateCaptureDependencies_v2;
    "inter-process memory and events":
        cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle
        cuIpcOpenMemHandle cuIpcOpenMemHandle_v2 cuMemPoolExportPointer
        cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolImportPointer;
    "virtual memory management":
        cuMemAddressFree cuMemAddressReserve cuMemCreate cuMemExportToShareableHandle cuMemGetAccess
        cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle
        cuMemGetHandleForAddressRange cuMemImportFromShareableHandle cuMemMap cuMemMapArrayAsync
        cuMemRelease cuMemRetainAllocationHandle cuMemSetAccess cuMemUnmap;
    "external memory and semaphores":
        cuDestroyExternalMemory cuDestroyExternalSemaphore cuExternalMemoryGetMappedBuffer
        cuExternalMemoryGetMappedMipmappedArray cuImportExternalMemory cuImportExternalSemaphore
        cuSignalExternalSemaphoresAsync cuWaitExternalSemaphoresAsync;
    "graphics":
        cuGraphicsGLRegisterBuffer cuGraphicsGLRegisterImage cuGraphicsMapResources cuGraphicsResourceGetMappedMipmappedArray
        cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2
        cuGraphicsResourceSetMapFlags cuGraphicsResourceSetMapFlags_v2
        cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources cuGraphicsUnregisterResource;
    "green contexts":
        cuCtxFromGreenCtx cuCtxGetDevResource cuCtxGetExecAffinity cuCtxRecordEvent cuCtxWaitEvent
        cuDevResourceGenerateDesc cuDevSmResourceSplit cuDevSmResourceSplitByCount
        cuDeviceGetDevResource cuDeviceGetExecAffinitySupport cuGreenCtxCreate cuGreenCtxDestroy
        cuGreenCtxGetDevResource cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate
        cuGreenCtxWaitEvent cuStreamGetDevResource cuStreamGetGreenCtx;
    "driver arrays":
        cuArray3DCreate cuArray3DCreate_v2 cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
        cuArrayCreate cuArrayCreate_v2 cuArrayDestroy cuArrayGetDescriptor cuArrayGetDescriptor_v2
        cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties cuMemcpyAtoA
        cuMemcpyAtoA_v2 cuMemcpyAtoD cuMemcpyAtoD_v2 cuMemcpyAtoH cuMemcpyAtoHAsync
        cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2 cuMemcpyDtoA cuMemcpyDtoA_v2 cuMemcpyHtoA
        cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2 cuMipmappedArrayCreate
        cuMipmappedArrayDestroy cuMipmappedArrayGetLevel cuMipmappedArrayGetMemoryRequirements
        cuMipmappedArrayGetSparseProperties;
    "driver textures and surfaces":
        cuModuleGetSurfRef cuModuleGetTexRef cuSurfObjectCreate cuSurfObjectDestroy
        cuSurfObjectGetResourceDesc cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
        cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc;
    "stream memory operations":
        cuStreamBatchMemOp cuStreamBatchMemOp_v2 cuStreamWaitValue32 cuStreamWaitValue32_v2
        cuStreamWaitValue64 cuStreamWaitValue64_v2 cuStreamWriteValue32 cuStreamWriteValue32_v2
        cuStreamWriteValue64 cuStreamWriteValue64_v2;
    "batched copies":
        cuMemBatchDecompressAsync cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync
        cuMemPrefetchBatchAsync cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_v2
        cuMemcpy3DWithAttributesAsync cuMemcpyBatchAsync cuMemcpyBatchAsync_v2
        cuMemcpyWithAttributesAsync;
    "process checkpoints":
        cuCheckpointOperationComplete cuCheckpointProcessCheckpoint
        cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState cuCheckpointProcessLock
        cuCheckpointProcessRestore cuCheckpointProcessUnlock;
}
