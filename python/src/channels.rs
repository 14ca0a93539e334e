//! Stand-alone DRAM channels.

use crate::error::{Error, OrRaise};
use crate::frame::{Frame, described};
use crate::machine::Machine;
use crate::runs::slot;
use crate::watched::{Board, watched};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use warpmem::slots::List;
use warpmem::standalone::dram::{
    Device, Mix, Origin, Outcome, Pattern, RateText, Row, Sources, StandaloneError, Stream,
    columns, rows, run,
};

/// Requests, with the options of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Requests {
    stream: String,
    trace: Option<PathBuf>,
    requests: u64,
    locality: u32,
    reads: f64,
    stride: Option<u64>,
    channels: u32,
    seed: u64,
    bytes: Option<u32>,
    rate: Option<String>,
    sources: u32,
    warps: u32,
    group: u32,
}

impl Requests {
    fn stream(self, device: &Device) -> PyResult<Stream> {
        let Requests { sources, warps, group, .. } = self;
        let rate = self.rate.as_deref().map(RateText::parse).transpose().map_err(Error::new_err)?;
        Ok(Stream {
            bytes: self.bytes.unwrap_or(device.dram.burst_bytes()),
            rate,
            sources: Sources { sms: sources, warps, group },
            origin: self.origin()?,
        })
    }

    fn origin(self) -> PyResult<Origin> {
        let mix = Mix { requests: self.requests, reads: self.reads, seed: self.seed };
        if let Some(trace) = self.trace {
            return Origin::file(&trace).or_raise();
        }
        if let Some(stride) = self.stride {
            return Ok(Origin::Strided { stride, mix });
        }
        let pattern = Pattern::named(&self.stream).ok_or_else(|| {
            let names = Pattern::ALL.map(|(name, ..)| name).join(", ");
            Error::new_err(format!("there is no stream `{}`; valid: {names}", self.stream))
        })?;
        Ok(Origin::Pattern { pattern, locality: self.locality, channels: self.channels, mix })
    }
}

/// Runs a stream under several schedulers: a row for each and, for a single scheduler, for each
/// channel.
#[pyfunction]
pub fn dram(
    py: Python<'_>,
    machine: &Machine,
    standard: Option<&str>,
    schedulers: Vec<String>,
    requests: Requests,
    progress: Option<Py<PyAny>>,
) -> PyResult<Frame> {
    let device = Device::load(&machine.origin, standard, &machine.overrides).or_raise()?;
    let stream = requests.stream(&device)?;
    let schedulers = match schedulers.is_empty() {
        true => vec![device.scheduler.clone()],
        false => List(schedulers).of(slot("dram_scheduler")?),
    };
    let board = Board::of(stream.requests().unwrap_or(0) * schedulers.len() as u64);
    let outcomes: Result<Vec<Outcome>, StandaloneError> = watched(py, &board, progress, || {
        let simulate = |scheduler: &String| {
            let mut served = |served| {
                board.add(served);
                match board.is_stopped() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            run(&device, scheduler, &stream, &mut served)
        };
        schedulers.par_iter().with_max_len(1).map(simulate).collect()
    })?;
    let rows: Vec<Row> = outcomes.or_raise()?.into_iter().flat_map(rows).collect();
    described(&columns(), &rows).map(Frame)
}
