//! Events of a kernel file.

use super::code::Code;
use super::cta::Cta;
use super::header::Header;

/// An event of a kernel file, in this order: one header, its CTAs, one end.
#[derive(Debug)]
pub enum Event {
    Header(Box<Header>),
    /// A CTA, and the codes that occur in it for the first time.
    Cta(Cta, Vec<Code>),
    End {
        text_bytes: u64,
    },
}
