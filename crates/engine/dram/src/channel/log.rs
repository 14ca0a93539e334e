//! The commands of a channel in order, kept where somebody asks for them.

use crate::request::Command;

#[derive(Default)]
pub(super) struct CommandLog {
    /// None: they are not kept.
    commands: Option<Vec<Command>>,
}

impl CommandLog {
    /// Keeps every command from now on.
    pub fn enable(&mut self) {
        self.commands.get_or_insert_default();
    }

    #[inline]
    pub fn record(&mut self, command: Command) {
        if let Some(commands) = &mut self.commands {
            commands.push(command);
        }
    }

    /// The commands kept, in order.
    pub fn commands(&self) -> &[Command] {
        self.commands.as_deref().unwrap_or_default()
    }

    /// Takes the commands kept so far.
    pub fn take(&mut self) -> Vec<Command> {
        self.commands.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
