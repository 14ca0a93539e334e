//! L2 bandwidth: all resident threads repeatedly read a quarter of the L2 capacity, bypassing L1, for two
//! numbers of rounds. Both include the cold first round, so the difference excludes it.

use crate::device::DeviceInfo;
use crate::work::{Cycles, Figure, Parameters, Program, Unit, Work};

use super::{Measurement, WorkSource, power_of_two_below, size, sizes};

const NAME: &str = "l2-bandwidth";
const THREADS_OF_CTA: u64 = 512;
/// Bytes that a thread reads per round: four vectors.
const ROUND_BYTES: u64 = 4 * 16;

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "bytes that L2 returns to readers per SM cycle",
    parameters,
    parts: WorkSource::Sized(work),
};

fn parameters(device: &DeviceInfo) -> Parameters {
    let ctas_of_sm = (u64::from(device.threads_per_sm) / THREADS_OF_CTA).max(1);
    let bytes = power_of_two_below(device.l2_bytes / 4).max(1 << 16);
    sizes([
        ("bytes", bytes),
        ("ctas", u64::from(device.sms) * ctas_of_sm),
        ("fewer", 8),
        ("more", 24),
    ])
}

fn work(parameters: &Parameters) -> Result<Work, String> {
    let [bytes, ctas] = ["bytes", "ctas"].map(|name| size(parameters, name));
    let [fewer, more] = ["fewer", "more"].map(|name| size(parameters, name));
    let (bytes, ctas, fewer, more) = (bytes?, ctas?, fewer?, more?);
    if !bytes.is_power_of_two() || bytes < 16 || more <= fewer {
        return Err(format!(
            "{bytes} bytes are not a power of two, or {more} rounds are not more than {fewer}"
        ));
    }
    let program = |rounds| program(bytes, ctas, rounds);
    let programs = vec![program(fewer)?, program(more)?];
    let moved = (more - fewer) * ctas * THREADS_OF_CTA * ROUND_BYTES;
    let figure = move |cycles: &Cycles| {
        vec![Figure::new(NAME, Unit::BytesPerCycle, moved as f64 / cycles.difference())]
    };
    Ok(Work::new(NAME, programs, figure))
}

fn program(bytes: u64, ctas: u64, rounds: u64) -> Result<Program, String> {
    let launch_file = format!(
        r#"
        module = "l2_read.ptx"
        [buffers.from]
        type = "u32"
        shape = {words}
        [buffers.to]
        type = "u32"
        shape = 1
        [[launches]]
        kernel = "read_again"
        grid = {ctas}
        block = {THREADS_OF_CTA}
        arguments = ["from", {mask}, {rounds}, "to"]
        "#,
        words = bytes / 4,
        mask = bytes / 16 - 1,
    );
    Program::of_text(&launch_file, include_str!("../ptx/l2_read.ptx"))
}
