//! Recorded content hashes of the traces of a suite, by which a version of it is the same everywhere.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The committed file of a suite's hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hashes {
    /// Version of the suite whose traces have these hashes.
    pub version: u32,
    /// Hash of each workload, 16 hexadecimal digits, by size.
    pub sizes: BTreeMap<String, BTreeMap<String, String>>,
}

/// The content hash that a trace of a suite must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Name of the suite.
    pub suite: String,
    /// Content hash, 16 hexadecimal digits.
    pub hash: String,
    /// Version of the suite.
    pub version: u32,
    /// Size of the workload.
    pub size: String,
}

impl Hashes {
    /// Returns the hash of a workload of `suite` in a size; none if it is not recorded.
    pub(super) fn of(&self, suite: &str, size: &str, workload: &str) -> Option<Recorded> {
        let hash = self.sizes.get(size)?.get(workload)?.clone();
        let (suite, size) = (suite.to_owned(), size.to_owned());
        Some(Recorded { suite, hash, version: self.version, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{
        GenerateError, Generation, Listed, MANIFEST, Manifest, Planned, Suite, Watcher,
    };
    use std::ops::ControlFlow;
    use std::path::Path;
    use warpmem_testing::documents;
    use warpmem_workload::{Progress, Stop};

    struct Unwatched;

    impl Watcher for Unwatched {
        fn report(&self, _: &str, _: &Progress) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }

        fn stop(&self) -> Stop {
            Stop::default()
        }

        fn made(&self) {}
    }

    fn generate(name: &str, planned: &[Planned], folder: &Path) -> Result<(), GenerateError> {
        let work = Generation { name, planned, folder, jobs: 0, is_part: false };
        work.run(&Unwatched).map(drop)
    }

    /// Returns the hashes of the traces of a suite in a size.
    fn made(suite: &Suite, size: &str) -> BTreeMap<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let mut planned = suite.plan(Some(size), &[]).unwrap();
        planned.iter_mut().for_each(|planned| planned.recorded = None);
        generate(&suite.name, &planned, folder.path()).unwrap();
        let hash = |listed: Listed| (listed.name, listed.trace_hash.unwrap());
        Manifest::load(&folder.path().join(MANIFEST))
            .unwrap()
            .workloads
            .into_iter()
            .map(hash)
            .collect()
    }

    /// Size with recorded hashes.
    const SIZE: &str = "small";

    /// Generates the suite and returns its hashes, which may differ from those of another version alone.
    fn renewed(suite: &Suite) -> Hashes {
        let made = BTreeMap::from([(SIZE.to_owned(), made(suite, SIZE))]);
        let hashes = Hashes { version: suite.version.unwrap(), sizes: made };
        let is_same = suite.hashes.sizes.is_empty() || suite.hashes == hashes;
        let is_raised = hashes.version > suite.hashes.version;
        assert!(
            is_same || is_raised,
            "the traces of `{}` have changed: raise its version",
            suite.name
        );
        hashes
    }

    fn text(suite: &Suite, hashes: &Hashes) -> String {
        format!(
            "# Content hashes of the traces of the suite `{}`, by size. After a change of a trace, raise `version` in\n\
             # the suite's file, then run UPDATE_DOCS=1 cargo test -p warpmem-study hashes_of_suites\n\n{}",
            suite.name,
            toml::to_string(hashes).unwrap()
        )
    }

    #[test]
    fn hashes_of_suites_are_as_generated() {
        for (name, file) in [("warpmem", "workloads"), ("llm", "llm")] {
            let suite = Suite::named(name).unwrap();
            let hashes =
                if documents::is_updating() { renewed(&suite) } else { suite.hashes.clone() };
            let document = format!("crates/study/study/src/suite/{file}.hashes.toml");
            documents::assert_document(&document, &text(&suite, &hashes));
        }
    }

    #[test]
    fn traces_of_the_small_suites_have_the_recorded_hashes() {
        for suite in Suite::names().filter_map(Suite::named) {
            let folder = tempfile::tempdir().unwrap();
            let planned = suite.plan(Some(SIZE), &[]).unwrap().into_iter().enumerate();
            let sampled = planned.filter(|(at, _)| warpmem_testing::is_sampled(*at, 0, 16));
            let planned: Vec<Planned> = sampled.map(|(_, planned)| planned).collect();
            assert!(planned.iter().all(|planned| planned.recorded.is_some()));
            generate(&suite.name, &planned, folder.path()).unwrap();
        }
    }

    #[test]
    fn every_workload_of_a_recorded_size_has_a_hash() {
        for suite in Suite::names().filter_map(Suite::named) {
            assert_eq!(suite.version, Some(suite.hashes.version));
            assert!(suite.hashes.sizes.contains_key(SIZE));
            let sizes = suite.hashes.sizes.keys();
            for planned in sizes.flat_map(|size| suite.plan(Some(size), &[]).unwrap()) {
                let recorded = planned.recorded.unwrap();
                assert_eq!((recorded.hash.len(), &recorded.suite), (16, &suite.name));
            }
            assert!(
                suite.plan(None, &[]).unwrap().iter().all(|planned| planned.recorded.is_none())
            );
        }
    }

    #[test]
    fn a_trace_with_another_hash_is_refused_and_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut planned = Suite::built_in().plan(Some("small"), &["vecadd".to_owned()]).unwrap();
        let recorded = planned[0].recorded.clone().unwrap();
        planned[0].recorded =
            Some(Recorded { hash: "0123456789abcdef".to_owned(), ..recorded.clone() });
        let refused = generate("any", &planned, folder.path()).unwrap_err().to_string();
        let expected = format!(
            "vecadd.wmt: its content hash is {}, but version 1 of the suite `warpmem` records 0123456789abcdef in \
             size small: the generator `vecadd` has changed since that version. The trace is not kept; \
             `warpmem generate vecadd` makes one without this check",
            recorded.hash
        );
        assert!(refused.ends_with(&expected), "{refused}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
