// The twins of the generator `gaussian`.

#include "in_order.h"

extern "C" __global__ void Fan1(float *m, const float *a, int n, int t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n - 1 - t) return;
    m[n * (x + t + 1) + t] = a[n * (x + t + 1) + t] / a[n * t + t];
}

// *element -= *m * *pivot, read in the order in which nvcc reads this.
__device__ void subtract(float *element, const float *m, const float *pivot) {
    float of_pivot = *pivot;
    in_order();
    float multiplier = *m;
    in_order();
    *element = fmaf(-multiplier, of_pivot, *element);
}

extern "C" __global__ void Fan2(const float *m, float *a, float *b, int n, int t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n - 1 - t) return;
    if (y >= n - t) return;
    subtract(&a[n * (x + 1 + t) + (y + t)], &m[n * (x + 1 + t) + t], &a[n * t + (y + t)]);
    if (y == 0) subtract(&b[x + 1 + t], &m[n * (x + 1 + t) + (y + t)], &b[t]);
}
