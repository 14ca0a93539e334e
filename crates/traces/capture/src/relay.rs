//! Kernels of another process: messages between a program that executes kernels and the capture
//! that records them.
//!
//! ```text
//!  program's process                          capture's process
//!  runtime ─▶ Relay ──── socket, Message ───▶ Connection ─▶ writer of the trace
//!                   ◀─── Reply ──────────────
//! ```
//!
//! The capture holds every completed kernel in full, however the program ends.
//!
//! Invariant: no message makes the capture panic or allocate without bound.

mod connection;
mod frame;
mod message;
mod sender;

pub(crate) use connection::Connection;
pub use message::{Device, Ended, Message, Reply, Settings};
pub use sender::Relay;

/// Environment variable that names the socket.
pub const SOCKET: &str = "WARPMEM_CAPTURE_SOCKET";

/// Environment variable that marks a program whose embedded CUDA runtime must be replaced.
pub const EMBEDDED_RUNTIME: &str = "WARPMEM_EMBEDDED_RUNTIME";
