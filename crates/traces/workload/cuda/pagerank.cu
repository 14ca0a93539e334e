// CUDA version of the generator `pagerank`: gathers (pull) and atomic additions (push).

#include "in_order.h"

const float D = 0.85f;

// Adds the sum over a warp with one atomic.
__device__ void warp_add(float *total, float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}

__device__ float replaced(float *rank, float sum, const float *dangling, int v, int n) {
    float share_of_all = 1.0f / n;
    // fmaf fixes the contraction of the generator; nvcc would fuse the other product.
    float base = fmaf(*dangling, D * share_of_all, (1 - D) * share_of_all);
    float fresh = fmaf(sum, D, base);
    float moved = fabsf(fresh - rank[v]);
    rank[v] = fresh;
    return moved;
}

extern "C" __global__ void contributions(const int *row, const float *rank, float *share, float *dangling, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    float lost = 0;
    if (v < n) {
        int first = row[v];
        in_order();
        int degree = row[v + 1] - first;
        float own = rank[v];
        if (degree == 0) lost = own;
        else share[v] = own / (float)degree;
    }
    warp_add(dangling, lost);
}

extern "C" __global__ void pull(const int *row, const int *col, float *rank, const float *share,
                                const float *dangling, float *change, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    float moved = 0;
    if (v < n) {
        float sum = 0;
        int e = row[v], end = row[v + 1];
#pragma unroll 1
        for (; e < end; e++) sum += share[col[e]];
        moved = replaced(rank, sum, dangling, v, n);
    }
    warp_add(change, moved);
}

extern "C" __global__ void push(const int *row, const int *col, const float *rank, float *sum, float *dangling,
                                int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    float lost = 0;
    if (v < n) {
        int first = row[v], end = row[v + 1];
        in_order();
        float own = rank[v];
        if (first == end) lost = own;
        else {
            float share = own / (float)(end - first);
#pragma unroll 1
            for (int e = first; e < end; e++) atomicAdd(&sum[col[e]], share);
        }
    }
    warp_add(dangling, lost);
}

extern "C" __global__ void settle(float *rank, float *sum, const float *dangling, float *change, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    float moved = 0;
    if (v < n) {
        float own = sum[v];
        in_order();
        moved = replaced(rank, own, dangling, v, n);
        sum[v] = 0;
    }
    warp_add(change, moved);
}
