//! Processes that connect: the first is recorded until it ends, then the next that comes.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use warpmem_relay::{Connection, Message, Reply};

use crate::error::CaptureError;

use super::recording::Recording;

/// Runs `work` while processes may connect to the socket at `path`. Returns when all of them have
/// ended.
pub fn with_listener<'o, T>(
    path: &Path,
    recording: Recording<'o>,
    work: impl FnOnce() -> Result<T, CaptureError>,
) -> Result<(T, Recording<'o>), CaptureError> {
    let failed = |source| CaptureError::File { action: "listen at", path: path.to_owned(), source };
    let listener = UnixListener::bind(path).map_err(failed)?;
    let (recording, over) = (Mutex::new(recording), AtomicBool::new(false));
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            for stream in listener.incoming() {
                if over.load(Ordering::Acquire) {
                    break;
                }
                if let Ok(stream) = stream {
                    scope.spawn(|| serve(stream, &recording));
                }
            }
        });
        let done = work();
        over.store(true, Ordering::Release);
        // Wakes the listener.
        drop(UnixStream::connect(path));
        done
    })?;
    let recording = recording.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((done, recording))
}

fn lock<'m, 'o>(recording: &'m Mutex<Recording<'o>>) -> MutexGuard<'m, Recording<'o>> {
    recording.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves a process until it ends.
fn serve(stream: UnixStream, recording: &Mutex<Recording<'_>>) {
    let mut connection = Connection::new(stream);
    let Ok(Some(first)) = connection.receive() else { return };
    let Message::Begin { process } = first.message else { return };
    let welcome = lock(recording).begin(process);
    let is_owner = matches!(welcome, Reply::Settings(_));
    if connection.reply(&welcome).is_err() {
        return lock(recording).end(process);
    }
    let ended = match is_owner {
        true => record(&mut connection, recording),
        false => decline(&mut connection),
    };
    if is_owner {
        let mut recording = lock(recording);
        if let Err(error) = ended {
            recording.note(format!("process {process}: {error}"));
        }
        recording.end(process);
    }
}

fn record(connection: &mut Connection, recording: &Mutex<Recording<'_>>) -> io::Result<()> {
    while let Some(received) = connection.receive()? {
        let reply = lock(recording).take(received.message);
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
