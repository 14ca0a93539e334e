//! CaLRS 2015: queues of LLC slices that know how many requests of an instruction are under way.
