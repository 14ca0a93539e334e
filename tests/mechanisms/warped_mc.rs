//! Warped-MC 2023: a DRAM scheduler that knows what warps wait for.
