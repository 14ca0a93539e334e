// The twins of the generator `mri-gridding`.

#include "scan.h"

struct sample {
    float real, imag, x, y, z, sdc;
};

__device__ float3 place(const sample &of) {
    float x = of.x;
    in_order();
    float y = of.y;
    in_order();
    return make_float3(x, y, of.z);
}

__device__ unsigned cell(unsigned x, unsigned y, unsigned z, unsigned log) {
    return (((z << log) + y) << log) + x;
}

// The cells or points around one, within the grid.
__device__ uint2 around(unsigned at, unsigned below, unsigned above, unsigned log) {
    return make_uint2(max(at, below) - below, min(at + above, (1u << log) - 1));
}

// By the squared distance, times the parts of the table that a unit of it takes.
__device__ float weight(const float *table, float at) {
    unsigned k = at;
    float low = table[k];
    in_order();
    float high = table[k + 1];
    in_order();
    return fmaf(at - k, high - low, low);
}

extern "C" __global__ void binning(const sample *samples, unsigned n, unsigned *bin, unsigned *rank,
                                   unsigned *count, unsigned log) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = place(samples[i]);
    unsigned own = cell(p.x, p.y, p.z, log);
    bin[i] = own;
    rank[i] = atomicAdd(&count[own], 1);
}

extern "C" __global__ void reorder(const sample *samples, unsigned n, const unsigned *bin, const unsigned *rank,
                                   const unsigned *start, float4 *where, float2 *data) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned first = start[bin[i]];
    in_order();
    unsigned at = first + rank[i];
    in_order();
    float3 p = place(samples[i]);
    in_order();
    where[at] = make_float4(p.x, p.y, p.z, samples[i].sdc);
    float real = samples[i].real;
    in_order();
    data[at] = make_float2(real, samples[i].imag);
}

extern "C" __global__ void gridding(const float4 *where, const float2 *data, const unsigned *start,
                                    const float *table, float2 *points, unsigned log, unsigned below,
                                    unsigned above, float cutoff2, float scale) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, mask = (1u << log) - 1;
    if (i >= 1u << 3 * log) return;
    unsigned X = i & mask, Y = i >> log & mask, Z = i >> 2 * log;
    uint2 aroundX = around(X, below, above, log), aroundY = around(Y, below, above, log);
    uint2 aroundZ = around(Z, below, above, log);
    float real = 0, imag = 0;
#pragma unroll 1
    for (unsigned z = aroundZ.x; z <= aroundZ.y; z++) {
#pragma unroll 1
        for (unsigned y = aroundY.x; y <= aroundY.y; y++) {
            unsigned s = start[cell(aroundX.x, y, z, log)];
            in_order();
            unsigned end = start[cell(aroundX.y, y, z, log) + 1];
#pragma unroll 1
            for (; s < end; s++) {
                float4 p = where[s];
                float dx = p.x - X, dy = p.y - Y, dz = p.z - Z, d2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
                if (d2 < cutoff2) {
                    float w = weight(table, d2 * scale) * p.w;
                    float2 value = data[s];
                    real = fmaf(w, value.x, real);
                    imag = fmaf(w, value.y, imag);
                }
            }
        }
    }
    points[i] = make_float2(real, imag);
}

extern "C" __global__ void scatter(const sample *samples, unsigned n, const float *table, float2 *points,
                                   unsigned log, unsigned below, unsigned above, float cutoff2, float scale) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = place(samples[i]);
    in_order();
    float sdc = samples[i].sdc;
    in_order();
    float real = samples[i].real;
    in_order();
    float imag = samples[i].imag;
    uint2 aroundX = around(p.x, above, below, log), aroundY = around(p.y, above, below, log);
    uint2 aroundZ = around(p.z, above, below, log);
#pragma unroll 1
    for (unsigned Z = aroundZ.x; Z <= aroundZ.y; Z++) {
#pragma unroll 1
        for (unsigned Y = aroundY.x; Y <= aroundY.y; Y++) {
#pragma unroll 1
            for (unsigned X = aroundX.x; X <= aroundX.y; X++) {
                float dx = p.x - X, dy = p.y - Y, dz = p.z - Z, d2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
                if (d2 < cutoff2) {
                    float w = weight(table, d2 * scale) * sdc;
                    float2 *point = &points[cell(X, Y, Z, log)];
                    atomicAdd(&point->x, w * real);
                    atomicAdd(&point->y, w * imag);
                }
            }
        }
    }
}
