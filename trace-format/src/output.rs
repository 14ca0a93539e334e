//! An output file that appears under its name only once it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::TraceError;

/// Writes to a temporary file beside the final one; dropping it before [`Output::finish`] removes
/// the file.
pub(crate) struct Output {
    path: PathBuf,
    /// The final path, with links followed.
    place: PathBuf,
    file: BufWriter<NamedTempFile>,
    written: u64,
}

impl Output {
    pub fn create(path: &Path) -> Result<Output, TraceError> {
        if fs::metadata(path).is_ok_and(|existing| !existing.is_file()) {
            let reason = "it exists and is not a regular file".to_owned();
            return Err(TraceError::Invalid { path: path.to_owned(), reason });
        }
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut builder = tempfile::Builder::new();
        let stem = path.file_stem().unwrap_or_default();
        builder.prefix(stem).suffix(".wmt.partial");
        // Permissions of an ordinary new file; temporary files are private.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        match builder.tempfile_in(directory(&place)) {
            Ok(file) => Ok(Output::over(path, place, file)),
            Err(source) => Err(TraceError::Io { path: path.to_owned(), action: "create", source }),
        }
    }

    fn over(path: &Path, place: PathBuf, file: NamedTempFile) -> Output {
        Output {
            path: path.to_owned(),
            place,
            file: BufWriter::with_capacity(1 << 18, file),
            written: 0,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let result = self.file.write_all(bytes);
        self.written += bytes.len() as u64;
        result.map_err(|source| self.failed("write", source))
    }

    /// Discards everything after the first `bytes`.
    pub fn truncate(&mut self, bytes: u64) -> Result<(), TraceError> {
        let shortened = self.file.flush().and_then(|()| {
            let file = self.file.get_mut().as_file_mut();
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))
        });
        self.written = bytes;
        shortened.map(drop).map_err(|source| self.failed("write", source))
    }

    /// Overwrites the first bytes, after all others are written.
    pub fn rewrite_head(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let rewritten = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(bytes));
        rewritten.map_err(|source| self.failed("write", source))
    }

    /// Syncs the file to disk and renames it to its final name, replacing an existing file.
    pub fn finish(self) -> Result<(), TraceError> {
        let (path, place) = (self.path, self.place);
        let failed = |source| TraceError::Io { path: path.clone(), action: "write", source };
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&place).map_err(|error| failed(error.error))?;
        // The rename is durable only once the directory is synced.
        #[cfg(unix)]
        File::open(directory(&place)).and_then(|directory| directory.sync_all()).map_err(failed)?;
        Ok(())
    }

    fn failed(&self, action: &'static str, source: io::Error) -> TraceError {
        TraceError::Io { path: self.path.clone(), action, source }
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempPath;

    #[cfg(unix)]
    #[test]
    fn a_link_is_kept_and_its_target_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file.wmt"), directory.path().join("link.wmt"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write(b"new").unwrap();
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    /// An output on a device that accepts no data.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_with_the_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("full.wmt");
        let partial = directory.path().join("partial");
        fs::write(&partial, "").unwrap();
        let full = || {
            let device = File::options().write(true).open("/dev/full").unwrap();
            let file =
                NamedTempFile::from_parts(device, TempPath::try_from_path(&partial).unwrap());
            Output::over(&path, path.clone(), file)
        };
        let expected = format!("failed to write {}", path.display());

        let mut output = full();
        let errors = (0..100).filter_map(|_| output.write(&[0; 1 << 16]).err());
        assert_eq!(errors.map(|error| error.to_string()).next(), Some(expected.clone()));
        drop(output);

        // Buffered data fail at the final flush.
        let mut output = full();
        output.write(b"few").unwrap();
        let error = output.finish().unwrap_err();
        assert_eq!(error.to_string(), expected);
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("No space left"), "{source}");
        assert!(!path.exists());
    }
}
