//! Schedulers that delegate decisions to methods of Python objects.

use super::hooks::Hooks;
use super::views::{Bank, Channel, Command, Queue, Request};
use crate::error::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use warpmem::dram::scheduler::{
    BankSet, BankView, ChannelView, Event, Family, Queue as Waiting, QueueView, Queued, Ready,
    SCHEDULERS, Scheduler, Slot, Traits,
};
use warpmem::dram::{self};
use warpmem::gpu::engine::{Progress, ProgressReport};
use warpmem::params::Counter;
use warpmem::sim::{DramCycle, Needs};

use crate::runs::Policy;

/// A DRAM scheduler written in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Own {
    /// Name in tables.
    pub name: String,
    /// Factory, called with a channel's number for the channel's scheduler.
    factory: Py<PyAny>,
}

/// Schedulers written in Python among the chosen policies, without repeats.
pub struct Schedulers(pub Vec<Own>);

impl Schedulers {
    /// # Errors
    /// If a scheduler is for another slot, or has the name of a built-in or another one.
    pub fn of(policies: impl Iterator<Item = (String, Policy)>) -> PyResult<Schedulers> {
        let mut names: BTreeSet<String> = SCHEDULERS.infos().map(|i| i.name.to_owned()).collect();
        let mut owns = Vec::new();
        for (slot, policy) in policies {
            let Policy::Own(own) = policy else { continue };
            if slot != SCHEDULERS.slot {
                let text = format!(
                    "`{slot}` takes names: of the policies, only DRAM schedulers can be written in Python"
                );
                return Err(Error::new_err(text));
            }
            if !names.insert(own.name.clone()) {
                let text = format!(
                    "another DRAM scheduler is called `{}`: give this class another `name`",
                    own.name
                );
                return Err(Error::new_err(text));
            }
            owns.push(own);
        }
        Ok(Schedulers(owns))
    }
}

impl Own {
    /// Calls `work` with the schedulers of a machine; returns its result, or an exception raised by
    /// a scheduler.
    pub fn with_family<T>(&self, work: impl FnOnce(&OwnFamily) -> T) -> PyResult<T> {
        Python::attach(|py| {
            let first = self.factory.call1(py, (0,))?;
            let hooks = Hooks::of(first.bind(py))?;
            // Traits are read here, so that mistakes are reported before the run.
            hooks.traits(first.bind(py))?;
            let family = OwnFamily {
                needs: hooks.needs(first.bind(py))?,
                first,
                factory: self.factory.clone_ref(py),
                raised: Raised::default(),
            };
            let result = work(&family);
            match family.raised.get().take() {
                Some(raised) => Err(raised),
                None => Ok(result),
            }
        })
    }
}

/// First exception of any scheduler; it ends the run.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn get(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_set(&self) -> bool {
        self.get().is_some()
    }

    /// Returns the value, or the default after an exception.
    fn or_default<T: Default>(&self, value: PyResult<T>) -> T {
        value.unwrap_or_else(|raised| {
            self.get().get_or_insert(raised);
            T::default()
        })
    }
}

/// The schedulers of one machine.
pub struct OwnFamily {
    factory: Py<PyAny>,
    /// Scheduler of channel 0.
    first: Py<PyAny>,
    needs: Needs,
    raised: Raised,
}

impl OwnFamily {
    /// Releases Python's lock at every progress report, and stops the run after an exception.
    pub fn watch<'a>(&self, inner: &'a mut dyn Progress) -> impl Progress + 'a {
        OwnWatch { inner, raised: self.raised.clone() }
    }

    fn make(&self, py: Python<'_>, channel: usize) -> PyResult<OwnScheduler> {
        let object = match channel {
            0 => self.first.clone_ref(py),
            _ => self.factory.call1(py, (channel,))?,
        };
        let hooks = Hooks::of(object.bind(py))?;
        let traits = hooks.traits(object.bind(py))?;
        Ok(OwnScheduler { hooks, traits, known: RefCell::default(), raised: self.raised.clone() })
    }
}

impl Family for OwnFamily {
    fn scheduler(&self, channel: usize) -> Box<dyn Scheduler> {
        let made = Python::attach(|py| self.make(py, channel));
        match self.raised.or_default(made.map(Some)) {
            Some(scheduler) => Box::new(scheduler),
            None => Box::new(StandIn),
        }
    }

