// The twins of the generator `paged-attention` for heads of 128 elements: pages of 8, 16 and 32 tokens.

#include <cuda_fp16.h>

const int WARPS = 4, THREADS = 32 * WARPS, HEAD_SIZE = 128;

// What a lane reads of a key at once: 2 × P halves.
template <int P> struct VecOf;
template <> struct VecOf<1> { typedef unsigned type; };
template <> struct VecOf<2> { typedef uint2 type; };
template <> struct VecOf<4> { typedef uint4 type; };
template <int P> using Vec = typename VecOf<P>::type;
typedef uint4 Half8;

template <typename V> __device__ __half2 pair_of(const V &vec, int pair) {
    return ((const __half2 *)&vec)[pair];
}

__device__ float fold_max(float a, float b) { return fmaxf(a, b); }
__device__ float fold_sum(float a, float b) { return a + b; }

template <float (*WITH)(float, float), int GROUP>
__device__ float block_fold(float value, float *red_smem) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int mask = 16; mask >= GROUP; mask /= 2) value = WITH(value, __shfl_xor_sync(~0u, value, mask));
    if (lane == 0) red_smem[warp] = value;
    __syncthreads();
    if (lane < WARPS) value = red_smem[lane];
#pragma unroll
    for (int mask = WARPS / 2; mask > 0; mask /= 2) value = WITH(value, __shfl_xor_sync(~0u, value, mask));
    return __shfl_sync(~0u, value, 0);
}

