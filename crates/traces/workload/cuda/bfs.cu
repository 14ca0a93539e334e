// CUDA version of the generator `bfs`, variant `topology`: the two kernels of Rodinia.

#include "in_order.h"

struct Node {
    int starting, no_of_edges;
};

extern "C" __global__ void Kernel(const Node *nodes, const int *edges, bool *mask, bool *updating, bool *visited,
                                  int *cost, int n) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n && mask[tid]) {
        mask[tid] = false;
        int count = nodes[tid].no_of_edges;
        in_order();
        int first = nodes[tid].starting, end = first + count;
#pragma unroll 1
        for (int i = first; i < end; i++) {
            int id = edges[i];
            if (!visited[id]) {
                cost[id] = cost[tid] + 1;
                updating[id] = true;
            }
        }
    }
}

extern "C" __global__ void Kernel2(bool *mask, bool *updating, bool *visited, bool *over, int n) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n && updating[tid]) {
        mask[tid] = true;
        visited[tid] = true;
        *over = true;
        updating[tid] = false;
    }
}
