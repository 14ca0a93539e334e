//! OWL 2013: warp schedulers that know CTAs, and prefetching from open rows.
