//! Views of requests, banks and queues for schedulers in Python. They are copies, which a scheduler may keep.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use warpmem::dram::Request as Inner;
use warpmem::dram::scheduler::{BankView, ChannelView, QueueView, Queued, Ready, Slot};

/// A request in a channel's queue. Banks are numbered within the channel, times are DRAM cycles.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Request {
    /// Number of requests that entered the channel before it; unique.
    pub order: u64,
    pub bank: u16,
    pub row: u32,
    pub write: bool,
    /// Column commands that carry its data.
    bursts: u16,
    /// Arrival at the channel, DRAM cycle.
    arrived: u64,
    /// SM that it comes from; none where no SM waits for it.
    sm: Option<u16>,
    /// Warp that it comes from, numbered over the whole machine.
    warp: Option<u32>,
    /// CTA that it comes from.
    cta: Option<u32>,
    /// Address of its instruction.
    pc: u32,
    /// Memory instruction that it comes from, of those in flight.
    load: Option<u32>,
    /// So many warps of its SM waited for memory that the SM counts as critical.
    critical: bool,
    /// Requests that waited for its data in the L2 when it was sent.
    merges: u8,
    /// DRAM cycles that those had waited together.
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

    /// A request that is not in the queue yet.
    pub fn arriving(request: &Inner) -> Request {
        let some = |number: u32| (number != u32::MAX).then_some(number);
        Request {
            order: 0,
            bank: request.bank.0,
            row: request.row.0,
            write: request.write,
            bursts: request.bursts,
            arrived: 0,
            sm: (request.sm != Inner::NO_SOURCE).then_some(request.sm),
            warp: some(request.warp),
            cta: (request.cta != Inner::NO_CTA).then_some(request.cta),
            pc: request.pc,
            load: some(request.load),
            critical: request.critical,
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
    /// Its requests that may start, oldest first; never empty.
    requests: Py<PyList>,
    /// Requests to the open row.
    hits: u32,
    oldest_hit: Option<Py<Request>>,
    /// The oldest request of the bank is the oldest of the channel, and no other is in service.
    holds_channel_oldest: bool,
    /// Where the scheduler follows timing: of each request the next command, and the first cycle at
    /// which it could issue.
    next_commands: Option<Py<PyTuple>>,
}

#[pymethods]
impl Bank {
    #[getter]
    fn oldest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.requests.bind(py).get_item(0)
    }

    /// Row hits first, then the oldest.
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
    /// `requests` are the bank's, oldest first.
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

/// A channel, in a scheduler's `tick`.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Channel {
    now: u64,
    /// The requests of all banks, oldest first.
    requests: Vec<Py<Request>>,
    /// Every entry of the queue is taken.
    full: bool,
    /// Writes that wait or are served; 0 where reads and writes share a queue.
    writes: u32,
    /// Writes at which a drain begins.
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

/// A queue that a request wants to enter.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Queue {
    /// Requests in it, those in service included.
    waiting: u32,
    /// Waiting requests to the bank of the arriving request.
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

/// A command that could issue now.
#[pyclass(frozen, get_all, module = "warpmem")]
pub struct Command {
    now: u64,
    /// As on a data sheet: `ACT`, `PRE`, `RD`, `WR`, `REFPB`, `REF`.
    kind: &'static str,
    /// The request that it is for; none where it closes or refreshes an idle bank.
    request: Option<Py<Request>>,
}

impl Command {
    pub fn of(ready: &Ready<'_>, request: Option<Py<Request>>) -> Command {
        Command { now: ready.now.number(), kind: ready.kind.name(), request }
    }
}
