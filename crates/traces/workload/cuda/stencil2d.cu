// CUDA version of the generator `stencil2d`.

#include "in_order.h"

extern "C" __global__ void runJacobiCUDA_kernel1(const float *A, float *B, int width, int height) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= height - 1 || j < 1 || j >= width - 1) return;
    float centre = A[i * width + j];
    in_order();
    B[i * width + j] = 0.2f * (centre + A[i * width + j - 1] + A[i * width + j + 1] +
                               A[(i + 1) * width + j] + A[(i - 1) * width + j]);
}
