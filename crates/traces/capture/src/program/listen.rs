//! Accepts connections of processes. Records the first process until it ends, then the next one that
//! connects.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::relay::{Connection, Message, Reply};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::CaptureError;

use super::recording::Recording;

/// State shared by the threads that serve one process each.
struct Shared<'o> {
    recorded: Mutex<RecordedProcess<'o>>,
    /// Signals that the recorded process has ended.
    ended: Condvar,
}

struct RecordedProcess<'o> {
    recording: Recording<'o>,
    /// Connection of the recorded process.
    owner: Option<UnixStream>,
}

impl<'o> Shared<'o> {
    fn lock(&self) -> MutexGuard<'_, RecordedProcess<'o>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a process. If the recorded process has ended with messages still unread, waits for them:
    /// consecutive processes are all recorded, whatever the thread schedule.
    fn begin(&self, process: u32, stream: UnixStream) -> Reply {
        let mut recorded = self.lock();
        while recorded.owner.as_ref().is_some_and(has_ended) {
            recorded = self.ended.wait(recorded).unwrap_or_else(PoisonError::into_inner);
        }
        let reply = recorded.recording.begin(process);
        if matches!(reply, Reply::Settings(_)) {
            recorded.owner = Some(stream);
        }
        reply
    }

    /// Ends the recorded process; `ended` is the status of its connection.
    fn end(&self, process: u32, ended: io::Result<()>) {
        let mut recorded = self.lock();
        if let Err(error) = ended {
            recorded.recording.note(format!("process {process}: {error}"));
        }
        recorded.recording.end(process);
        recorded.owner = None;
        self.ended.notify_all();
    }
}

/// Returns whether the other end of a connection is closed.
fn has_ended(stream: &UnixStream) -> bool {
    let mut asked = [PollFd::new(stream, PollFlags::empty())];
    let polled = poll(&mut asked, Some(&Timespec::default()));
    polled.is_ok() && asked[0].revents().contains(PollFlags::HUP)
}

/// Runs `work` while processes may connect to the socket at `path`. Returns when all of them have ended.
pub fn with_listener<'o, T>(
    path: &Path,
    recording: Recording<'o>,
    work: impl FnOnce() -> Result<T, CaptureError>,
) -> Result<(T, Recording<'o>), CaptureError> {
    let failed = |source| CaptureError::File { action: "listen at", path: path.to_owned(), source };
    let listener = UnixListener::bind(path).map_err(failed)?;
    let recorded = Mutex::new(RecordedProcess { recording, owner: None });
    let shared = Shared { recorded, ended: Condvar::new() };
    let over = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            for stream in listener.incoming() {
                if over.load(Ordering::Acquire) {
                    break;
                }
                if let Ok(stream) = stream {
                    scope.spawn(|| serve(stream, &shared));
                }
            }
        });
        let done = work();
        over.store(true, Ordering::Release);
        // Wakes the listener.
        drop(UnixStream::connect(path));
        done
    })?;
    let recorded = shared.recorded.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((done, recorded.recording))
}

/// Serves a process until it ends.
fn serve(stream: UnixStream, shared: &Shared<'_>) {
    let Ok(own) = stream.try_clone() else { return };
    let mut connection = Connection::new(stream);
    let Ok(Some(first)) = connection.receive() else { return };
    let Message::Begin { process } = first.message else { return };
    let welcome = shared.begin(process, own);
    let is_owner = matches!(welcome, Reply::Settings(_));
    let ended = connection.reply(&welcome).and_then(|()| match is_owner {
        true => record(&mut connection, shared),
        false => decline(&mut connection),
    });
    if is_owner {
        shared.end(process, ended);
    }
}

fn record(connection: &mut Connection, shared: &Shared<'_>) -> io::Result<()> {
    while let Some(received) = connection.receive()? {
        let reply = shared.lock().recording.take(received.message);
        match reply {
            Some(reply) if received.is_question => connection.reply(&reply)?,
            _ => {}
        }
    }
    Ok(())
}

/// Answers a process that is not recorded.
fn decline(connection: &mut Connection) -> io::Result<()> {
    while let Some(received) = connection.receive()? {
        match received.message {
            Message::Module { .. } => connection.reply(&Reply::Registers(Default::default()))?,
            Message::Launch { .. } => connection.reply(&Reply::Launch { is_recorded: false })?,
            _ => {}
        }
    }
    Ok(())
}
