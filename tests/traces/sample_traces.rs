//! The sample traces equal the output of their README's commands, byte for byte.
//!
//! If `WARPMEM_REGENERATE` is set in the environment, regenerates them instead.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use warpmem::workload::{Progress, Request};
use warpmem_trace::Ranges;

/// A `warpmem generate` command.
struct Command {
    request: Request,
    /// Path relative to the repository's root.
    output: PathBuf,
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn commands() -> Vec<Command> {
    let readme = std::fs::read_to_string(repository().join("sample-traces/README.md")).unwrap();
    readme.lines().filter_map(|line| line.strip_prefix("warpmem generate ")).map(parse).collect()
}

fn parse(arguments: &str) -> Command {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let (generator, options) = words.split_first().expect("the command names a kernel");
    let (pairs, rest) = options.as_chunks::<2>();
    assert!(rest.is_empty(), "an option lacks its value: {arguments}");
    let mut parameters: BTreeMap<String, String> = pairs
        .iter()
        .map(|[name, value]| (name.trim_start_matches('-').to_owned(), (*value).to_owned()))
        .collect();
    let mut take =
        |name| parameters.remove(name).unwrap_or_else(|| panic!("no {name}: {arguments}"));
    let (seed, output) = (take("seed").parse().unwrap(), take("o").into());
    let launches = parameters.remove("kernels").map(|text| text.parse().unwrap());
    let launches = launches.unwrap_or_else(Ranges::all);
    Command {
        request: Request { kernel: (*generator).to_owned(), parameters, seed, launches },
        output,
    }
}

fn make(command: &Command, output: &Path) {
    command.request.generate(output, &mut |_: &Progress| ControlFlow::Continue(())).unwrap();
}

#[test]
fn the_readme_makes_the_sample_traces_byte_for_byte() {
    if std::env::var_os("WARPMEM_REGENERATE").is_some() {
        commands().iter().for_each(|command| make(command, &repository().join(&command.output)));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for command in commands() {
        let made = directory.path().join("made.wmt");
        make(&command, &made);
        let committed = repository().join(&command.output);
        let same = std::fs::read(&made).unwrap() == std::fs::read(&committed).unwrap();
        assert!(same, "{} is not what its command makes", command.output.display());
    }
}

#[test]
fn the_readme_has_a_command_for_every_sample_trace() {
    let made: BTreeSet<PathBuf> = commands().into_iter().map(|command| command.output).collect();
    let folders = ["sample-traces", "sample-traces/cache-resident"].map(Path::new);
    let files = folders.into_iter().flat_map(|folder| {
        let entries = std::fs::read_dir(repository().join(folder)).unwrap();
        entries.map(move |entry| folder.join(entry.unwrap().file_name()))
    });
    let committed: BTreeSet<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "wmt")).collect();
    assert_eq!(made, committed);
}
