// CUDA version of the generator `transpose`: tiles of 32 × 32 by 32 × 8 threads, and of 16 × 16 by 16 × 16 threads.

template <int SIDE, int ROWS>
__device__ void straight(float *odata, const float *idata, int width, int height) {
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < SIDE; j += ROWS)
        if (x < width && y + j < height) odata[x * height + y + j] = idata[(y + j) * width + x];
}

template <int SIDE, int ROWS>
__device__ void tiled(float *odata, const float *idata, int width, int height) {
    __shared__ float tile[SIDE][SIDE + 1];
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < SIDE; j += ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x;
    y = blockIdx.x * SIDE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < SIDE; j += ROWS)
        if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void straight_32(float *odata, const float *idata, int width, int height) {
    straight<32, 8>(odata, idata, width, height);
}

extern "C" __global__ void tiled_32(float *odata, const float *idata, int width, int height) {
    tiled<32, 8>(odata, idata, width, height);
}

extern "C" __global__ void straight_16(float *odata, const float *idata, int width, int height) {
    straight<16, 16>(odata, idata, width, height);
}

extern "C" __global__ void tiled_16(float *odata, const float *idata, int width, int height) {
    tiled<16, 16>(odata, idata, width, height);
}
