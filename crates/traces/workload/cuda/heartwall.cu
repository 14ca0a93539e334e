// The twins of the generator `heartwall`.

#include "in_order.h"

// Sides: T of a template, S of what is searched.
template <int T, int S> struct tracker {
    static const int P = S - T + 1;  // of the positions

    static __device__ void first_template(const float *frame, unsigned width, const unsigned *corners,
                                          float *templates) {
        unsigned corner = corners[blockIdx.x];
        in_order();
        unsigned middle = corner + (S - T) / 2 * (width + 1);
        float *templ = templates + blockIdx.x * T * T;
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < T * T; i += blockDim.x)
            templ[i] = frame[middle + i / T * width + i % T];
    }

    // The sum of `from` over every part of T * T, by running sums down and across.
    static __device__ void add_up(const float *from, float *down, float *bands, float *across, float *to) {
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < S; i += blockDim.x) {
            float sum = 0;
#pragma unroll 1
            for (unsigned y = 0; y < S; y++) {
                sum += from[y * S + i];
                down[(y + 1) * S + i] = sum;
            }
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < P * S; i += blockDim.x) {
            float below = down[i + T * S];
            in_order();
            bands[i] = below - down[i];
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < P; i += blockDim.x) {
            float sum = 0;
#pragma unroll 1
            for (unsigned x = 0; x < S; x++) {
                sum += bands[i * S + x];
                across[i * (S + 1) + x + 1] = sum;
            }
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < P * P; i += blockDim.x) {
            const float *before = across + i / P * (S + 1) + i % P;
            float behind = before[T];
            in_order();
            to[i] = behind - before[0];
        }
        __syncthreads();
    }

    // The template's mean, and how much it varies: the sum of its squares about it.
    static __device__ void statistics(const float *templ, float *totals) {
        __shared__ float sums[T], squares[T];
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < T; i += blockDim.x) {
            float sum = 0, square = 0;
#pragma unroll 1
            for (unsigned x = 0; x < T; x++) {
                float value = templ[i * T + x];
                sum += value;
                square = fmaf(value, value, square);
            }
            sums[i] = sum;
            squares[i] = square;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            float sum = 0, square = 0;
#pragma unroll 1
            for (unsigned i = 0; i < T; i++) {
                sum += sums[i];
                square += squares[i];
            }
            float mean = sum * (1.0f / (T * T));
            totals[0] = mean;
            totals[1] = fmaf(-mean, sum, square);
        }
        __syncthreads();
    }

    // Moves the point to the position of the largest correlation, the first of them.
    static __device__ void find_best(const float *correlations, unsigned width, unsigned *corner, unsigned *best) {
        __shared__ float values[P];
        __shared__ unsigned columns[P];
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < P; i += blockDim.x) {
            float largest = -3.402823466e38f;
            unsigned place = 0;
#pragma unroll 1
            for (unsigned x = 0; x < P; x++) {
                float value = correlations[i * P + x];
                if (value > largest) {
                    largest = value;
                    place = x;
                }
            }
            values[i] = largest;
            columns[i] = place;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            float largest = -3.402823466e38f;
            unsigned row = 0;
#pragma unroll 1
            for (unsigned i = 0; i < P; i++) {
                if (values[i] > largest) {
                    largest = values[i];
                    row = i;
                }
            }
            *best = row * S + columns[row];
            *corner += row * width + columns[row] - (S - T) / 2 * (width + 1);
        }
        __syncthreads();
    }

    static __device__ void track(const float *frame, unsigned width, unsigned *corners, float *templates,
                                 float *areas, float *square_areas, float *all_products, float *downs,
                                 float *all_bands, float *acrosses, float *all_area_sums, float *all_square_sums,
                                 float *all_correlations) {
        __shared__ float totals[2];
        __shared__ unsigned best;
        const float alpha = 0.87f;
        float *templ = templates + blockIdx.x * T * T, *area = areas + blockIdx.x * S * S;
        float *squares = square_areas + blockIdx.x * S * S, *products = all_products + blockIdx.x * P * P;
        float *down = downs + blockIdx.x * (S + 1) * S, *bands = all_bands + blockIdx.x * P * S;
        float *across = acrosses + blockIdx.x * P * (S + 1), *area_sums = all_area_sums + blockIdx.x * P * P;
        float *square_sums = all_square_sums + blockIdx.x * P * P;
        float *correlations = all_correlations + blockIdx.x * P * P;

        unsigned corner = corners[blockIdx.x];
        in_order();
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < S * S; i += blockDim.x) {
            float value = frame[corner + i / S * width + i % S];
            area[i] = value;
            squares[i] = value * value;
        }
        __syncthreads();
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < P * P; i += blockDim.x) {
            unsigned first = i / P * S + i % P;
            float sum = 0;
#pragma unroll 1
            for (unsigned y = 0; y < T; y++)
#pragma unroll 1
                for (unsigned x = 0; x < T; x++) {
                    float value = templ[y * T + x];
                    in_order();
                    sum = fmaf(value, area[first + y * S + x], sum);
                }
            products[i] = sum;
        }
        add_up(area, down, bands, across, area_sums);
        add_up(squares, down, bands, across, square_sums);
        statistics(templ, totals);
        float mean = totals[0], variation = totals[1];
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < P * P; i += blockDim.x) {
            float sum = area_sums[i];
            in_order();
            float numerator = fmaf(-sum, mean, products[i]);
            in_order();
            float of_area = fmaf(-(sum * (1.0f / (T * T))), sum, square_sums[i]);
            correlations[i] = numerator / sqrtf(of_area * variation);
        }
        __syncthreads();
        find_best(correlations, width, corners + blockIdx.x, &best);
        unsigned found = best;
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < T * T; i += blockDim.x) {
            float value = area[found + i / T * S + i % T];
            in_order();
            templ[i] = fmaf(value, 1 - alpha, templ[i] * alpha);
        }
    }
};

#define TRACKER(T, S)                                                                                               \
    extern "C" __global__ void first_templates_##T##_##S(const float *frame, unsigned width,                       \
                                                         const unsigned *corners, float *templates) {              \
        tracker<T, S>::first_template(frame, width, corners, templates);                                           \
    }                                                                                                               \
    extern "C" __global__ void track_##T##_##S(const float *frame, unsigned width, unsigned *corners,              \
                                               float *templates, float *areas, float *squares, float *products,    \
                                               float *down, float *bands, float *across, float *area_sums,         \
                                               float *square_sums, float *correlations) {                          \
        tracker<T, S>::track(frame, width, corners, templates, areas, squares, products, down, bands, across,      \
                             area_sums, square_sums, correlations);                                                \
    }

TRACKER(5, 11)
TRACKER(3, 9)