    /// Returns true, because Python objects may share any state.
    fn share_state(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

/// Replacement for a scheduler that could not be made, until the run stops.
struct StandIn;

impl Scheduler for StandIn {
    fn pick(&mut self, bank: &BankView<'_>) -> Option<Slot> {
        Some(bank.fr_fcfs())
    }
}

struct OwnWatch<'a> {
    inner: &'a mut dyn Progress,
    raised: Raised,
}

impl Progress for OwnWatch<'_> {
    fn report(&mut self, report: &ProgressReport) -> bool {
        Python::attach(|py| py.detach(thread::yield_now));
        self.inner.report(report) && !self.raised.is_set()
    }
}

/// The scheduler of a channel.
struct OwnScheduler {
    hooks: Hooks,
    traits: Traits,
    /// Request last seen in each slot.
    known: RefCell<Vec<Option<Py<Request>>>>,
    raised: Raised,
}

impl OwnScheduler {
    /// Returns the object of a request, which is the same for as long as the request waits.
    fn request(&self, py: Python<'_>, slot: Slot, queued: &Queued) -> PyResult<Py<Request>> {
        let mut known = self.known.borrow_mut();
        if known.len() <= slot.index() {
            known.resize_with(slot.index() + 1, || None);
        }
        match &known[slot.index()] {
            Some(request) if request.get().order == queued.order => Ok(request.clone_ref(py)),
            _ => {
                let request = Py::new(py, Request::of(queued, slot))?;
                known[slot.index()] = Some(request.clone_ref(py));
                Ok(request)
            }
        }
    }

    fn bank(&self, py: Python<'_>, view: &BankView<'_>) -> PyResult<Bank> {
        let requests = view.requests().map(|(slot, queued)| self.request(py, slot, queued));
        Bank::of(py, view, requests.collect::<PyResult<_>>()?, self.traits.follows_timing)
    }

    fn ask(&self, py: Python<'_>, pick: &Py<PyAny>, view: &BankView<'_>) -> PyResult<Option<Slot>> {
        let answer = pick.call1(py, (self.bank(py, view)?,))?;
        let answer = answer.bind(py);
        if answer.is_none() {
            return Ok(None);
        }
        let picked = answer.cast::<Request>().map_err(|_| {
            let kind = answer.get_type();
            PyValueError::new_err(format!(
                "`pick` must return a request of the bank or None, not {kind}"
            ))
        })?;
        let order = picked.get().order;
        let found = view.requests().find(|(_, queued)| queued.order == order);
        let other = || {
            let text = format!(
                "`pick` returned {}, which does not wait for bank {}",
                picked.repr().map_or_else(|_| "a request".into(), |r| r.to_string()),
                view.bank.0
            );
            PyValueError::new_err(text)
        };
        found.map(|(slot, _)| Some(slot)).ok_or_else(other)
    }

    /// Returns the requests of all banks, oldest first.
    fn all(&self, py: Python<'_>, queue: &Waiting) -> PyResult<Vec<Py<Request>>> {
        let banks = queue.banks().flat_map(|bank| queue.requests(bank));
        let requests = banks.map(|(slot, queued)| self.request(py, slot, queued));
        let mut requests = requests.collect::<PyResult<Vec<_>>>()?;
        requests.sort_by_key(|request| request.get().order);
        Ok(requests)
    }

    /// Calls a hook, if there is one; returns the default without a hook or after an exception.
    fn call<T: Default>(
        &self,
        hook: &Option<Py<PyAny>>,
        call: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<T>,
    ) -> T {
        match hook {
            Some(hook) if !self.raised.is_set() => {
                self.raised.or_default(Python::attach(|py| call(py, hook)))
            }
            _ => T::default(),
        }
    }
}

impl Scheduler for OwnScheduler {
    fn traits(&self) -> Traits {
        self.traits.clone()
    }

    fn pick(&mut self, bank: &BankView<'_>) -> Option<Slot> {
        let picked = self.call(&self.hooks.pick, |py, pick| self.ask(py, pick, bank));
        if self.raised.is_set() { Some(bank.fr_fcfs()) } else { picked }
    }

