// Compiler barrier without an instruction. nvcc reorders loads that no store separates; the barrier preserves
// the order of the generator, which tests compare.
__device__ inline void in_order() { asm volatile("" ::: "memory"); }
