// The twins of the generator `b+tree`. A node is its number, the indices and the keys of its children or
// records, each with room for one more than `order`, and two words more.

#include "in_order.h"

__device__ const unsigned *indices(const unsigned *nodes, unsigned node, unsigned order) {
    return &nodes[node * (2 * (order + 1) + 3) + 1];
}

// Finds the child whose range holds the query's key.
__device__ void descend(const unsigned *nodes, unsigned order, const unsigned *current, unsigned *next,
                        const unsigned *keys) {
    unsigned thread = threadIdx.x, query = blockIdx.x;
    const unsigned *index = &indices(nodes, current[query], order)[thread], *key = index + order + 1;
    unsigned own = *key;
    in_order();
    unsigned wanted = keys[query];
    if (own <= wanted && key[1] > wanted) next[query] = *index;
}

// The index of the query's key, if the thread has it in the leaf.
__device__ const unsigned *found(const unsigned *nodes, unsigned order, const unsigned *current,
                                 const unsigned *keys) {
    unsigned thread = threadIdx.x, query = blockIdx.x;
    const unsigned *index = &indices(nodes, current[query], order)[thread];
    unsigned own = index[order + 1];
    in_order();
    return own == keys[query] ? index : nullptr;
}

extern "C" __global__ void findK(unsigned height, unsigned order, const unsigned *nodes, const unsigned *records,
                                 unsigned *current, unsigned *next, const unsigned *keys, unsigned *answers) {
    unsigned query = blockIdx.x;
#pragma unroll 1
    for (unsigned level = 0; level < height; level++) {
        descend(nodes, order, current, next, keys);
        __syncthreads();
        if (threadIdx.x == 0) current[query] = next[query];
        __syncthreads();
    }
    if (const unsigned *index = found(nodes, order, current, keys)) answers[query] = records[*index];
}

extern "C" __global__ void findRangeK(unsigned height, unsigned order, const unsigned *nodes, unsigned *current,
                                      unsigned *next, const unsigned *firsts, unsigned *currentLast,
                                      unsigned *nextLast, const unsigned *lasts, unsigned *starts,
                                      unsigned *lengths) {
    unsigned query = blockIdx.x;
#pragma unroll 1
    for (unsigned level = 0; level < height; level++) {
        descend(nodes, order, current, next, firsts);
        descend(nodes, order, currentLast, nextLast, lasts);
        __syncthreads();
        if (threadIdx.x == 0) {
            current[query] = next[query];
            currentLast[query] = nextLast[query];
        }
        __syncthreads();
    }
    if (const unsigned *index = found(nodes, order, current, firsts)) starts[query] = *index;
    __syncthreads();
    if (const unsigned *index = found(nodes, order, currentLast, lasts)) {
        unsigned behind = *index + 1;
        in_order();
        lengths[query] = behind - starts[query];
    }
}
