// The twins of the generator `survey-propagation`. Products that are added up are rounded first, as in the
// generator.

#include "in_order.h"

const unsigned FREE = 0, TRUE = 1, FALSE = 2;
const float MOST = 1 - 1.0f / 65536, LEAST = 1.17549435e-38f;

struct row {
    unsigned first, end;
};

__device__ row row_of(const unsigned *rows, unsigned at) {
    unsigned first = rows[at];
    in_order();
    return {first, rows[at + 1]};
}

// The chance that no clause with a positive literal warns the variable, and none with a negative one.
__device__ float2 silence(row of, const unsigned *occurrences, const float *eta) {
    float positive = 1, negative = 1;
#pragma unroll 1
    for (unsigned o = of.first; o < of.end; o++) {
        unsigned occurrence = occurrences[o];
        float silent = 1 - eta[occurrence >> 1];
        if (occurrence & 1) negative *= silent;
        else positive *= silent;
    }
    return make_float2(positive, negative);
}

extern "C" __global__ void calc_pi(const unsigned *rows, const unsigned *occurrences, const unsigned *value,
                                   const float *eta, float *pi_u, float *pi_s, float *pi_0, unsigned variables) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= variables || value[v] != FREE) return;
    row of = row_of(rows, v);
    float2 all = silence(of, occurrences, eta);
#pragma unroll 1
    for (unsigned o = of.first; o < of.end; o++) {
        unsigned occurrence = occurrences[o], edge = occurrence >> 1;
        bool isNegative = occurrence & 1;
        float same = (isNegative ? all.y : all.x) / (1 - eta[edge]), other = isNegative ? all.x : all.y;
        pi_u[edge] = (1 - other) * same;
        pi_s[edge] = (1 - same) * other;
        pi_0[edge] = same * other;
    }
}

extern "C" __global__ void update_eta(const unsigned *rows, const unsigned *satisfied, float *eta,
                                      const float *pi_u, const float *pi_s, const float *pi_0, unsigned *most,
                                      unsigned clauses) {
    unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= clauses || satisfied[c]) return;
    row of = row_of(rows, c);
    float change = 0;
#pragma unroll 1
    for (unsigned i = of.first; i < of.end; i++) {
        float warning = 1;
#pragma unroll 1
        for (unsigned j = of.first; j < of.end; j++) {
            if (j == i) continue;
            float u = pi_u[j];
            in_order();
            float s = pi_s[j];
            in_order();
            warning *= u / fmaxf(u + s + pi_0[j], LEAST);
        }
        warning = fminf(warning, MOST);
        change = fmaxf(change, fabsf(warning - eta[i]));
        eta[i] = warning;
    }
    atomicMax(most, __float_as_uint(change));
}

extern "C" __global__ void calc_bias(const unsigned *rows, const unsigned *occurrences, const unsigned *value,
                                     const float *eta, float *bias, unsigned variables) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= variables || value[v] != FREE) return;
    float2 all = silence(row_of(rows, v), occurrences, eta);
    float isTrue = __fmul_rn(1 - all.x, all.y), isFalse = __fmul_rn(1 - all.y, all.x);
    bias[v] = (isTrue - isFalse) / fmaxf(isTrue + isFalse + __fmul_rn(all.x, all.y), LEAST);
}

extern "C" __global__ void decimate(const unsigned *rows, const unsigned *occurrences, unsigned *value,
                                    const float *bias, const unsigned *clauseRows, const unsigned *clauseOf,
                                    unsigned *satisfied, float *eta, float *pi_u, float *pi_s, float *pi_0,
                                    float threshold, unsigned variables) {
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= variables || value[v] != FREE) return;
    float b = bias[v];
    if (fabsf(b) < threshold) return;
    bool isFalse = b < 0;
    value[v] = isFalse ? FALSE : TRUE;
    row of = row_of(rows, v);
#pragma unroll 1
    for (unsigned o = of.first; o < of.end; o++) {
        unsigned occurrence = occurrences[o], edge = occurrence >> 1;
        if ((occurrence & 1) == isFalse) {
            unsigned c = clauseOf[edge];
            satisfied[c] = 1;
            row edges = row_of(clauseRows, c);
#pragma unroll 1
            for (unsigned e = edges.first; e < edges.end; e++) eta[e] = 0;
        } else {
            pi_u[edge] = 1;
            pi_s[edge] = 0;
            pi_0[edge] = 0;
        }
    }
}
