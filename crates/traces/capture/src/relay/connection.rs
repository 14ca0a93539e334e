//! The capture's end of the socket.

use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;

use super::frame;
use super::message::{Message, Reply};

/// A message, and whether the program waits for the answer.
#[derive(Debug)]
pub struct Received {
    pub message: Message<'static>,
    pub is_question: bool,
}

/// A connected program.
pub struct Connection {
    from: BufReader<UnixStream>,
    buffer: Vec<u8>,
}

impl Connection {
    pub fn new(stream: UnixStream) -> Connection {
        Connection { from: BufReader::with_capacity(1 << 18, stream), buffer: Vec::new() }
    }

    /// Receives the next message; `None` when the program has ended.
    ///
    /// # Errors
    /// When the bytes are not a message.
    pub fn receive(&mut self) -> io::Result<Option<Received>> {
        let message: Option<Message<'static>> = frame::receive(&mut self.from, &mut self.buffer)?;
        Ok(message.map(|message| Received { is_question: message.is_question(), message }))
    }

    /// Answers a question.
    ///
    /// # Errors
    /// When the program has ended.
    pub fn reply(&mut self, reply: &Reply) -> io::Result<()> {
        frame::send(self.from.get_mut(), reply, &mut self.buffer)
    }
}
