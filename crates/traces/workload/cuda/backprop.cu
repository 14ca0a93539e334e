// The twins of the generator `backprop`.

#define SIDE 16
#define ETA 0.3f
#define MOMENTUM 0.3f

extern "C" __global__ void bpnn_layerforward_CUDA(const float *input, float *weights, float *partial_sum, int hid) {
    __shared__ float input_node[SIDE], weight_matrix[SIDE][SIDE];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * SIDE * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    if (tx == 0) input_node[ty] = input[SIDE * by + ty + 1];
    __syncthreads();
    weight_matrix[ty][tx] = weights[index];
    __syncthreads();
    weight_matrix[ty][tx] *= input_node[ty];
    __syncthreads();
#pragma unroll
    for (int power_two = 2; power_two <= SIDE; power_two *= 2) {
        if (ty % power_two == 0) weight_matrix[ty][tx] += weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }
    weights[index] = weight_matrix[ty][tx];
    __syncthreads();
    if (tx == 0) partial_sum[by * hid + ty] = weight_matrix[tx][ty];
}

extern "C" __global__ void bpnn_adjust_weights_cuda(const float *delta, int hid, const float *ly, float *w,
                                                    float *oldw) {
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * SIDE * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_y = SIDE * by + ty + 1, index_x = tx + 1;
    w[index] += ETA * delta[index_x] * ly[index_y] + MOMENTUM * oldw[index];
    oldw[index] = ETA * delta[index_x] * ly[index_y] + MOMENTUM * oldw[index];
    __syncthreads();
    if (ty == 0 && by == 0) {
        w[index_x] += ETA * delta[index_x] + MOMENTUM * oldw[index_x];
        oldw[index_x] = ETA * delta[index_x] + MOMENTUM * oldw[index_x];
    }
}
