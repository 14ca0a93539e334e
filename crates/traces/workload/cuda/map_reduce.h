// What the twins of the generators `page-view-count` and `inverted-index` have in common.

#include "scan.h"

const unsigned CHUNK = 512, NO_PAIR = ~0u, FNV_START = 0x811c9dc5, FNV_PRIME = 0x01000193;

// Hash, where the key starts, its length, where the value is.
typedef uint4 pair;

// What a task emits: counted, or written.
template <bool WRITES>
struct emitter {
    pair *directory;
    unsigned char *keys;
    unsigned *values, pairs, bytes, start, hash;

    __device__ void begin() {
        start = bytes;
        hash = FNV_START;
    }

    __device__ void push(unsigned char c) {
        if (WRITES) {
            keys[bytes] = c;
            hash = (hash ^ c) * FNV_PRIME;
        }
        bytes++;
    }

    __device__ void end(unsigned value) {
        if (WRITES) {
            values[pairs] = value;
            directory[pairs] = make_uint4(hash >> 1, start, bytes - start, pairs);
        }
        pairs++;
    }
};

// The program's map.
template <bool WRITES>
__device__ void map_task(const unsigned char *text, const unsigned *offsets, unsigned task,
                         emitter<WRITES> &emit);

extern "C" __global__ void map_count(const unsigned char *text, const unsigned *offsets, unsigned *pairs,
                                     unsigned *bytes, unsigned tasks) {
    unsigned task = blockIdx.x * blockDim.x + threadIdx.x;
    if (task >= tasks) return;
    emitter<false> emit = {};
    map_task(text, offsets, task, emit);
    pairs[task] = emit.pairs;
    bytes[task] = emit.bytes;
}

extern "C" __global__ void map(const unsigned char *text, const unsigned *offsets, const unsigned *first_pair,
                               const unsigned *first_byte, pair *directory, unsigned char *keys,
                               unsigned *values, unsigned tasks) {
    unsigned task = blockIdx.x * blockDim.x + threadIdx.x;
    if (task >= tasks) return;
    unsigned pairs = first_pair[task];
    in_order();
    emitter<true> emit = {directory, keys, values, pairs, first_byte[task]};
    in_order();
    map_task(text, offsets, task, emit);
}

__device__ bool isAfter(pair a, pair b, const unsigned char *keys) {
    if (a.x != b.x) return a.x > b.x;
    if (a.x == NO_PAIR) return false;
    if (a.z != b.z) return a.z > b.z;
    unsigned char x = 0, y = 0;
#pragma unroll 1
    for (unsigned i = 0; x == y && i < a.z; i++) {
        x = keys[a.y + i];
        in_order();
        y = keys[b.y + i];
        in_order();
    }
    return x > y;
}

__device__ void exchange(pair *low, pair *high, bool ascending, const unsigned char *keys) {
    pair a = *low;
    in_order();
    pair b = *high;
    in_order();
    if (isAfter(a, b, keys) == ascending) {
        *low = b;
        *high = a;
    }
}

// All that can be done within CHUNK pairs, from runs of `from` / 2 pairs to runs of `to`.
extern "C" __global__ void sortChunks(pair *directory, const unsigned char *keys, unsigned from, unsigned to) {
    __shared__ pair own[CHUNK];
    unsigned thread = threadIdx.x, first = blockIdx.x * CHUNK + thread;
    own[thread] = directory[first];
    in_order();
    own[thread + CHUNK / 2] = directory[first + CHUNK / 2];
#pragma unroll 1
    for (unsigned run = from; run <= to; run <<= 1) {
#pragma unroll 1
        for (unsigned distance = min(run, CHUNK) / 2; distance > 0; distance >>= 1) {
            __syncthreads();
            unsigned at = 2 * thread - (thread & (distance - 1));
            exchange(&own[at], &own[at + distance], ((blockIdx.x * CHUNK + at) & run) == 0, keys);
        }
    }
    __syncthreads();
    directory[first] = own[thread];
    directory[first + CHUNK / 2] = own[thread + CHUNK / 2];
}

extern "C" __global__ void sortStep(pair *directory, const unsigned char *keys, unsigned run,
                                    unsigned distance) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, at = 2 * thread - (thread & (distance - 1));
    exchange(&directory[at], &directory[at + distance], (at & run) == 0, keys);
}

extern "C" __global__ void markGroups(const pair *directory, const unsigned char *keys, unsigned *first,
                                      unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned isFirst = 1;
    if (i > 0) {
        pair own = directory[i];
        in_order();
        pair before = directory[i - 1];
        in_order();
        isFirst = isAfter(own, before, keys);
    }
    first[i] = isFirst;
}

extern "C" __global__ void findGroups(const unsigned *first, const unsigned *number, unsigned *starts,
                                      unsigned n, unsigned groups) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (first[i]) starts[number[i]] = i;
    if (i == n - 1) starts[groups] = n;
}
