// CUDA version of the generator `gemm`, for both tile sizes.

template <int T>
__device__ void multiply(float *C, const float *A, const float *B, int m, int n, int k) {
    __shared__ float As[T][T], Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, column = blockIdx.x * T + tx;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < k; t += T) {
        As[ty][tx] = row < m && t + tx < k ? A[row * k + t + tx] : 0;
        Bs[ty][tx] = t + ty < k && column < n ? B[(t + ty) * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++) sum += As[ty][i] * Bs[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) C[row * n + column] = sum;
}

extern "C" __global__ void multiply_16(float *C, const float *A, const float *B, int m, int n, int k) {
    multiply<16>(C, A, B, m, n, k);
}

extern "C" __global__ void multiply_32(float *C, const float *A, const float *B, int m, int n, int k) {
    multiply<32>(C, A, B, m, n, k);
}
