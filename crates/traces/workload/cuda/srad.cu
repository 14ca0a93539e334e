// The twins of the generator `srad`, for both variants.

#include "in_order.h"

// Variant `v2`: tiles in shared memory.

#define SIDE 16

__device__ float coefficient(float jc, float n, float s, float w, float e, float q0sqr) {
    float g2 = (n * n + s * s + w * w + e * e) / (jc * jc), l = (n + s + w + e) / jc;
    float num = 0.5f * g2 - 0.0625f * (l * l), den = 1 + 0.25f * l, qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1 / (1 + den);
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

__device__ float diffused(float jc, float cn, float cs, float cw, float ce, float n, float s, float w, float e) {
    return jc + 0.25f * 0.5f * (cn * n + cs * s + cw * w + ce * e);
}

// Where a tile and its sides are in the image.
struct Place {
    int north, south, west, east, index;
    __device__ Place(int columns) {
        int tx = threadIdx.x, ty = threadIdx.y, corner = columns * SIDE * blockIdx.y + SIDE * blockIdx.x;
        int row = corner + columns * ty, last = corner + tx + columns * (SIDE - 1);
        index = row + tx;
        north = blockIdx.y == 0 ? corner + tx : corner + tx - columns;
        south = blockIdx.y == gridDim.y - 1 ? last : last + columns;
        west = blockIdx.x == 0 ? row : row - 1;
        east = blockIdx.x == gridDim.x - 1 ? row + SIDE - 1 : row + SIDE;
    }
};

extern "C" __global__ void srad_cuda_1(float *E, float *W, float *N, float *S, const float *J, float *C, int columns,
                                       float q0sqr) {
    __shared__ float temp[SIDE][SIDE], temp_result[SIDE][SIDE];
    __shared__ float north[SIDE][SIDE], south[SIDE][SIDE], east[SIDE][SIDE], west[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    Place place(columns);
    north[ty][tx] = J[place.north];
    south[ty][tx] = J[place.south];
    __syncthreads();
    west[ty][tx] = J[place.west];
    east[ty][tx] = J[place.east];
    __syncthreads();
    temp[ty][tx] = J[place.index];
    __syncthreads();
    float jc = temp[ty][tx];
    float n = (ty == 0 ? north[ty][tx] : temp[ty - 1][tx]) - jc;
    float s = (ty == SIDE - 1 ? south[ty][tx] : temp[ty + 1][tx]) - jc;
    float w = (tx == 0 ? west[ty][tx] : temp[ty][tx - 1]) - jc;
    float e = (tx == SIDE - 1 ? east[ty][tx] : temp[ty][tx + 1]) - jc;
    temp_result[ty][tx] = coefficient(jc, n, s, w, e, q0sqr);
    __syncthreads();
    C[place.index] = temp_result[ty][tx];
    E[place.index] = e;
    W[place.index] = w;
    S[place.index] = s;
    N[place.index] = n;
}

extern "C" __global__ void srad_cuda_2(const float *E, const float *W, const float *N, const float *S, float *J,
                                       const float *C, int columns) {
    __shared__ float south[SIDE][SIDE], east[SIDE][SIDE], own[SIDE][SIDE], result[SIDE][SIDE], temp[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    Place place(columns);
    temp[ty][tx] = J[place.index];
    __syncthreads();
    south[ty][tx] = C[place.south];
    __syncthreads();
    east[ty][tx] = C[place.east];
    __syncthreads();
    own[ty][tx] = C[place.index];
    __syncthreads();
    float cn = own[ty][tx], cs = ty == SIDE - 1 ? south[ty][tx] : own[ty + 1][tx];
    float ce = tx == SIDE - 1 ? east[ty][tx] : own[ty][tx + 1];
    float n = N[place.index], s = S[place.index], w = W[place.index], e = E[place.index];
    result[ty][tx] = diffused(temp[ty][tx], cn, cs, cn, ce, n, s, w, e);
    __syncthreads();
    J[place.index] = result[ty][tx];
}

// Variant `v1`: columns after columns, neighbours by their indices.

#define PIXEL (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void extract(int n, float *I) {
    int ei = PIXEL;
    if (ei < n) I[ei] = __expf(I[ei] / 255);
}

extern "C" __global__ void compress(int n, float *I) {
    int ei = PIXEL;
    if (ei < n) I[ei] = __logf(I[ei]) * 255;
}

extern "C" __global__ void prepare(int n, const float *I, float *sums, float *sums2) {
    int ei = PIXEL;
    if (ei >= n) return;
    sums[ei] = I[ei];
    sums2[ei] = I[ei] * I[ei];
}

extern "C" __global__ void reduce(int no, int mul, float *sums, float *sums2) {
    extern __shared__ float psum[];
    float *psum2 = psum + blockDim.x;
    int tx = threadIdx.x, ei = PIXEL;
    float sum = 0, sum2 = 0;
    if (ei < no) {
        sum = sums[ei * mul];
        sum2 = sums2[ei * mul];
    }
    psum[tx] = sum;
    psum2[tx] = sum2;
    __syncthreads();
#pragma unroll 1
    for (int i = 2; i <= blockDim.x; i *= 2) {
        if ((tx + 1) % i == 0) {
            psum[tx] += psum[tx - i / 2];
            psum2[tx] += psum2[tx - i / 2];
        }
        __syncthreads();
    }
    if (tx == blockDim.x - 1) {
        sums[blockIdx.x * mul * blockDim.x] = psum[tx];
        sums2[blockIdx.x * mul * blockDim.x] = psum2[tx];
    }
}

extern "C" __global__ void srad(int rows, int n, const int *iN, const int *iS, const int *jE, const int *jW, float *dN,
                                float *dS, float *dW, float *dE, float q0sqr, float *c, const float *I) {
    int ei = PIXEL, row = ei % rows, col = ei / rows;
    if (ei >= n) return;
    float jc = I[ei];
    in_order();
    int north = iN[row], south = iS[row], west = jW[col], east = jE[col];
    in_order();
    float up = I[north + rows * col] - jc, down = I[south + rows * col] - jc;
    in_order();
    float left = I[row + rows * west] - jc, right = I[row + rows * east] - jc;
    float value = coefficient(jc, up, down, left, right, q0sqr);
    dN[ei] = up;
    dS[ei] = down;
    dW[ei] = left;
    dE[ei] = right;
    c[ei] = value;
}

extern "C" __global__ void srad2(int rows, int n, const int *iS, const int *jE, const float *dN, const float *dS,
                                 const float *dW, const float *dE, const float *c, float *I) {
    int ei = PIXEL, row = ei % rows, col = ei / rows;
    if (ei >= n) return;
    float cn = c[ei], cs = c[iS[row] + rows * col];
    in_order();
    float ce = c[row + rows * jE[col]];
    in_order();
    float up = dN[ei], down = dS[ei], left = dW[ei], right = dE[ei];
    in_order();
    I[ei] = diffused(I[ei], cn, cs, cn, ce, up, down, left, right);
}
