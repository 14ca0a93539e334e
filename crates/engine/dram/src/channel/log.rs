//! The optional command log of a channel.

use crate::request::Command;

#[derive(Default)]
pub(super) struct CommandLog {
    /// Logged commands in order; none = no logging.
    commands: Option<Vec<Command>>,
}

impl CommandLog {
    /// Starts logging.
    pub fn enable(&mut self) {
        self.commands.get_or_insert_default();
    }

    pub fn is_enabled(&self) -> bool {
        self.commands.is_some()
    }

    #[inline]
    pub fn record(&mut self, command: Command) {
        if let Some(commands) = &mut self.commands {
            commands.push(command);
        }
    }

    /// Returns the logged commands, in order.
    pub fn commands(&self) -> &[Command] {
        self.commands.as_deref().unwrap_or_default()
    }

    /// Drains the logged commands.
    pub fn take(&mut self) -> Vec<Command> {
        self.commands.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
