// Exclusive prefix sums, as several generators use them.

#include "in_order.h"

const unsigned SCAN_BLOCK = 256;

// Scans a part of `in`; `out` may be longer by one.
extern "C" __global__ void scanParts(const unsigned *in, unsigned *out, unsigned *sums, unsigned n,
                                     unsigned n_out) {
    __shared__ unsigned part[SCAN_BLOCK];
    unsigned thread = threadIdx.x, i = blockIdx.x * SCAN_BLOCK + thread;
    unsigned own = i < n ? in[i] : 0, sum = own;
    part[thread] = sum;
    for (unsigned distance = 1; distance < SCAN_BLOCK; distance <<= 1) {
        __syncthreads();
        unsigned before = thread >= distance ? part[thread - distance] : 0;
        __syncthreads();
        part[thread] = sum += before;
    }
    if (i < n_out) out[i] = sum - own;
    if (thread == SCAN_BLOCK - 1) sums[blockIdx.x] = sum;
}

extern "C" __global__ void addSums(unsigned *out, const unsigned *sums, unsigned n) {
    unsigned i = blockIdx.x * SCAN_BLOCK + threadIdx.x;
    if (i >= n) return;
    unsigned own = out[i];
    in_order();
    out[i] = own + sums[blockIdx.x];
}
