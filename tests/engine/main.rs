//! The engine as a whole: small traces through whole machines.

mod approximate;
mod closed_forms;
mod clusters;
mod combinations;
mod copies;
mod ctas;
mod determinism;
mod early_ends;
mod ideal;
mod interconnect;
mod keys;
mod l2_policy;
mod mbarriers;
mod mechanisms;
mod memory_bound;
mod micro;
mod prefetchers;
mod published;
mod random_programs;
mod recording;
mod row_sharing;
mod side_channels;
mod standards;
mod topologies;
mod trace;
mod warp_order;
