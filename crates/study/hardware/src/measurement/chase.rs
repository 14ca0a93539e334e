//! Pointer chases: one thread follows a random list for two numbers of hops. The difference excludes the
//! launch and the cold misses.

use crate::work::{Cycles, Figure, Parameters, Program, Unit, Work};

use super::size;

/// Buffer into which launches write their cycles.
pub const TIMER: &str = "cycles";

pub const PTX: &str = include_str!("../ptx/chase.ptx");

/// Builds a chase with kernel `name`; its parameters are `bytes`, `spacing`, `fewer` and `more` hops.
pub fn chase(name: &'static str, kernel: &str, parameters: &Parameters) -> Result<Work, String> {
    let hops = ["fewer", "more"].map(|name| size(parameters, name));
    let [fewer, more] = hops;
    let (fewer, more) = (fewer?, more?);
    if !fewer.is_multiple_of(8) || !more.is_multiple_of(8) || more <= fewer {
        return Err(format!(
            "hops must be multiples of 8 with fewer below more, found {fewer} and {more}"
        ));
    }
    let [bytes, spacing] = ["bytes", "spacing"].map(|name| size(parameters, name));
    let (bytes, spacing) = (bytes?, spacing?);
    let program = |hops: u64| program(kernel, bytes, spacing, hops);
    let programs = vec![program(fewer)?, program(more)?];
    let hops = (more - fewer) as f64;
    let figure =
        move |cycles: &Cycles| vec![Figure::new(name, Unit::Cycles, cycles.difference() / hops)];
    Ok(Work::new(name, programs, figure))
}

fn program(kernel: &str, bytes: u64, spacing: u64, hops: u64) -> Result<Program, String> {
    let launch_file = format!(
        r#"
        module = "chase.ptx"
        [buffers.list]
        type = "u64"
        shape = {words}
        fill = "list({spacing})"
        [buffers.{TIMER}]
        type = "u64"
        shape = 1
        [buffers.last]
        type = "u64"
        shape = 1
        [[launches]]
        kernel = "{kernel}"
        grid = 1
        block = 1
        arguments = ["list", {hops}, "{TIMER}", "last"]
        "#,
        words = bytes / 8,
    );
    let program = Program::of_text(&launch_file, PTX)?;
    Ok(program.timed_by(TIMER))
}
