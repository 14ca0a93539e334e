//! Small tools that every layer shares: files, text for people, random numbers, checksums, and tables of embedded files.
//! Nothing here knows traces, machines or results.

pub mod checksum;
pub mod embed;
pub mod files;
pub mod random;
pub mod text;
