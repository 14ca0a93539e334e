// The twins of the generator `fwt`.

__device__ void butterfly(float *data, int i0, int stride) {
    int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    float a = data[i0], b = data[i1], c = data[i2], d = data[i3];
    float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
    data[i0] = ac + bd;
    data[i1] = ac - bd;
    data[i2] = a_c + b_d;
    data[i3] = a_c - b_d;
}

extern "C" __global__ void fwtBatch1Kernel(float *data, int log2N) {
    const int N = 1 << log2N;
    float *part = data + (blockIdx.x << log2N);
    extern __shared__ float s[];
#pragma unroll 1
    for (int i = threadIdx.x; i < N; i += blockDim.x) s[i] = part[i];
#pragma unroll 1
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = threadIdx.x & (stride - 1);
        __syncthreads();
        butterfly(s, ((threadIdx.x - lo) << 2) + lo, stride);
    }
    if (log2N & 1) {
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < N / 2; i += blockDim.x) {
            float a = s[2 * i], b = s[2 * i + 1];
            s[2 * i] = a + b;
            s[2 * i + 1] = a - b;
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < N; i += blockDim.x) part[i] = s[i];
}

extern "C" __global__ void fwtBatch2Kernel(float *data, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lo = i & (stride - 1);
    butterfly(data, ((i - lo) << 2) + lo, stride);
}

extern "C" __global__ void modulateKernel(float *a, const float *b, int n) {
    float rcpN = 1.0f / (float)n;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] *= b[i] * rcpN;
}
