// CUDA version of the generator `spmv`: one thread per row, and one warp per row.

#include "in_order.h"

__device__ void accumulate(float &sum, const int *col, const float *val, const float *x, int i) {
    int column = col[i];
    float value = val[i];
    in_order();
    sum += value * x[column];
}

extern "C" __global__ void spmv_csr_scalar(const int *ptr, const int *col, const float *val, const float *x,
                                           float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    int first = ptr[row], end = ptr[row + 1];
#pragma unroll 1
    for (int i = first; i < end; i++) accumulate(sum, col, val, x, i);
    y[row] = sum;
}

extern "C" __global__ void spmv_csr_vector(const int *ptr, const int *col, const float *val, const float *x,
                                           float *y, int rows) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 32, lane = thread % 32;
    if (row >= rows) return;
    float sum = 0;
    int first = ptr[row], end = ptr[row + 1];
#pragma unroll 1
    for (int i = first + lane; i < end; i += 32) accumulate(sum, col, val, x, i);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}
