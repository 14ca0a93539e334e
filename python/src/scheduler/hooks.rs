//! The hooks that a Python scheduler overrides, and the events that it requests.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use warpmem::dram::scheduler::Traits;
use warpmem::sim::{CountedMerges, Needs};

/// A hook; none if the class inherits it from the base class, where it does nothing.
type Hook = Option<Py<PyAny>>;

/// The bound methods of a scheduler.
pub struct Hooks {
    pub pick: Hook,
    pub changes_at: Hook,
    pub rank: Hook,
    pub accepts: Hook,
    pub next_tick: Hook,
    pub tick: Hook,
    pub on_arrival: Hook,
    pub on_service: Hook,
    pub on_column: Hook,
    pub on_activated: Hook,
    pub on_overtaken: Hook,
    pub on_merged: Hook,
    pub on_load_complete: Hook,
    pub counters: Hook,
}

impl Hooks {
    /// # Errors
    /// If the object is not a `warpmem.DramScheduler`, or lacks `pick`.
    pub fn of(scheduler: &Bound<'_, PyAny>) -> PyResult<Hooks> {
        let py = scheduler.py();
        let base = py.import("warpmem")?.getattr("DramScheduler")?;
        if !scheduler.is_instance(&base)? {
            let kind = scheduler.get_type().name()?;
            let text = format!(
                "a DRAM scheduler must be a subclass of warpmem.DramScheduler; this is of type `{kind}`"
            );
            return Err(PyTypeError::new_err(text));
        }
        let own = |name: &str| -> PyResult<Hook> {
            let is_base = scheduler.get_type().getattr(name)?.is(&base.getattr(name)?);
            (!is_base).then(|| scheduler.getattr(name).map(Bound::unbind)).transpose()
        };
        if own("pick")?.is_none() {
            let kind = scheduler.get_type().name()?;
            return Err(PyTypeError::new_err(format!("`{kind}` has no method `pick(self, bank)`")));
        }
        Ok(Hooks {
            pick: own("pick")?,
            changes_at: own("changes_at")?,
            rank: own("rank")?,
            accepts: own("accepts")?,
            next_tick: own("next_tick")?,
            tick: own("tick")?,
            on_arrival: own("on_arrival")?,
            on_service: own("on_service")?,
            on_column: own("on_column")?,
            on_activated: own("on_activated")?,
            on_overtaken: own("on_overtaken")?,
            on_merged: own("on_merged")?,
            on_load_complete: own("on_load_complete")?,
            counters: own("counters")?,
        })
    }

    pub fn traits(&self, scheduler: &Bound<'_, PyAny>) -> PyResult<Traits> {
        let is = |name: &str| scheduler.getattr(name)?.extract::<bool>();
        let events =
            [&self.on_activated, &self.on_overtaken, &self.on_merged, &self.on_load_complete];
        Ok(Traits {
            plain_fr_fcfs: false,
            repick_at_issue: is("repick_at_issue")?,
            follows_timing: is("follows_timing")?,
            orders_writes: is("orders_writes")?,
            strictly_in_order: is("strictly_in_order")?,
            in_order_dispatch: is("in_order_dispatch")?,
            ranks_banks: self.rank.is_some(),
            shared_round_robin: is("shared_round_robin")?,
            takes_events: events.iter().any(|hook| hook.is_some()),
            page: scheduler.getattr("page")?.extract()?,
            picks_per_cycle: scheduler.getattr("picks_per_cycle")?.extract()?,
        })
    }

    /// Returns the events of other levels that the scheduler observes.
    pub fn needs(&self, scheduler: &Bound<'_, PyAny>) -> PyResult<Needs> {
        Ok(Needs {
            merges: self.on_merged.as_ref().map(|_| CountedMerges::All),
            load_ends: self.on_load_complete.is_some(),
            critical_share: scheduler.getattr("critical_share")?.extract()?,
            ..Needs::default()
        })
    }
}
