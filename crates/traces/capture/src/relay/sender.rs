//! The program's end of the socket.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use warpmem_trace::{CtaBuilder, Dictionary, Instruction, KernelInfo, TraceError, TraceSink};

use super::frame;
use super::message::{Ended, Message, Reply, Settings};

/// Sends a program's kernels to the capture.
pub struct Relay {
    path: PathBuf,
    stream: UnixStream,
    buffer: Vec<u8>,
    dictionary: Dictionary,
    /// Instructions of the dictionary that the capture already has.
    known: usize,
}

impl Relay {
    /// Connects process `process` to the capture's socket; returns the connection and the first reply.
    ///
    /// # Errors
    /// When no capture listens on the socket.
    pub fn connect(path: &Path, process: u32) -> io::Result<(Relay, Reply)> {
        let mut relay = Relay {
            path: path.to_owned(),
            stream: UnixStream::connect(path)?,
            buffer: Vec::new(),
            dictionary: Dictionary::default(),
            known: 0,
        };
        let reply = relay.ask(&Message::Begin { process })?;
        Ok((relay, reply))
    }

    /// Returns the socket's file descriptor.
    pub fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Sends a message that needs no answer.
    ///
    /// # Errors
    /// When the capture has ended.
    pub fn send(&mut self, message: &Message<'_>) -> io::Result<()> {
        frame::send(&mut self.stream, message, &mut self.buffer)
    }

    fn ask(&mut self, message: &Message<'_>) -> io::Result<Reply> {
        self.send(message)?;
        let reply = frame::receive(&mut self.stream, &mut self.buffer)?;
        reply.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionAborted))
    }

    /// Announces a loaded module; returns the registers of the kernels where they are known.
    ///
    /// # Errors
    /// When the capture has ended.
    pub fn module(&mut self, text: &str) -> io::Result<BTreeMap<String, u32>> {
        match self.ask(&Message::Module { text: text.into() })? {
            Reply::Registers(registers) => Ok(registers),
            other => Err(unexpected(&other)),
        }
    }

    /// Announces a kernel; returns whether it is recorded.
    ///
    /// # Errors
    /// When the capture has ended.
    pub fn launch(&mut self, info: &KernelInfo, module: u32) -> io::Result<bool> {
        match self.ask(&Message::Launch { info: Cow::Borrowed(info), module })? {
            Reply::Launch { is_recorded } => Ok(is_recorded),
            other => Err(unexpected(&other)),
        }
    }

    /// Announces the completion of the kernel.
    ///
    /// # Errors
    /// When the capture has ended.
    pub fn ended(&mut self, ended: Ended) -> io::Result<()> {
        self.send(&Message::End(ended))
    }

    fn failed(&self, source: io::Error) -> TraceError {
        TraceError::Io { path: self.path.clone(), action: "send the kernel to", source }
    }
}

fn unexpected(reply: &Reply) -> io::Error {
    io::Error::other(format!("the capture answered {reply:?}"))
}

/// The capture opens the kernel when it answers the launch, and closes it on [`Relay::ended`].
impl TraceSink for Relay {
    fn begin_kernel(&mut self, _: KernelInfo) -> Result<(), TraceError> {
        self.dictionary.clear();
        self.known = 0;
        Ok(())
    }

    fn dictionary(&mut self) -> &mut Dictionary {
        &mut self.dictionary
    }

    fn cta(&mut self, cta: &CtaBuilder) -> Result<(), TraceError> {
        let all: &[Instruction] = self.dictionary.instructions();
        let message = Message::Cta {
            instructions: Cow::Borrowed(&all[self.known..]),
            cta: Cow::Borrowed(cta),
        };
        let sent = frame::send(&mut self.stream, &message, &mut self.buffer);
        self.known = all.len();
        sent.map_err(|source| self.failed(source))
    }

    fn end_kernel(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

impl Reply {
    /// Returns the settings, for a recorded and an unrecorded process alike.
    pub fn settings(&self) -> Option<&Settings> {
        match self {
            Reply::Settings(settings) | Reply::Busy { settings, .. } => Some(settings),
            _ => None,
        }
    }
}
