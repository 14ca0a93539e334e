// The twins of the generator `page-view-count`.

#include "map_reduce.h"

template <bool WRITES>
__device__ void map_task(const unsigned char *text, const unsigned *offsets, unsigned task,
                         emitter<WRITES> &emit) {
    unsigned at = offsets[task];
    unsigned char c = text[at];
    emit.begin();
#pragma unroll 1
    while (c != '\t') {
        emit.push(c);
        c = text[++at];
    }
    emit.end(1);
}

extern "C" __global__ void reduce(const pair *directory, const unsigned *values, const unsigned *starts,
                                  uint2 *views, unsigned groups) {
    unsigned group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups) return;
    unsigned first = starts[group];
    in_order();
    unsigned end = starts[group + 1], sum = 0;
#pragma unroll 1
    for (unsigned i = first; i < end; i++) {
        sum += values[directory[i].w];
        in_order();
    }
    views[group] = make_uint2(directory[first].y, sum);
}
