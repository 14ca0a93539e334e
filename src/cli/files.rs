//! Options that name files, and the check that no output of a command destroys another of its files.
//!
//! An option's type says what becomes of its file. All of them are found on a command line before it is
//! carried out, so a command checks only the files that its inputs name in turn.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use warpmem::files::claims::Claims;
use warpmem::record::is_part_of_results;
use warpmem::study::suite::MANIFEST;

/// The value of an option that names files.
pub trait NamesFiles: Clone + Send + Sync + 'static {
    /// Adds its files; `option` names them in messages.
    fn claim(&self, option: &str, claims: &mut Claims);
}

/// The role of a file or folder: read or written, alone or with its content.
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
    /// A directory of results that is read.
    ReadResults = InputResults: |path, option, claims| {
        claims.read_folder(option, path, is_part_of_results);
    };
    /// A file that is written.
    Write = OutputFile: |path, option, claims| claims.write(option, path);
    /// A directory that results are written to.
    WriteResults = OutputResults: |path, option, claims| {
        claims.write_folder(option, path, is_part_of_results);
    };
    /// A folder that traces and their manifest are written to.
    WriteTraces = OutputTraces: |path, option, claims| claims.write_folder(option, path, is_trace);
    /// A folder that charts and their numbers are written to.
    WriteCharts = OutputCharts: |path, option, claims| claims.write_folder(option, path, is_chart);
    /// A folder of which every file is written.
    WriteAll = OutputFolder: |path, option, claims| claims.write_folder(option, path, |_| true);
}

/// Whether a generated suite may have this file.
fn is_trace(within: &Path) -> bool {
    within == Path::new(MANIFEST) || has_extension(within, &["wmt"])
}

fn is_chart(within: &Path) -> bool {
    has_extension(within, &["svg", "png", "csv"])
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|found| extensions.contains(&found))
}

/// A path, and what becomes of the file.
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
