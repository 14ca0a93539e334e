// CUDA version of the generator `gesummv`.

extern "C" __global__ void gesummv_kernel(const float *a, const float *b, const float *x, float *y, float *tmp,
                                          int n, int columns, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int j = 0; j < columns; j++) {
        tmp[i] += a[i * pitch + j] * x[j];
        y[i] += b[i * pitch + j] * x[j];
    }
    y[i] = 2.0f * tmp[i] + 3.0f * y[i];
}
