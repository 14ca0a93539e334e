//! Views of requests, banks and queues for Python schedulers. They are copies, which a scheduler
//! may keep.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use warpmem::dram::DramRequest;
use warpmem::dram::scheduler::{BankView, ChannelView, QueueView, Queued, Ready, Slot};

/// A request in a channel's queue. Banks are numbered within the channel, times are DRAM cycles.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Request {
    /// Number of requests that entered the channel before this one; unique.
    pub order: u64,
    pub bank: u16,
    pub row: u32,
    pub write: bool,
    /// Number of column commands that carry its data.
    bursts: u16,
    /// Arrival at the channel, DRAM cycle.
    arrived: u64,
    /// Issuing SM; none if no SM waits for it.
    sm: Option<u16>,
    /// Issuing warp, numbered over the whole machine.
    warp: Option<u32>,
    /// Issuing CTA.
    cta: Option<u32>,
    /// Address of the issuing instruction.
    pc: u32,
    /// Index of the issuing memory instruction among those in flight.
    load: Option<u32>,
    /// Whether the share of its SM's warps waiting for memory exceeded the critical share.
    critical: bool,
    /// Whether it is a load of a page walk.
    walk: bool,
    /// Number of requests merged with it in the L2 when it was sent.
    merges: u8,
    /// Total age of the merged requests, DRAM cycles.
    age: u32,
    pub slot: Option<u16>,
}

#[pymethods]
impl Request {
    fn __repr__(&self) -> String {
        let kind = if self.write { "write" } else { "read" };
        format!("<{kind} {} of bank {}, row {}>", self.order, self.bank, self.row)
    }
}

impl Request {
    pub fn of(queued: &Queued, slot: Slot) -> Request {
        let Queued { request, arrived, order } = queued;
        let waiting = Request::arriving(request);
        Request {
            order: *order,
            arrived: arrived.number(),
            slot: Some(slot.index() as u16),
            ..waiting
        }
    }

    /// Makes the view of a request that is not in the queue yet.
    pub fn arriving(request: &DramRequest) -> Request {
        let some = |number: u32| (number != u32::MAX).then_some(number);
        Request {
            order: 0,
            bank: request.bank.0,
            row: request.row.0,
            write: request.write,
            bursts: request.bursts,
            arrived: 0,
            sm: (request.sm != DramRequest::NO_SOURCE).then_some(request.sm),
            warp: some(request.warp),
            cta: (request.cta != DramRequest::NO_CTA).then_some(request.cta),
            pc: request.pc,
            load: some(request.load),
            critical: request.critical,
            walk: request.walk,
            merges: request.merges,
            age: request.age,
            slot: None,
        }
    }
}

/// A bank that is free to start a request.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Bank {
    now: u64,
    bank: u16,
    open_row: Option<u32>,
    /// Eligible requests, oldest first; never empty.
    requests: Py<PyList>,
    /// Number of requests to the open row.
    hits: u32,
    oldest_hit: Option<Py<Request>>,
    /// Whether the oldest request of the bank is the oldest of the channel, and no other is in
    /// service.
    holds_channel_oldest: bool,
    /// If the scheduler follows timing: the next command of each request, and the first cycle at
    /// which it could issue.
    next_commands: Option<Py<PyTuple>>,
}

#[pymethods]
impl Bank {
    #[getter]
    fn oldest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.requests.bind(py).get_item(0)
    }

    /// Picks row hits first, then the oldest request.
    fn fr_fcfs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.oldest_hit {
            Some(hit) => Ok(hit.bind(py).clone().into_any()),
            None => self.oldest(py),
        }
    }

    fn is_hit(&self, request: &Request) -> bool {
        Some(request.row) == self.open_row
    }
}

impl Bank {
    /// Makes a view; `requests` are the bank's, oldest first.
    pub fn of(
        py: Python<'_>,
        view: &BankView<'_>,
        requests: Vec<Py<Request>>,
        follows_timing: bool,
    ) -> PyResult<Bank> {
        let open_row = view.open_row().map(|row| row.0);
        let hit = requests.iter().find(|request| Some(request.get().row) == open_row);
        let oldest_hit = hit.map(|request| request.clone_ref(py));
        let commands = || {
            let commands = view.requests().map(|(slot, _)| {
                let (kind, cycle) = view.next_command(slot);
                (kind.name(), cycle.number())
            });
            PyTuple::new(py, commands.collect::<Vec<_>>()).map(Bound::unbind)
        };
        Ok(Bank {
            now: view.now.number(),
            bank: view.bank.0,
            open_row,
            requests: PyList::new(py, requests)?.unbind(),
            hits: view.hits(),
            oldest_hit,
            holds_channel_oldest: view.holds_channel_oldest,
            next_commands: follows_timing.then(commands).transpose()?,
        })
    }
}

/// A channel, as seen by a scheduler's `tick`.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Channel {
    now: u64,
    /// The requests of all banks, oldest first.
    requests: Vec<Py<Request>>,
    /// Whether every entry of the queue is occupied.
    full: bool,
    /// Number of writes waiting or in service; 0 if reads and writes share a queue.
    writes: u32,
    /// Number of writes at which a drain begins.
    write_high_watermark: u32,
    /// Banks with a request in service.
    busy: Vec<u16>,
}

impl Channel {
    pub fn of(view: &ChannelView<'_>, requests: Vec<Py<Request>>) -> Channel {
        Channel {
            now: view.now.number(),
            requests,
            full: view.full,
            writes: view.writes,
            write_high_watermark: view.write_high_watermark,
            busy: (0..64).filter(|bank| view.busy >> bank & 1 == 1).collect(),
        }
    }
}

/// The queue that an arriving request enters.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Queue {
    /// Number of requests in the queue, including those in service.
    waiting: u32,
    /// Number of waiting requests to the bank of the arriving request.
    bank_waiting: u32,
    capacity: u32,
    /// Entries available to one bank.
    bank_capacity: u32,
    banks: u32,
    has_room: bool,
}

impl Queue {
    pub fn of(view: &QueueView) -> Queue {
        let QueueView { waiting, bank_waiting, capacity, bank_capacity, banks } = *view;
        Queue { waiting, bank_waiting, capacity, bank_capacity, banks, has_room: view.has_room() }
    }
}

/// A command that can issue now.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Command {
    now: u64,
    /// Kind, as on a data sheet: `ACT`, `PRE`, `RD`, `WR`, `REFPB`, `REF`.
    kind: &'static str,
    /// Request served by the command; none if it closes or refreshes an idle bank.
    request: Option<Py<Request>>,
}

impl Command {
    pub fn of(ready: &Ready<'_>, request: Option<Py<Request>>) -> Command {
        Command { now: ready.now.number(), kind: ready.kind.name(), request }
    }
}
