//! Stand-alone networks.

use crate::error::{Error, OrRaise};
use crate::frame::{Frame, described};
use crate::machine::Machine;
use crate::runs::slot;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::ControlFlow;
use warpmem::slots::List;
use warpmem::standalone::network::{Curve, Point, Setup, StandaloneError, Window, columns};

/// Traffic, with the options of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Traffic {
    pattern: String,
    nodes: Option<usize>,
    packet_flits: u64,
    warmup: u64,
    cycles: u64,
    seed: u64,
}

/// Measures every topology with every arbiter under the `loads`, or, without any, up to saturation.
#[pyfunction]
pub fn network(
    py: Python<'_>,
    machine: &Machine,
    topologies: Vec<String>,
    arbiters: Vec<String>,
    traffic: Traffic,
    loads: Option<Vec<f64>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Frame> {
    let Traffic { pattern, nodes, packet_flits, warmup, cycles, seed } = traffic;
    let window = Window { warmup, cycles };
    let machine = &machine.machine;
    let setup = Setup::new(machine, &pattern, nodes, packet_flits, seed, window).or_raise()?;
    if let Some(load) = loads.iter().flatten().find(|load| !(0.0..=1.0).contains(*load)) {
        return Err(Error::new_err(format!("`loads` are above 0 and at most 1, not {load}")));
    }
    let chosen = |name: &str, given: Vec<String>, own: &String| -> PyResult<Vec<String>> {
        Ok(if given.is_empty() { vec![own.clone()] } else { List(given).of(slot(name)?) })
    };
    let topologies = chosen("topology", topologies, &machine.policy.topology)?;
    let arbiters = chosen("arbiter", arbiters, &machine.policy.arbiter)?;
    let pairs = topologies.iter().flat_map(|of| arbiters.iter().map(move |rule| (of, rule)));
    let curves = pairs.map(|(topology, arbiter)| Curve::new(setup.with(topology, arbiter)));
    let curves = curves.collect::<Result<Vec<_>, _>>().or_raise()?;
    let to_saturation = loads.is_none();
    let loads = loads.unwrap_or_else(|| setup.loads());
    let board = Board::of((curves.len() * loads.len()) as u64);
    let measured: Result<Vec<Vec<Point>>, StandaloneError> = watched(py, &board, progress, || {
        curves.par_iter().map(|curve| points(curve, &loads, to_saturation, &board)).collect()
    })?;
    let points: Vec<Point> = measured.or_raise()?.into_iter().flatten().collect();
    described(&columns(), &points).map(Frame)
}

/// Measures points in ascending order of the loads, optionally ending at the first that saturates
/// the network.
fn points(
    curve: &Curve,
    loads: &[f64],
    to_saturation: bool,
    board: &Board,
) -> Result<Vec<Point>, StandaloneError> {
    let mut points: Vec<Point> = Vec::new();
    for &load in loads {
        let is_over = to_saturation && points.last().is_some_and(Point::is_saturated);
        if !is_over {
            points.push(curve.measure(load, &mut |_| match board.is_stopped() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })?);
        }
        board.add(1);
    }
    Ok(points)
}
