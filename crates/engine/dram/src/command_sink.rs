use crate::Command;

/// Takes the commands of a run as it goes.
pub trait CommandSink {
    /// The next commands of a channel, in order.
    fn commands(&mut self, channel: u16, commands: &[Command]);
}

/// A log for each channel.
impl CommandSink for Vec<Vec<Command>> {
    fn commands(&mut self, channel: u16, commands: &[Command]) {
        let channel = usize::from(channel);
        self.resize_with(self.len().max(channel + 1), Vec::new);
        self[channel].extend_from_slice(commands);
    }
}
