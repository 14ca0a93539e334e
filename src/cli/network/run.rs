//! Measures loads in parallel.

use super::super::interrupt::Interrupt;
use super::super::progress::bar;
use crate::standalone::network::{Curve, Point, StandaloneError};
use indicatif::{HumanCount, ProgressBar};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Instant;

/// Loads of every curve.
pub struct Plan {
    pub loads: Vec<f64>,
    /// Whether to measure loads above the first that saturates a network.
    pub to_the_end: bool,
}

/// Measures the points of each curve in the order of the loads, and returns them with the summary
/// line.
pub fn measure(curves: &[Curve], plan: &Plan) -> anyhow::Result<(Vec<Vec<Point>>, String)> {
    let board = Board::new(Interrupt::install()?, curves.len() * plan.loads.len());
    // Lowest load known to saturate each curve. Whether a higher load is measured depends on thread
    // timing, so higher loads are dropped even if measured.
    let saturated: Vec<AtomicUsize> = curves.iter().map(|_| AtomicUsize::new(usize::MAX)).collect();
    let is_wanted =
        |curve: usize, load: usize| plan.to_the_end || load <= saturated[curve].load(Relaxed);
    // Low loads of all curves come first.
    let all =
        (0..plan.loads.len()).flat_map(|load| (0..curves.len()).map(move |curve| (curve, load)));
    let measure = |(curve, load): (usize, usize)| {
        let point = is_wanted(curve, load).then(|| board.point(&curves[curve], plan.loads[load]));
        board.bar.inc(1);
        if let Some(Ok(point)) = &point
            && point.is_saturated()
        {
            saturated[curve].fetch_min(load, Relaxed);
        }
        Some(((curve, load), point?))
    };
    let mut points: Vec<_> = all.par_bridge().filter_map(measure).collect();
    points.sort_by_key(|&(place, _)| place);
    let mut by_curve = vec![Vec::new(); curves.len()];
    for ((curve, load), point) in points {
        if is_wanted(curve, load) {
            by_curve[curve].push(point?);
        }
    }
    Ok((by_curve, board.finish()))
}

/// Progress of all loads together.
struct Board {
    bar: ProgressBar,
    begun: Instant,
    interrupt: Interrupt,
    packets: AtomicU64,
}

impl Board {
    fn new(interrupt: Interrupt, loads: usize) -> Board {
        let bar = bar("{bar:30} {pos}/{len} loads · {msg} packets");
        bar.set_length(loads as u64);
        Board { bar, begun: Instant::now(), interrupt, packets: AtomicU64::new(0) }
    }

    fn point(&self, curve: &Curve, load: f64) -> Result<Point, StandaloneError> {
        curve.measure(load, &mut |arrived| {
            let packets = self.packets.fetch_add(arrived, Relaxed) + arrived;
            self.bar.set_message(HumanCount(packets).to_string());
            if self.interrupt.is_asked() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// Removes the bar and returns the summary: `2,000,000 packets in 1.2 s, 1,666,666 per second`.
    fn finish(self) -> String {
        let (packets, seconds) = (self.packets.load(Relaxed), self.begun.elapsed().as_secs_f64());
        self.bar.finish_and_clear();
        format!(
            "{} packets in {seconds:.1} s, {} per second",
            HumanCount(packets),
            HumanCount((packets as f64 / seconds) as u64)
        )
    }
}
