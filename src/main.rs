//! The `warpmem` command.

fn main() {}
