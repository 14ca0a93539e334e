//! What streams say of accesses to some of global memory.

use warpmem_simt::AccessWindow;

use crate::status::Outcome;

use super::engine::Engine;

impl Engine {
    /// Launches of a stream have this window from now on, unless they say one themselves.
    ///
    /// # Errors
    /// When there is no such stream.
    pub fn set_window(&mut self, stream: u64, window: Option<AccessWindow>) -> Outcome<()> {
        let number = self.clock.stream(stream)?;
        match window {
            Some(window) => drop(self.windows.insert(number, window)),
            None => drop(self.windows.remove(&number)),
        }
        Ok(())
    }

    /// Gives a stream the window of another.
    ///
    /// # Errors
    /// When there is no such stream.
    pub fn copy_window(&mut self, to: u64, from: u64) -> Outcome<()> {
        let window = self.windows.get(&self.clock.stream(from)?).copied();
        self.set_window(to, window)
    }

    /// Lines that are kept in L2 become as others before the next launch.
    pub fn reset_l2(&mut self) {
        self.relayed.reset_l2();
    }
}
