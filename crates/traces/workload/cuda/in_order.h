// Keeps the loads before it ahead of those after it, without an instruction: nvcc would change the order of
// loads between which nothing is written, and the order of the generator's is compared.
__device__ inline void in_order() { asm volatile("" ::: "memory"); }
