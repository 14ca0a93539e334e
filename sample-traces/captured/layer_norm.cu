// Layer normalisation of the rows of a matrix: y = (x - mean) / sqrt(variance + 1e-5) * gain + bias.
// One CTA of 256 threads a row.

__device__ float sum_of_cta(float value) {
    __shared__ float sums[8];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < 8; warp++) value += sums[warp];
    __syncthreads();
    return value;
}

extern "C" __global__ void layer_norm(const float4 *x, const float4 *gain, const float4 *bias,
                                      float4 *y, unsigned columns) {
    const float4 *row = x + blockIdx.x * (columns / 4);
    float sum = 0, squares = 0;
    for (unsigned i = threadIdx.x; i < columns / 4; i += 256) {
        float4 v = row[i];
        sum += v.x + v.y + v.z + v.w;
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float mean = sum_of_cta(sum) / columns;
    float variance = sum_of_cta(squares) / columns - mean * mean;
    float scale = rsqrtf(variance + 1e-5f);
    float4 *out = y + blockIdx.x * (columns / 4);
    for (unsigned i = threadIdx.x; i < columns / 4; i += 256) {
        float4 v = row[i], g = gain[i], b = bias[i];
        out[i] = make_float4((v.x - mean) * scale * g.x + b.x, (v.y - mean) * scale * g.y + b.y,
                             (v.z - mean) * scale * g.z + b.z, (v.w - mean) * scale * g.w + b.w);
    }
}
