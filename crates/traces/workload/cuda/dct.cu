// The twins of the generator `dct`.

#define SIDE 8
#define PITCH 33

__constant__ unsigned short quantisers[64] = {
    16, 11, 10, 16, 24, 40, 51, 61,      //
    12, 12, 14, 19, 26, 58, 60, 55,      //
    14, 13, 16, 24, 40, 57, 69, 56,      //
    14, 17, 22, 29, 51, 87, 80, 62,      //
    18, 22, 37, 56, 68, 109, 103, 77,    //
    24, 35, 55, 64, 81, 104, 113, 92,    //
    49, 64, 78, 87, 103, 121, 120, 101,  //
    72, 92, 95, 98, 112, 100, 103, 99,
};

// Half the cosine of k / 16 of half a turn, for k from 0 to 8.
__device__ constexpr float half_cosine(int k) {
    constexpr float values[] = {0.5f, 0.490392625f, 0.461939752f, 0.415734798f, 0.353553385f, 0.277785122f, 0.191341713f, 0.0975451618f, 0.0f};
    return values[k];
}

// What input `n` counts for in coefficient `k`.
__device__ constexpr float basis(int k, int n) {
    int angle = (2 * n + 1) * k % 32;
    if (angle > 16) angle = 32 - angle;
    if (k == 0) return half_cosine(4);
    return angle > 8 ? -half_cosine(16 - angle) : half_cosine(angle);
}

struct Forward {
    static __device__ void transform(float *x) {
        float sums[4], differences[4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            sums[n] = x[n] + x[7 - n];
            differences[n] = x[n] - x[7 - n];
        }
        float outer = sums[0] + sums[3], inner = sums[1] + sums[2];
        float apart[] = {sums[0] - sums[3], sums[1] - sums[2]};
        x[0] = (outer + inner) * basis(0, 0);
        x[4] = (outer - inner) * basis(4, 0);
#pragma unroll
        for (int k = 2; k < 8; k += 4) x[k] = fmaf(apart[1], basis(k, 1), apart[0] * basis(k, 0));
#pragma unroll
        for (int k = 1; k < 8; k += 2) {
            float sum = differences[0] * basis(k, 0);
#pragma unroll
            for (int n = 1; n < 4; n++) sum = fmaf(differences[n], basis(k, n), sum);
            x[k] = sum;
        }
    }
};

struct Inverse {
    static __device__ void transform(float *y) {
        float outer = (y[0] + y[4]) * basis(0, 0), inner = (y[0] - y[4]) * basis(0, 0);
        float apart[2], differences[4];
#pragma unroll
        for (int n = 0; n < 2; n++) apart[n] = fmaf(y[6], basis(6, n), y[2] * basis(2, n));
#pragma unroll
        for (int n = 0; n < 4; n++) {
            float sum = y[1] * basis(1, n);
#pragma unroll
            for (int k = 3; k < 8; k += 2) sum = fmaf(y[k], basis(k, n), sum);
            differences[n] = sum;
        }
        float sums[] = {__fadd_rn(outer, apart[0]), __fadd_rn(inner, apart[1]), __fsub_rn(inner, apart[1]),
                        __fsub_rn(outer, apart[0])};
#pragma unroll
        for (int n = 0; n < 4; n++) {
            y[n] = sums[n] + differences[n];
            y[7 - n] = sums[n] - differences[n];
        }
    }
};

// Where a thread is: the first pixel of its column, and its column and row in shared memory.
struct Place {
    int at;
    float *column, *row;
    __device__ Place(float *tile, int width) {
        int x = threadIdx.y * SIDE + threadIdx.x, y = threadIdx.z * SIDE;
        at = (blockIdx.y * 16 + y) * width + blockIdx.x * 32 + x;
        column = tile + y * PITCH + x;
        row = tile + (y + threadIdx.x) * PITCH + threadIdx.y * SIDE;
    }

    // Transforms the row, and then the column, which `values` are.
    template <class Direction>
    __device__ void transform(float *values) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < SIDE; i++) values[i] = row[i];
        Direction::transform(values);
#pragma unroll
        for (int i = 0; i < SIDE; i++) row[i] = values[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < SIDE; i++) values[i] = column[i * PITCH];
        Direction::transform(values);
    }
};

extern "C" __global__ void decode(const short *coefficients, unsigned char *pixels, int width) {
    __shared__ float tile[16 * PITCH];
    float values[SIDE];
    Place place(tile, width);
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        place.column[i * PITCH] = coefficients[place.at + i * width] * (float)quantisers[i * SIDE + threadIdx.x];
    place.transform<Inverse>(values);
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        pixels[place.at + i * width] = (unsigned char)rintf(fminf(fmaxf(values[i] + 128.0f, 0.0f), 255.0f));
}

extern "C" __global__ void encode(const unsigned char *pixels, short *coefficients, int width) {
    __shared__ float tile[16 * PITCH];
    float values[SIDE];
    Place place(tile, width);
#pragma unroll
    for (int i = 0; i < SIDE; i++) place.column[i * PITCH] = pixels[place.at + i * width] - 128.0f;
    place.transform<Forward>(values);
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        coefficients[place.at + i * width] = (short)rintf(values[i] / quantisers[i * SIDE + threadIdx.x]);
}
