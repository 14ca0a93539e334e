//! Latency of single L2 lines: each line is a list of one node that points to itself, read past L1. An L2
//! with two partitions has two latency levels, near and far. Each launch has one CTA per SM, and only the
//! first CTA follows a list: with round-robin CTA placement that continues across launches, this CTA always
//! runs on the same SM.

use crate::statistics::{levels, median};
use crate::work::{Cycles, Figure, Parameters, Program, Unit, Work};

use super::chase::{PTX, TIMER};
use super::{Measurement, WorkSource, size, sizes};

const NAME: &str = "l2-lines";

pub const MEASUREMENT: Measurement = Measurement {
    name: NAME,
    summary: "cycles of a load that hits L2, per line: near and far where there are two levels",
    parameters: |device| {
        let ctas = device.sms.into();
        sizes([("lines", 64), ("spacing", 4096), ("ctas", ctas), ("fewer", 128), ("more", 384)])
    },
    parts: WorkSource::Sized(work),
};

/// Launches per line: one brings the line into L2, and the difference of the other two is the result.
const LAUNCHES: usize = 3;

fn work(parameters: &Parameters) -> Result<Work, String> {
    let [lines, spacing] = ["lines", "spacing"].map(|name| size(parameters, name));
    let [fewer, more] = ["fewer", "more"].map(|name| size(parameters, name));
    let (lines, spacing, fewer, more) = (lines?, spacing?, fewer?, more?);
    let ctas = size(parameters, "ctas")?;
    if !fewer.is_multiple_of(8) || !more.is_multiple_of(8) || more <= fewer {
        return Err(format!(
            "hops must be multiples of 8 with fewer below more, found {fewer} and {more}"
        ));
    }
    let launch_file = launch_file([lines, spacing, ctas], [8, fewer, more]);
    let program = Program::of_text(&launch_file, PTX)?.timed_by(TIMER);
    let hops = (more - fewer) as f64;
    Ok(Work::new(NAME, vec![program], move |cycles| figures(cycles, hops)))
}

fn launch_file([lines, spacing, ctas]: [u64; 3], hops: [u64; LAUNCHES]) -> String {
    let launches = LAUNCHES as u64 * lines;
    let mut text = format!(
        r#"
        module = "chase.ptx"
        [buffers.{TIMER}]
        type = "u64"
        shape = {launches}
        [buffers.last]
        type = "u64"
        shape = 1
        "#
    );
    for line in 0..lines {
        let words = spacing / 8;
        text += &format!(
            "\n[buffers.line_{line}]\ntype = 'u64'\nshape = {words}\nfill = 'list({spacing})'\n"
        );
    }
    for (at, hops) in (0..launches).zip(hops.into_iter().cycle()) {
        let (line, to) = (at / LAUNCHES as u64, 8 * at);
        text += &format!(
            "\n[[launches]]\nkernel = 'chase_past_l1'\ngrid = {ctas}\nblock = 1\n\
             arguments = ['line_{line}', {hops}, '{TIMER}+{to}', 'last']\n"
        );
    }
    text
}

fn figures(cycles: &Cycles, hops: f64) -> Vec<Figure> {
    let launches = cycles.launches.first().map_or(&[][..], Vec::as_slice);
    let of_line = |launches: &[f64; LAUNCHES]| (launches[2] - launches[1]) / hops;
    let lines: Vec<f64> = launches.as_chunks().0.iter().map(of_line).collect();
    match levels(&lines) {
        Some([near, far]) => vec![
            Figure::new("l2-near", Unit::Cycles, near),
            Figure::new("l2-far", Unit::Cycles, far),
        ],
        None => vec![Figure::new("l2-near", Unit::Cycles, median(&lines))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_values(of_line: impl Fn(usize) -> f64) -> Vec<(String, f64)> {
        let launches = (0..64).flat_map(|line| [9e9, 500.0, 500.0 + 256.0 * of_line(line)]);
        let cycles = Cycles { launches: vec![launches.collect()], hz: 1e9 };
        let figures = figures(&cycles, 256.0);
        figures.into_iter().map(|figure| (figure.name, figure.value)).collect()
    }

    #[test]
    fn two_partitions_give_near_and_far_latencies() {
        let two = names_and_values(|line| if line % 3 == 0 { 400.0 } else { 200.0 });
        assert_eq!(two, [("l2-near".to_owned(), 200.0), ("l2-far".to_owned(), 400.0)]);
        assert_eq!(names_and_values(|_| 222.0), [("l2-near".to_owned(), 222.0)]);
    }
}
