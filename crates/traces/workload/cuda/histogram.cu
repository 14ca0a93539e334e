// CUDA version of the generator `histogram`: bins in global memory, and private bins of each CTA in shared memory.

extern "C" __global__ void histogram(const unsigned *data, unsigned *bins, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1);
}

extern "C" __global__ void histogram_shared(const unsigned *data, unsigned *bins, int n, int count) {
    extern __shared__ unsigned own[];
#pragma unroll 1
    for (int bin = threadIdx.x; bin < count; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1);
    __syncthreads();
#pragma unroll 1
    for (int bin = threadIdx.x; bin < count; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}