template <int P>
__device__ void decode(const Vec<P> *q, const Vec<P> *k, const Half8 *v, const int *block_tables,
                       const int *context_lens, __half *out, int heads, int kv_heads, int max_blocks, float scale) {
    const int PAGE = 8 * P, GROUP = 4 / P, ROWS = 32 / P, PIECES = HEAD_SIZE / 8;
    const int ROWS_OF_THREAD = (HEAD_SIZE + ROWS - 1) / ROWS;
    extern __shared__ float4 workspace[];
    __shared__ Vec<P> q_vecs[GROUP][PIECES];
    __shared__ float red_smem[2 * WARPS];
    float *logits = (float *)workspace;
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, seq = blockIdx.y, head = blockIdx.x;
    int context_len = context_lens[seq], blocks = (context_len + PAGE - 1) / PAGE;
    int query = seq * heads + head, kv_head = head / (heads / kv_heads);
    const int *table = block_tables + seq * max_blocks;

    int group = thread / GROUP, part = thread % GROUP;
    if (group < PIECES) q_vecs[part][group] = q[query * PIECES * GROUP + group * GROUP + part];
    __syncthreads();

    float qk_max = -3.40282347e+38f;
    int slot = group % PAGE;
#pragma unroll 1
    for (int block = warp; block < blocks; block += WARPS) {
        int page = table[block], token = block * PAGE + slot;
        const Vec<P> *key = k + (page * kv_heads + kv_head) * PIECES * PAGE * GROUP + slot * GROUP + part;
        Vec<P> keys[PIECES];
#pragma unroll
        for (int j = 0; j < PIECES; j++) keys[j] = key[j * PAGE * GROUP];
        float qk = 0;
#pragma unroll
        for (int j = 0; j < PIECES; j++)
#pragma unroll
            for (int e = 0; e < P; e++) {
                float2 a = __half22float2(pair_of(q_vecs[part][j], e)), b = __half22float2(pair_of(keys[j], e));
                qk += a.x * b.x + a.y * b.y;
            }
#pragma unroll
        for (int mask = GROUP / 2; mask > 0; mask /= 2) qk += __shfl_xor_sync(~0u, qk, mask);
        qk *= scale;
        if (part == 0) {
            bool masked = token >= context_len;
            logits[token] = masked ? 0 : qk;
            qk_max = masked ? qk_max : fmaxf(qk_max, qk);
        }
    }
    qk_max = block_fold<fold_max, GROUP>(qk_max, red_smem);

    float exp_sum = 0;
#pragma unroll 1
    for (int i = thread; i < context_len; i += THREADS) {
        float value = __expf(logits[i] - qk_max);
        logits[i] = value;
        exp_sum += value;
    }
    exp_sum = block_fold<fold_sum, 1>(exp_sum, red_smem + WARPS);
    float inv_sum = __fdividef(1.0f, exp_sum + 1e-6f);
#pragma unroll 1
    for (int i = thread; i < context_len; i += THREADS) logits[i] *= inv_sum;
    __syncthreads();

    float accs[ROWS_OF_THREAD] = {};
    int first_row = lane / P, offset = lane % P * 8;
#pragma unroll 1
    for (int block = warp; block < blocks; block += WARPS) {
        int page = table[block], token = block * PAGE + offset;
        float4 lower = *(float4 *)&logits[token], upper = *(float4 *)&logits[token + 4];
        __half2 weights[4] = {__floats2half2_rn(lower.x, lower.y), __floats2half2_rn(lower.z, lower.w),
                              __floats2half2_rn(upper.x, upper.y), __floats2half2_rn(upper.z, upper.w)};
        const Half8 *rows = v + (page * kv_heads + kv_head) * HEAD_SIZE * P + lane;
#pragma unroll
        for (int i = 0; i < ROWS_OF_THREAD; i++) {
            if (first_row + i * ROWS >= HEAD_SIZE) continue;
            Half8 loaded = rows[32 * i];
            __half2 values[4];
#pragma unroll
            for (int pair = 0; pair < 4; pair++) values[pair] = pair_of(loaded, pair);
            if (block == blocks - 1)
#pragma unroll
                for (int pair = 0; pair < 4; pair++) {
                    __half2 both = values[pair];
                    __half low = token + 2 * pair < context_len ? __low2half(both) : __float2half(0);
                    __half high = token + 2 * pair + 1 < context_len ? __high2half(both) : __float2half(0);
                    values[pair] = __halves2half2(low, high);
                }
            __half2 sum = __hmul2(weights[0], values[0]);
#pragma unroll
            for (int pair = 1; pair < 4; pair++) sum = __hadd2(sum, __hmul2(weights[pair], values[pair]));
            accs[i] += __low2float(sum) + __high2float(sum);
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS_OF_THREAD; i++)
#pragma unroll
        for (int mask = P / 2; mask > 0; mask /= 2) accs[i] += __shfl_xor_sync(~0u, accs[i], mask);
    __syncthreads();

#pragma unroll
    for (int middle = WARPS / 2; middle > 0; middle /= 2) {
        if (warp >= middle && warp < 2 * middle)
#pragma unroll
            for (int i = 0; i < ROWS_OF_THREAD; i++) {
                int row = first_row + i * ROWS;
                if (row < HEAD_SIZE && lane % P == 0) logits[(warp - middle) * HEAD_SIZE + row] = accs[i];
            }
        __syncthreads();
        if (warp < middle)
#pragma unroll
            for (int i = 0; i < ROWS_OF_THREAD; i++) {
                int row = first_row + i * ROWS;
                if (row < HEAD_SIZE && lane % P == 0) accs[i] += logits[warp * HEAD_SIZE + row];
            }
        __syncthreads();
    }
    if (warp == 0)
#pragma unroll
        for (int i = 0; i < ROWS_OF_THREAD; i++) {
            int row = first_row + i * ROWS;
            if (row < HEAD_SIZE && lane % P == 0) out[query * HEAD_SIZE + row] = __float2half(accs[i]);
        }
}

extern "C" __global__ void decode_8(const Vec<1> *q, const Vec<1> *k, const Half8 *v, const int *block_tables,
                                    const int *context_lens, __half *out, int heads, int kv_heads, int max_blocks,
                                    float scale) {
    decode<1>(q, k, v, block_tables, context_lens, out, heads, kv_heads, max_blocks, scale);
}

extern "C" __global__ void decode_16(const Vec<2> *q, const Vec<2> *k, const Half8 *v, const int *block_tables,
                                     const int *context_lens, __half *out, int heads, int kv_heads, int max_blocks,
                                     float scale) {
    decode<2>(q, k, v, block_tables, context_lens, out, heads, kv_heads, max_blocks, scale);
}

extern "C" __global__ void decode_32(const Vec<4> *q, const Vec<4> *k, const Half8 *v, const int *block_tables,
                                     const int *context_lens, __half *out, int heads, int kv_heads, int max_blocks,
                                     float scale) {
    decode<4>(q, k, v, block_tables, context_lens, out, heads, kv_heads, max_blocks, scale);
}
