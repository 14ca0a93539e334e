// The twins of the generator `kmeans`, for both layouts of the points.

__constant__ float c_clusters[16384];

extern "C" __global__ void invert_mapping(const float *input, float *output, int npoints, int nfeatures) {
    int point_id = threadIdx.x + blockDim.x * blockIdx.x;
    if (point_id < npoints)
#pragma unroll 1
        for (int i = 0; i < nfeatures; i++)
            output[point_id + npoints * i] = input[point_id * nfeatures + i];
}

template <bool SOA>
__device__ void nearest(const float *features, int nfeatures, int npoints, int nclusters, int *membership) {
    unsigned block_id = gridDim.x * blockIdx.y + blockIdx.x;
    unsigned point_id = block_id * blockDim.x * blockDim.y + threadIdx.x;
    if (point_id >= npoints) return;
    int index = -1;
    float min_dist = 3.40282347e+38f;
#pragma unroll 1
    for (int i = 0; i < nclusters; i++) {
        float ans = 0;
#pragma unroll 1
        for (int j = 0; j < nfeatures; j++) {
            unsigned at = SOA ? point_id + j * npoints : point_id * nfeatures + j;
            float diff = __ldg(&features[at]) - c_clusters[i * nfeatures + j];
            ans += diff * diff;
        }
        if (ans < min_dist) {
            min_dist = ans;
            index = i;
        }
    }
    membership[point_id] = index;
}

extern "C" __global__ void nearest_soa(const float *features, int nfeatures, int npoints, int nclusters,
                                       int *membership) {
    nearest<true>(features, nfeatures, npoints, nclusters, membership);
}

extern "C" __global__ void nearest_aos(const float *features, int nfeatures, int npoints, int nclusters,
                                       int *membership) {
    nearest<false>(features, nfeatures, npoints, nclusters, membership);
}
