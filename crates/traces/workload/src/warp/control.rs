//! Branches, loops and barriers: divergence and reconvergence of lanes.

use std::future::poll_fn;
use std::task::Poll;

use warpmem_trace::{Barrier, OpClass};

use super::{Flow, Warp, pc};
use crate::stop;
use crate::warp::lanes::{Lanes, Operand, Var};
use crate::warp::predicate::Predicate;
use crate::warp::word::Word;

impl Warp {
    /// Declares a variable with the value `initial`: reuses its register, or moves a constant into
    /// a new one.
    pub fn var<T: Word>(&self, initial: impl Operand<T>) -> Var<'_, T> {
        let register = initial.register().unwrap_or_else(|| self.compute(OpClass::Integer, &[]));
        Var::new(self, std::array::from_fn(|lane| initial.lane(lane)), register)
    }

    /// `if (condition) body`: a branch around the body.
    pub fn when(&self, condition: Predicate, body: impl FnOnce()) {
        let outer = self.branch(condition);
        body();
        self.reconverge(outer);
    }

    /// `if (condition) body` without a branch, as short bodies are compiled: the instructions are
    /// predicated and issued for the selected lanes only.
    pub fn predicated<R>(&self, condition: Predicate, body: impl FnOnce() -> R) -> R {
        self.claim_last();
        let outer = self.replace_active(self.active() & condition.bits());
        let result = body();
        self.replace_active(outer);
        result
    }

    /// As [`Warp::when`], for bodies that contain barriers. The condition must be uniform over the
    /// CTA.
    pub async fn when_in_step(&self, condition: Predicate<'_>, body: impl AsyncFnOnce()) {
        let outer = self.branch(condition);
        body().await;
        self.reconverge(outer);
    }

    /// `if (condition) body else other`: the first body ends with a branch around the second.
    pub fn when_else(&self, condition: Predicate, body: impl FnOnce(), other: impl FnOnce()) {
        let outer = self.branch(condition);
        body();
        self.issue_control(self.active(), &[]);
        self.update(|flow| flow.active = outer & !condition.bits() & flow.live);
        other();
        self.reconverge(outer);
    }

    /// Sets up the convergence barrier and branches the lanes that fail `condition` around the
    /// following code. Returns the previous active lanes.
    fn branch(&self, condition: Predicate) -> u32 {
        self.issue_control(self.active(), &[]);
        let entering = self.active() & condition.bits();
        self.issue_control(self.active() & !entering, &[condition.register()]);
        self.replace_active(entering)
    }

    /// Issues a branch that no lane takes, as around a slow path.
    pub(crate) fn not_taken(&self) {
        self.issue_control(0, &[]);
    }

    /// `if (!condition) return;`
    pub fn exit_unless(&self, condition: Predicate) {
        let leaving = self.active() & !condition.bits();
        if leaving == 0 {
            self.issue_control(0, &[condition.register()]);
            return;
        }
        let place = self.advance();
        self.sync_point(|assembler| assembler.exit(pc(place), leaving));
        self.update(|flow| {
            flow.live &= !leaving;
            flow.active &= !leaving;
        });
    }

    /// `do body while (its value)`: lanes leave one by one and wait for the last.
    pub fn do_while<'w>(&'w self, mut body: impl FnMut() -> Predicate<'w>) {
        let entry = self.loop_entry();
        while self.goes_round(&entry, body()) {}
    }

    /// As [`Warp::do_while`], for bodies that contain barriers.
    pub async fn do_while_in_step<'w>(&'w self, mut body: impl AsyncFnMut() -> Predicate<'w>) {
        let entry = self.loop_entry();
        while self.goes_round(&entry, body().await) {}
    }

    /// `while (condition) body` in its usual compiled form: the condition once before the loop, and
    /// again at its end.
    pub fn while_loop<'w>(
        &'w self,
        mut condition: impl FnMut() -> Predicate<'w>,
        mut body: impl FnMut(),
    ) {
        let enters = condition();
        self.when(enters, || {
            self.do_while(|| {
                body();
                condition()
            });
        });
    }

    /// `for (i = start; i < end; i += step) body(i)` in its usual compiled form: a guard, then a
    /// loop that tests at its end.
    pub fn range<'w>(
        &'w self,
        start: impl Operand<u32>,
        end: impl Operand<u32>,
        step: impl Operand<u32>,
        mut body: impl FnMut(Lanes<'w, u32>),
    ) {
        let i = self.var(start);
        self.when(i.get().lt(end), || {
            self.do_while(|| {
                body(i.get());
                i.set(i.get() + step);
                i.get().lt(end)
            });
        });
    }

    /// As [`Warp::range`], for bodies that contain barriers. All threads of the CTA must have the
    /// same trip count.
    pub async fn range_in_step<'w>(
        &'w self,
        start: impl Operand<u32>,
        end: impl Operand<u32>,
        step: impl Operand<u32>,
        mut body: impl AsyncFnMut(Lanes<'w, u32>),
    ) {
        let i = self.var(start);
        self.when_in_step(i.get().lt(end), async || {
            self.do_while_in_step(async || {
                body(i.get()).await;
                i.set(i.get() + step);
                i.get().lt(end)
            })
            .await;
        })
        .await;
    }

    /// `__syncthreads()`: the other warps of the CTA reach this point before this one continues.
    pub async fn barrier(&self) {
        let place = self.advance();
        let mask = self.active();
        if mask == 0 {
            return;
        }
        self.sync_point(|assembler| assembler.barrier(pc(place), Barrier::of_cta(0), mask));
        let mut arrived = false;
        poll_fn(|_| match std::mem::replace(&mut arrived, true) {
            false => Poll::Pending,
            true => Poll::Ready(()),
        })
        .await;
    }

    /// Marks the top of a loop. Values computed before it are not recomputed in the next iteration,
    /// so variables set in the loop must not reuse their registers.
    fn loop_entry(&self) -> Flow {
        self.claim_last();
        self.flow.get()
    }

    /// Issues the branch at the end of a loop. Lanes that iterate again return to its top; if there
    /// are none, the lanes that entered the loop continue after it.
    fn goes_round(&self, entry: &Flow, again: Predicate) -> bool {
        stop::check();
        let staying = self.active() & again.bits();
        self.issue_control(staying, &[again.register()]);
        let live = self.flow.get().live;
        if staying == 0 {
            self.update(|flow| flow.active = entry.active & live);
        } else {
            self.flow.set(Flow { active: staying, live, ..*entry });
        }
        staying != 0
    }

    fn reconverge(&self, outer: u32) {
        self.update(|flow| flow.active = outer & flow.live);
        self.issue_control(self.active(), &[]);
    }
}
