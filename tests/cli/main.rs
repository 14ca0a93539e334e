//! The program from end to end.

mod bad_input;
mod classify;
mod command_logs;
mod complexity;
mod correlate;
mod documents;
mod dram;
mod dram_map;
mod formats;
mod help;
mod import_export;
mod info;
mod interrupt;
mod network;
mod numbers;
mod repeatable;
mod sample;
mod suite;
mod support;
mod unwritable;
