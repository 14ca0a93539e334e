use crate::Command;

/// Receives the commands of a run while it proceeds.
pub trait CommandSink {
    /// Receives the next commands of a channel, in order.
    fn commands(&mut self, channel: u16, commands: &[Command]);
}

/// One log per channel.
impl CommandSink for Vec<Vec<Command>> {
    fn commands(&mut self, channel: u16, commands: &[Command]) {
        let channel = usize::from(channel);
        self.resize_with(self.len().max(channel + 1), Vec::new);
        self[channel].extend_from_slice(commands);
    }
}
