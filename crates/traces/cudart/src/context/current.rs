//! Driver contexts. All contexts share one device and one memory; each thread has one current context.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::status::{Outcome, Status};

/// Handle of the primary context, which the runtime uses; further handles follow it.
const PRIMARY: u64 = 0x10;

thread_local! {
    /// Contexts of this thread, the current one last.
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The existing contexts.
#[derive(Debug, Default)]
pub struct Contexts {
    created: BTreeSet<u64>,
    last: u64,
    /// Retain count of the primary context.
    retained: u64,
}

impl Contexts {
    /// Retains the primary context, which lives until it is released equally often.
    pub fn retain(&mut self) -> u64 {
        self.retained += 1;
        PRIMARY
    }

    /// Releases the primary context.
    ///
    /// # Errors
    /// When the primary context is not retained.
    pub fn release(&mut self) -> Outcome<()> {
        self.retained = self.retained.checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        Ok(())
    }

    pub fn is_primary_active(&self) -> bool {
        self.retained > 0
    }

    /// Creates a context and makes it current.
    pub fn create(&mut self) -> u64 {
        self.last += 1;
        let handle = PRIMARY + self.last;
        self.created.insert(handle);
        push(handle);
        handle
    }

    /// Destroys a context.
    ///
    /// # Errors
    /// When the context does not exist.
    pub fn destroy(&mut self, handle: u64) -> Outcome<()> {
        if !self.created.remove(&handle) {
            return Err(Status::INVALID_CONTEXT.into());
        }
        STACK.with_borrow_mut(|stack| {
            if stack.last() == Some(&handle) {
                stack.pop();
            }
        });
        Ok(())
    }

    /// Checks that a context exists.
    ///
    /// # Errors
    /// When the context does not exist.
    pub fn check(&self, handle: u64) -> Outcome<()> {
        let is_there = self.created.contains(&handle) || handle == PRIMARY && self.retained > 0;
        if is_there { Ok(()) } else { Err(Status::INVALID_CONTEXT.into()) }
    }

    /// Returns the current context of this thread.
    ///
    /// # Errors
    /// When none is current, or the current one is destroyed.
    pub fn current(&self) -> Outcome<u64> {
        let current = top().ok_or(Status::INVALID_CONTEXT)?;
        self.check(current)?;
        Ok(current)
    }

    /// Pushes a context.
    ///
    /// # Errors
    /// When the context does not exist.
    pub fn push(&self, handle: u64) -> Outcome<()> {
        self.check(handle)?;
        push(handle);
        Ok(())
    }

    /// Pops the current context.
    ///
    /// # Errors
    /// When none is current.
    pub fn pop(&self) -> Outcome<u64> {
        STACK.with_borrow_mut(Vec::pop).ok_or(Status::INVALID_CONTEXT.into())
    }

    /// Replaces the current context; 0 only removes it.
    ///
    /// # Errors
    /// When the context does not exist.
    pub fn set(&self, handle: u64) -> Outcome<()> {
        if handle != 0 {
            self.check(handle)?;
        }
        STACK.with_borrow_mut(Vec::pop);
        if handle != 0 {
            push(handle);
        }
        Ok(())
    }

    /// Makes the primary context current if none is, as runtime functions do.
    pub fn use_primary(&mut self) {
        if top().is_none() {
            push(self.retain());
        }
    }
}

/// Pushes a context. Does nothing once the thread's stack is gone: global objects of a program may call
/// functions while it exits.
fn push(handle: u64) {
    let _ = STACK.try_with(|stack| stack.borrow_mut().push(handle));
}

fn top() -> Option<u64> {
    STACK.try_with(|stack| stack.borrow().last().copied()).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_context_stack() {
        let mut contexts = Contexts::default();
        assert!(contexts.current().is_err() && contexts.pop().is_err());
        let created = contexts.create();
        let primary = contexts.retain();
        contexts.push(primary).unwrap();
        assert_eq!(contexts.current().unwrap(), primary);
        assert_eq!(contexts.pop().unwrap(), primary);
        assert_eq!(contexts.current().unwrap(), created);
        contexts.set(primary).unwrap();
        contexts.release().unwrap();
        assert!(contexts.current().is_err() && contexts.release().is_err());
        contexts.set(0).unwrap();
        contexts.destroy(created).unwrap();
        assert!(contexts.check(created).is_err() && contexts.set(created).is_err());
    }

    #[test]
    fn the_runtime_makes_the_primary_context_current() {
        let mut contexts = Contexts::default();
        contexts.use_primary();
        contexts.use_primary();
        assert_eq!(contexts.current().unwrap(), PRIMARY);
        assert!(contexts.is_primary_active());
        contexts.set(0).unwrap();
    }
}
