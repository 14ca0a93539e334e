// The twins of the generator `spmv`: a thread for a row, and a warp for a row.

extern "C" __global__ void spmv_csr_scalar(const int *ptr, const int *col, const float *val, const float *x,
                                           float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    int end = ptr[row + 1];
#pragma unroll 1
    for (int i = ptr[row]; i < end; i++) sum += val[i] * x[col[i]];
    y[row] = sum;
}

extern "C" __global__ void spmv_csr_vector(const int *ptr, const int *col, const float *val, const float *x,
                                           float *y, int rows) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 32, lane = thread % 32;
    if (row >= rows) return;
    float sum = 0;
    int end = ptr[row + 1];
#pragma unroll 1
    for (int i = ptr[row] + lane; i < end; i += 32) sum += val[i] * x[col[i]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}
