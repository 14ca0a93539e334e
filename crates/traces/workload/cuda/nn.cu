// The twin of the generator `nn`.

struct Position {
    float lat, lng;
};

extern "C" __global__ void euclid(const Position *locations, float *distances, int n, float lat, float lng) {
    int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (i >= n) return;
    float north = lat - locations[i].lat, east = lng - locations[i].lng;
    distances[i] = sqrtf(north * north + east * east);
}
