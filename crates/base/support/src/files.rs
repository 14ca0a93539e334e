//! Opening of text, pipes and compressed files; bounded reads; the rule that no output destroys an
//! input; and outputs that appear only when complete.

pub mod claims;
pub mod destination;
pub mod inflate;
pub mod input;
pub mod staged;
pub mod text;
