//! State shared by the schedulers of all channels.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Access to state shared by the schedulers of several channels. It is read and written in the
/// order in which the channels are stepped, so the family reports [`Family::share_state`], one
/// thread steps all channels, and no scheduler ever blocks on another.
///
/// [`Family::share_state`]: super::Family::share_state
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    pub fn new(state: T) -> Shared<T> {
        Shared(Arc::new(Mutex::new(state)))
    }

    /// Returns the state. The guard must be dropped before the next call.
    #[inline]
    pub fn get(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Arc::clone(&self.0))
    }
}
