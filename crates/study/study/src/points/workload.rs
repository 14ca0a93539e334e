//! Workloads of points: a line of `warpmem generate`, or a trace.

use super::error::PointsError;
use crate::suite::Planned;
use crate::sweep::{Generate, generated};
use crate::traces::NamedTrace;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use warpmem_gpu::results::Fnv;
use warpmem_trace::Ranges;
use warpmem_workload::Request;

/// A workload of a point.
#[derive(Clone, Debug)]
pub struct Workload {
    source: Source,
    /// Equal for equal workloads.
    id: String,
}

#[derive(Clone, Debug)]
enum Source {
    Generated(Box<Request>),
    Trace(PathBuf),
}

impl PartialEq for Workload {
    fn eq(&self, other: &Workload) -> bool {
        self.id == other.id
    }
}

/// Name of the suite of generated workloads in messages and in its manifest.
const SUITE: &str = "points";

impl Workload {
    /// Parses `stream --op copy --n 2^20`, optionally after `warpmem generate`, or the path of a trace
    /// relative to `folder`.
    ///
    /// # Errors
    /// A message with what would be valid.
    pub fn parse(text: &str, folder: &Path) -> Result<Workload, String> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if let [one] = words[..]
            && one.ends_with(".wmt")
        {
            let path = folder.join(one);
            return Ok(Workload { id: path.display().to_string(), source: Source::Trace(path) });
        }
        for prefix in ["warpmem", "generate"] {
            if words.first() == Some(&prefix) {
                words.remove(0);
            }
        }
        let Some((kernel, options)) = words.split_first() else {
            return Err("expected a line of `warpmem generate`, or a trace (.wmt)".to_owned());
        };
        let request = request(kernel, options)?;
        let id = request.command().map_err(|error| error.to_string())?;
        Ok(Workload { id, source: Source::Generated(Box::new(request)) })
    }

    /// Returns the kernel of a generated workload, or the name of the trace.
    pub fn kernel(&self) -> &str {
        match &self.source {
            Source::Generated(request) => &request.kernel,
            Source::Trace(path) => {
                path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(&self.id)
            }
        }
    }

    /// Returns the workload as part of a suite; `None` for a trace.
    fn planned(&self) -> Option<Planned> {
        let Source::Generated(request) = &self.source else { return None };
        let mut hash = Fnv::new();
        hash.update(self.id.as_bytes());
        let name = format!("{}-{:016x}", request.kernel, hash.finish());
        Some(Planned { name, about: String::new(), request: (**request).clone(), recorded: None })
    }
}

/// Parses the options of a generator: `--name value` each.
fn request(kernel: &str, options: &[&str]) -> Result<Request, String> {
    let mut request = Request {
        kernel: kernel.to_owned(),
        parameters: BTreeMap::new(),
        seed: 1,
        launches: Ranges::all(),
    };
    for pair in options.chunks(2) {
        let (option, value) = match pair {
            [option, value] => (*option, *value),
            [option] => return Err(format!("`{option}` has no value; valid: `--name value`")),
            _ => unreachable!("chunks of two"),
        };
        let Some(name) = option.strip_prefix("--") else {
            return Err(format!("expected an option as `--n`, found `{option}`"));
        };
        match name {
            "seed" => {
                request.seed = warpmem_params::parse_whole(value)
                    .ok_or_else(|| format!("`{value}` is not a seed; valid: a whole number"))?;
            }
            "kernels" => {
                request.launches = value.parse().map_err(|error| format!("--kernels: {error}"))?;
            }
            _ => {
                if request.parameters.insert(name.to_owned(), value.to_owned()).is_some() {
                    return Err(format!("`{option}` is given twice"));
                }
            }
        }
    }
    request.check().map_err(|error| error.to_string())?;
    Ok(request)
}

/// The traces of workloads.
pub struct Traces {
    traces: Vec<NamedTrace>,
    /// Index of each workload's trace, by id.
    places: HashMap<String, usize>,
}

impl Traces {
    /// Returns the trace of a workload that was among those generated.
    pub fn of(&self, workload: &Workload) -> &NamedTrace {
        &self.traces[self.places[&workload.id]]
    }
}

/// Opens the traces of `workloads`. Each distinct one that is missing in `folder` is made once with
/// `generate`, on `jobs` threads.
///
/// # Errors
/// If a trace cannot be made or opened.
pub fn generate<'w>(
    workloads: impl Iterator<Item = &'w Workload>,
    folder: &Path,
    jobs: usize,
    generate: &Generate<'_>,
) -> Result<Traces, PointsError> {
    let mut distinct: BTreeMap<&str, &Workload> = BTreeMap::new();
    for workload in workloads {
        distinct.insert(&workload.id, workload);
    }
    let planned = distinct.iter().filter_map(|(id, workload)| Some((*id, workload.planned()?)));
    let (ids, planned): (Vec<&str>, Vec<Planned>) = planned.unzip();
    let mut traces = match planned.is_empty() {
        true => Vec::new(),
        false => generated(SUITE, &planned, folder, jobs, generate)?,
    };
    let places = ids.iter().enumerate().map(|(at, id)| ((*id).to_owned(), at));
    let mut places: HashMap<String, usize> = places.collect();
    for (id, workload) in distinct {
        if let Source::Trace(path) = &workload.source {
            places.insert(id.to_owned(), traces.len());
            traces.push(NamedTrace::open(path)?);
        }
    }
    Ok(Traces { traces, places })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Workload, String> {
        Workload::parse(text, Path::new("here"))
    }

    #[test]
    fn equal_workloads_are_one() {
        let spelled = parsed("warpmem generate stream --n 2^10 --op copy").unwrap();
        assert_eq!(spelled, parsed("stream --op copy --n 1024").unwrap());
        assert_ne!(spelled, parsed("stream --op copy --n 1024 --seed 2").unwrap());
        assert_eq!(parsed("a/b.wmt").unwrap(), parsed(" a/b.wmt ").unwrap());
        assert_eq!((spelled.kernel(), parsed("a/b.wmt").unwrap().kernel()), ("stream", "b"));
    }

    #[test]
    fn a_bad_line_states_what_is_valid() {
        for (text, message) in [
            ("", "expected a line of `warpmem generate`, or a trace (.wmt)"),
            ("strem --n 4", "unknown kernel `strem` (did you mean `stream`?)"),
            ("stream --m 4", "stream has no parameter `m`"),
            ("stream --n", "`--n` has no value"),
            ("stream n 4", "expected an option as `--n`, found `n`"),
            ("stream --n 4 --n 8", "`--n` is given twice"),
            ("stream --seed x", "`x` is not a seed"),
            ("stream --n 2^40", "`2^40` is not a value of --n"),
        ] {
            let refused = parsed(text).unwrap_err();
            assert!(refused.starts_with(message), "{text}: {refused}");
        }
    }
}
