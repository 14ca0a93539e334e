// The twin of the generator `syr2k`.

extern "C" __global__ void syr2k_kernel(const float *a, const float *b, float *c, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    c[i * n + j] *= 3.0f;
#pragma unroll 1
    for (int l = 0; l < k; l++)
        c[i * n + j] += 2.0f * a[i * k + l] * b[j * k + l] + 2.0f * b[i * k + l] * a[j * k + l];
}