    fn changes_at(&self, bank: &BankView<'_>) -> Option<DramCycle> {
        let at: Option<u64> = self.call(&self.hooks.changes_at, |py, hook| {
            hook.call1(py, (self.bank(py, bank)?,))?.extract(py)
        });
        at.map(DramCycle::new)
    }

    fn rank(&self, ready: &Ready<'_>) -> u64 {
        self.call(&self.hooks.rank, |py, hook| {
            let request = ready.queued.zip(ready.slot).map(|(q, slot)| self.request(py, slot, q));
            hook.call1(py, (Command::of(ready, request.transpose()?),))?.extract(py)
        })
    }

    fn accepts(&self, queue: &QueueView, request: &dram::DramRequest) -> bool {
        let refused = self.call(&self.hooks.accepts, |py, hook| {
            let accepted = hook.call1(py, (Queue::of(queue), Request::arriving(request)))?;
            accepted.is_truthy(py).map(|accepted| !accepted)
        });
        queue.has_room() && (!refused || queue.waiting == 0)
    }

    fn next_tick(&self) -> DramCycle {
        let at: Option<u64> =
            self.call(&self.hooks.next_tick, |py, hook| hook.call0(py)?.extract(py));
        at.map_or(DramCycle::NEVER, DramCycle::new)
    }

    fn tick(&mut self, channel: &ChannelView<'_>) -> BankSet {
        let banks: Option<Vec<u16>> = self.call(&self.hooks.tick, |py, hook| {
            let requests = self.all(py, channel.queue)?;
            hook.call1(py, (Channel::of(channel, requests),))?.extract(py)
        });
        banks.into_iter().flatten().filter(|&bank| bank < 64).fold(0, |set, bank| set | 1 << bank)
    }

    fn on_arrival(&mut self, slot: Slot, queued: &Queued) {
        self.call(&self.hooks.on_arrival, |py, hook| {
            hook.call1(py, (self.request(py, slot, queued)?,)).map(drop)
        });
    }

    fn on_service(&mut self, bank: &BankView<'_>, slot: Slot) {
        self.call(&self.hooks.on_service, |py, hook| {
            let request = self.request(py, slot, bank.queue.get(slot))?;
            hook.call1(py, (self.bank(py, bank)?, request)).map(drop)
        });
    }

    fn on_column(&mut self, queued: &Queued, last: bool, now: DramCycle) {
        self.call(&self.hooks.on_column, |py, hook| {
            // The request has left its slot.
            let known = self.known.borrow();
            let is_it = |request: &&Py<Request>| request.get().order == queued.order;
            let request = match known.iter().flatten().find(is_it) {
                Some(request) => request.clone_ref(py),
                None => Py::new(py, Request::of(queued, Slot::new(0)))?,
            };
            hook.call1(py, (request, last, now.number())).map(drop)
        });
    }

    fn on_event(&mut self, event: Event, now: DramCycle) {
        let now = now.number();
        match event {
            Event::Activated { bank } => {
                self.call(&self.hooks.on_activated, |py, hook| {
                    hook.call1(py, (bank.0, now)).map(drop)
                });
            }
            Event::Overtaken => {
                self.call(&self.hooks.on_overtaken, |py, hook| hook.call1(py, (now,)).map(drop));
            }
            Event::Merged { slot, merges, age } => {
                self.call(&self.hooks.on_merged, |py, hook| {
                    let known = self.known.borrow();
                    let request = known.get(slot.index()).and_then(Option::as_ref);
                    let request = request.map(|request| request.clone_ref(py));
                    hook.call1(py, (request, merges, age, now)).map(drop)
                });
            }
            Event::LoadComplete { load } => {
                self.call(&self.hooks.on_load_complete, |py, hook| {
                    hook.call1(py, (load, now)).map(drop)
                });
            }
        }
    }

    fn counters(&self) -> Vec<Counter> {
        let counts: BTreeMap<String, u64> =
            self.call(&self.hooks.counters, |py, hook| hook.call0(py)?.extract(py));
        let counter = |(name, value): (String, u64)| Counter { name: interned(name), value };
        counts.into_iter().map(counter).collect()
    }
}

/// Leaks the name of a counter; the number of names is bounded by the schedulers' counters.
fn interned(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(name.as_str()) {
        Some(known) => known,
        None => {
            let name: &'static str = name.leak();
            names.insert(name);
            name
        }
    }
}
