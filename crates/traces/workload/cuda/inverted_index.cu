// The twins of the generator `inverted-index`.

#include "map_reduce.h"

const unsigned LENGTH = 9;
__constant__ unsigned char PATTERN[LENGTH + 1] = "<a href=\"";

template <bool WRITES>
__device__ void map_task(const unsigned char *text, const unsigned *offsets, unsigned task,
                         emitter<WRITES> &emit) {
    unsigned at = offsets[task];
    in_order();
    unsigned end = offsets[task + 1], matched = 0;
#pragma unroll 1
    while (at < end) {
        unsigned char c = text[at++];
        in_order();
        matched = c == PATTERN[matched] ? matched + 1 : c == '<';
        if (matched == LENGTH) {
            matched = 0;
            emit.begin();
            c = text[at];
#pragma unroll 1
            while (c != '"') {
                emit.push(c);
                c = text[++at];
            }
            in_order();
            emit.end(task);
        }
    }
}
