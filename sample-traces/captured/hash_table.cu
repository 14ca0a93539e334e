// A hash table with open addressing: keys are inserted, then others are looked up.

const unsigned EMPTY = 0xffffffff;

__device__ unsigned slot_of(unsigned key, unsigned slots) {
    key ^= key >> 16;
    key *= 0x85ebca6b;
    key ^= key >> 13;
    return key & (slots - 1);
}

extern "C" __global__ void insert(const unsigned *keys, unsigned n, unsigned *table, unsigned slots) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    unsigned slot = slot_of(key, slots);
    while (true) {
        unsigned found = atomicCAS(&table[slot], EMPTY, key);
        if (found == EMPTY || found == key) return;
        slot = (slot + 1) & (slots - 1);
    }
}

extern "C" __global__ void look_up(const unsigned *keys, unsigned n, const unsigned *table,
                                   unsigned slots, unsigned *at) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    unsigned slot = slot_of(key, slots);
    unsigned found;
    while ((found = table[slot]) != EMPTY && found != key) slot = (slot + 1) & (slots - 1);
    at[i] = found == key ? slot : EMPTY;
}
