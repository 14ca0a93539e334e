//! Every generator that takes a graph or a matrix reads one from a file, even an empty one.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use warpmem_trace::Trace;

use crate::{Generated, Generator, Request, WorkloadError, generators};
use warpmem_trace::Ranges;

fn generate(
    kernel: &str,
    given: &[(&str, &str)],
    output: &Path,
) -> Result<Generated, WorkloadError> {
    let parameters = given
        .iter()
        .map(|&(name, text)| (name.to_owned(), text.to_owned()))
        .collect::<BTreeMap<_, _>>();
    let request =
        Request { kernel: kernel.to_owned(), parameters, seed: 1, launches: Ranges::all() };
    request.generate(output, &mut |_| ControlFlow::Continue(()))
}

/// Iterates over the generators with the parameter `input` and its file alternative.
fn generators_with(input: &str) -> impl Iterator<Item = &'static Generator> {
    generators().iter().filter(move |g| g.parameters().any(|p| p.name() == input))
}

/// Returns the empty choice, and each value of the generator's own choices.
fn own_choices(generator: &Generator) -> Vec<Vec<(&'static str, &'static str)>> {
    let inputs = ["graph", "matrix", "order", "file-format"];
    let own = generator.parameters().filter(|p| !inputs.contains(&p.name()));
    let choices = own.flat_map(|p| p.choices().into_iter().map(|choice| vec![(p.name(), choice)]));
    std::iter::once(Vec::new()).chain(choices).collect()
}

/// Runs all generators with `input`, in all their variants, on `text`, and passes the outcomes to
/// `check`.
fn on_file(
    input: &str,
    name: &str,
    text: &str,
    check: impl Fn(&str, Result<Generated, WorkloadError>),
) {
    let folder = tempfile::tempdir().unwrap();
    let (file, output) = (folder.path().join(name), folder.path().join("t.wmt"));
    std::fs::write(&file, text).unwrap();
    for generator in generators_with(input) {
        for choices in own_choices(generator) {
            let given = [vec![("file", file.to_str().unwrap())], choices].concat();
            let what = format!("{} {given:?} on {text:?}", generator.name);
            check(&what, generate(generator.name, &given, &output));
        }
    }
}

#[test]
fn every_graph_kernel_accepts_tiny_graphs() {
    for text in [
        "0 0\n",
        "# no edges\n4 4\n",
        "3 1\n",
        "0 1 0\n2 3 2147483647\n3 4 2147483647\n7 7 1\n",
        "0 1\n1 2\n2 0\n5 6\n40 41\n41 42\n42 40\n",
    ] {
        on_file("graph", "g.el", text, |what, made| {
            let notes = made.unwrap_or_else(|error| panic!("{what}: {error}")).notes;
            assert!(notes[0].contains("g.el: vertices "), "{what}: {notes:?}");
        });
    }
}

#[test]
fn every_matrix_kernel_accepts_tiny_matrices() {
    for text in [
        "1 1 0\n",
        "1 1 1\n1 1\n",
        "3 3 0\n",
        "40 40 2\n1 40\n40 40\n",
        "2 5 2\n1 5\n2 1\n",
        "70 2 1\n69 2\n",
    ] {
        let text = format!("%%MatrixMarket matrix coordinate pattern general\n{text}");
        on_file("matrix", "m.mtx", &text, |what, made| {
            let notes = made.unwrap_or_else(|error| panic!("{what}: {error}")).notes;
            assert!(notes[0].contains("m.mtx: rows "), "{what}: {notes:?}");
        });
    }
}

#[test]
fn kernels_refuse_unsuitable_files() {
    on_file(
        "graph",
        "m.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 3 0\n",
        |what, made| {
            let error = made.map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("needs a square matrix"), "{what}: {error}");
        },
    );
    on_file(
        "matrix",
        "m.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 4 1\n",
        |what, made| {
            let error = made.map(|_| ()).unwrap_err().to_string();
            assert!(
                error.ends_with("m.mtx:3:3: `4` is not a column; valid: 1 to 3"),
                "{what}: {error}"
            );
        },
    );
}

#[test]
fn provenance_names_the_input_file_without_generation_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let (file, output) = (folder.path().join("my graph.gr"), folder.path().join("t.wmt"));
    std::fs::write(&file, "p sp 3 1\na 1 3 5\n").unwrap();
    let file = file.to_str().unwrap();
    generate("bfs", &[("file", file), ("order", "rcm"), ("levels", "3")], &output).unwrap();
    let trace = Trace::open(&output).unwrap();
    let command = &trace.header().provenance.command;
    let options = format!(" --file '{file}' --file-format by-ending --order rcm --");
    assert!(command.contains(&options), "{command}");
    assert!(!command.contains("--nodes") && !command.contains("--graph"), "{command}");
}
