// The twins of the generator `merge-sort`.

#include "in_order.h"

extern __shared__ unsigned shared[];

// How many of the n sorted keys are below key, or not above it (inclusive); n <= first, a power of two.
template <bool INCLUSIVE>
__device__ unsigned rank(unsigned key, const unsigned *keys, unsigned n, unsigned first) {
    unsigned rank = 0;
#pragma unroll 1
    for (unsigned step = first; step > 0; step >>= 1) {
        unsigned next = min(rank + step, n);
        unsigned other = keys[next - 1];
        if (INCLUSIVE ? other <= key : other < key) rank = next;
    }
    return rank;
}

extern "C" __global__ void sortTiles(unsigned *keys, unsigned *values, unsigned tile) {
    unsigned *tileKeys = shared, *tileValues = shared + tile;
    unsigned thread = threadIdx.x, i = blockIdx.x * tile + thread;
    for (unsigned half = 0; half < tile; half += tile / 2) {
        tileKeys[thread + half] = keys[i + half];
        in_order();
        tileValues[thread + half] = values[i + half];
        in_order();
    }
    for (unsigned run = 1; run < tile; run <<= 1) {
        unsigned at = thread & (run - 1), base = 2 * (thread - at);
        __syncthreads();
        unsigned keyA = tileKeys[base + at], valueA = tileValues[base + at];
        unsigned keyB = tileKeys[base + at + run], valueB = tileValues[base + at + run];
        unsigned placeA = base + at + rank<false>(keyA, &tileKeys[base + run], run, run);
        unsigned placeB = base + at + rank<true>(keyB, &tileKeys[base], run, run);
        __syncthreads();
        tileKeys[placeA] = keyA;
        tileValues[placeA] = valueA;
        tileKeys[placeB] = keyB;
        tileValues[placeB] = valueB;
    }
    __syncthreads();
    for (unsigned half = 0; half < tile; half += tile / 2) {
        keys[i + half] = tileKeys[thread + half];
        values[i + half] = tileValues[thread + half];
    }
}

extern "C" __global__ void rankSamples(const unsigned *keys, unsigned *ranksA, unsigned *ranksB, unsigned run,
                                       unsigned sample, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, samples = run / sample;
    if (i >= n) return;
    unsigned at = i & (samples - 1), first = 2 * (i - at), start = first * sample;
    ranksA[first + at] = at * sample;
    ranksB[first + at] = rank<false>(keys[start + at * sample], &keys[start + run], run, run);
    ranksB[first + at + samples] = at * sample;
    ranksA[first + at + samples] = rank<true>(keys[start + run + at * sample], &keys[start], run, run);
}

extern "C" __global__ void mergeRanks(const unsigned *ranks, unsigned *cuts, unsigned samples, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned at = i & (samples - 1), first = 2 * (i - at);
    unsigned a = ranks[first + at];
    cuts[first + at + rank<false>(a, &ranks[first + samples], samples, samples)] = a;
    unsigned b = ranks[first + at + samples];
    cuts[first + at + rank<true>(b, &ranks[first], samples, samples)] = b;
}

extern "C" __global__ void mergeIntervals(const unsigned *keys, const unsigned *values, const unsigned *cutsA,
                                          const unsigned *cutsB, unsigned *outKeys, unsigned *outValues,
                                          unsigned run, unsigned sample) {
    unsigned *ownKeys = shared, *ownValues = shared + 2 * sample, *bounds = shared + 4 * sample;
    unsigned thread = threadIdx.x, cta = blockIdx.x, intervals = 2 * run / sample, at = cta & (intervals - 1);
    unsigned start = (cta - at) * sample;
    if (thread == 0) {
        bool isLast = at + 1 == intervals;
        bounds[0] = cutsA[cta];
        in_order();
        bounds[1] = isLast ? run : cutsA[cta + 1];
        in_order();
        bounds[2] = cutsB[cta];
        in_order();
        bounds[3] = isLast ? run : cutsB[cta + 1];
    }
    __syncthreads();
    unsigned a = bounds[0], lenA = bounds[1] - a, b = bounds[2], lenB = bounds[3] - b;
    unsigned keyA, valueA, placeA, keyB, valueB, placeB;
    if (thread < lenA) {
        ownKeys[thread] = keyA = keys[start + a + thread];
        in_order();
        valueA = values[start + a + thread];
        in_order();
    }
    if (thread < lenB) {
        ownKeys[sample + thread] = keyB = keys[start + run + b + thread];
        in_order();
        valueB = values[start + run + b + thread];
    }
    __syncthreads();
    if (thread < lenA) placeA = thread + rank<false>(keyA, &ownKeys[sample], lenB, lenB > 0 ? sample : 0);
    if (thread < lenB) placeB = thread + rank<true>(keyB, ownKeys, lenA, lenA > 0 ? sample : 0);
    __syncthreads();
    if (thread < lenA) {
        ownKeys[placeA] = keyA;
        ownValues[placeA] = valueA;
    }
    if (thread < lenB) {
        ownKeys[placeB] = keyB;
        ownValues[placeB] = valueB;
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned i = thread; i < lenA + lenB; i += sample) {
        outKeys[start + a + b + i] = ownKeys[i];
        outValues[start + a + b + i] = ownValues[i];
    }
}
