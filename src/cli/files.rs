//! Typed options for files, and the check that no output of a command overwrites another of its
//! files.
//!
//! The type of an option states whether its file is read or written. All files are collected from
//! the command line before it is executed, so a command checks only the files that its inputs refer
//! to.

use crate::files::claims::Claims;
use crate::record::is_part_of_results;
use crate::study::points::RUNS;
use crate::study::suite::MANIFEST;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// An option value that names files.
pub trait NamesFiles: Clone + Send + Sync + 'static {
    /// Adds its files; `option` is the name shown in messages.
    fn claim(&self, option: &str, claims: &mut Claims);
}

/// Role of a file or folder: read or written, alone or with its contents.
pub trait Role: Clone + fmt::Debug + Send + Sync + 'static {
    fn claim(path: &Path, option: &str, claims: &mut Claims);
}

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident = $name:ident: |$path:ident, $option:ident, $claims:ident| $claim:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug)]
            pub struct $role;

            impl Role for $role {
                fn claim($path: &Path, $option: &str, $claims: &mut Claims) {
                    $claim;
                }
            }

            $(#[$doc])*
            pub type $name = Named<$role>;
        )*
    };
}

roles! {
    /// A file that is read.
    Read = InputFile: |path, option, claims| claims.read(option, path);
    /// A results directory that is read.
    ReadResults = InputResults: |path, option, claims| {
        claims.read_folder(option, path, is_part_of_results);
    };
    /// A file that is written.
    Write = OutputFile: |path, option, claims| claims.write(option, path);
    /// A directory into which results are written.
    WriteResults = OutputResults: |path, option, claims| {
        claims.write_folder(option, path, is_part_of_results);
    };
    /// A folder into which traces, their manifest and the cycles of runs are written.
    WriteTraces = OutputTraces: |path, option, claims| claims.write_folder(option, path, is_trace);
    /// A folder into which charts and their data are written.
    WriteCharts = OutputCharts: |path, option, claims| claims.write_folder(option, path, is_chart);
    /// A folder in which every file is written.
    WriteAll = OutputFolder: |path, option, claims| claims.write_folder(option, path, |_| true);
}

/// Returns whether a folder of generated traces may contain this file.
fn is_trace(within: &Path) -> bool {
    [MANIFEST, RUNS].iter().any(|name| within == Path::new(name)) || has_extension(within, &["wmt"])
}

fn is_chart(within: &Path) -> bool {
    has_extension(within, &["svg", "png", "csv"])
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|found| extensions.contains(&found))
}

/// A path with its role.
#[derive(Clone, Debug)]
pub struct Named<R> {
    path: PathBuf,
    role: PhantomData<R>,
}

impl<R> From<PathBuf> for Named<R> {
    fn from(path: PathBuf) -> Self {
        Named { path, role: PhantomData }
    }
}

impl<R> From<OsString> for Named<R> {
    fn from(path: OsString) -> Self {
        PathBuf::from(path).into()
    }
}

impl<R> Deref for Named<R> {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl<R> AsRef<Path> for Named<R> {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl<R: Role> NamesFiles for Named<R> {
    fn claim(&self, option: &str, claims: &mut Claims) {
        R::claim(self, option, claims);
    }
}
