//! Kernels of another process: the messages between a program that executes them and the capture
//! that records them.
//!
//! ```text
//!  program's process                          capture's process
//!  runtime ─▶ Relay ──── socket, Message ───▶ Connection ─▶ writer of the trace
//!                   ◀─── Reply ──────────────
//! ```
//!
//! Whatever becomes of the program, the capture has every kernel that ended, whole.
//!
//! Invariant: no message makes the capture's process panic or allocate without end.

mod connection;
mod frame;
mod message;
mod sender;

pub use connection::{Connection, Received};
pub use message::{Device, Ended, Message, Reply, Settings};
pub use sender::{Relay, RelayError};

/// The environment variable that names the socket.
pub const SOCKET: &str = "WARPMEM_CAPTURE_SOCKET";

/// The environment variable that is set for a program that carries a CUDA runtime, which is to be
/// replaced.
pub const CARRIED_RUNTIME: &str = "WARPMEM_CARRIED_RUNTIME";
