// CUDA version of the generator `hash-join`.

#include "in_order.h"

const unsigned EMPTY = 0;

__device__ unsigned home(unsigned key, unsigned slots) {
    key ^= key >> 16;
    key *= 0x85ebca6b;
    key ^= key >> 13;
    key *= 0xc2b2ae35;
    key ^= key >> 16;
    return __umulhi(key, slots);
}

__device__ unsigned after(unsigned slot, unsigned slots) { return slot + 1 == slots ? 0 : slot + 1; }

extern "C" __global__ void build(const unsigned *keys, const unsigned *values, unsigned n, uint2 *table,
                                 unsigned slots) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    in_order();
    unsigned value = values[i], slot = home(key, slots);
    while (atomicCAS(&table[slot].x, EMPTY, key) != EMPTY) slot = after(slot, slots);
    table[slot].y = value;
}

extern "C" __global__ void probe(const unsigned *keys, const unsigned *values, unsigned n, const uint2 *table,
                                 unsigned slots, uint2 *out, unsigned *cursor) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    in_order();
    unsigned value = values[i], slot = home(key, slots);
    uint2 entry = table[slot];
    while (entry.x != key && entry.x != EMPTY) {
        slot = after(slot, slots);
        entry = table[slot];
    }
    bool found = entry.x == key;
    unsigned lane = threadIdx.x % 32, matched = __ballot_sync(__activemask(), found), first = 0;
    if (!found) return;
    if (lane == __ffs(matched) - 1) first = atomicAdd(cursor, __popc(matched));
    first = __shfl_sync(matched, first, __ffs(matched) - 1);
    out[first + __popc(matched & ((1u << lane) - 1))] = make_uint2(value, entry.y);
}
