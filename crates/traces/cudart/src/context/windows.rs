//! Access policy windows of streams.

use warpmem_simt::AccessWindow;

use crate::status::Outcome;

use super::engine::Engine;

impl Engine {
    /// Sets the window of a stream, used by its later launches that give none.
    ///
    /// # Errors
    /// When the stream does not exist.
    pub fn set_window(&mut self, stream: u64, window: Option<AccessWindow>) -> Outcome<()> {
        let number = self.clock.stream(stream)?;
        match window {
            Some(window) => drop(self.windows.insert(number, window)),
            None => drop(self.windows.remove(&number)),
        }
        Ok(())
    }

    /// Copies the window of one stream to another.
    ///
    /// # Errors
    /// When either stream does not exist.
    pub fn copy_window(&mut self, to: u64, from: u64) -> Outcome<()> {
        let window = self.windows.get(&self.clock.stream(from)?).copied();
        self.set_window(to, window)
    }

    /// Resets persisting L2 lines to normal before the next launch.
    pub fn reset_l2(&mut self) {
        self.relayed.reset_l2();
    }
}
