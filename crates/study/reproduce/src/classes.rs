//! Workloads by class.

use std::collections::BTreeMap;

/// Classes by workload.
#[derive(Clone, Debug, Default)]
pub struct Classes(pub(crate) BTreeMap<String, Vec<&'static str>>);

impl Classes {
    /// Returns whether the workload is in one of the classes; an empty list matches all.
    pub fn holds(&self, classes: &[String], workload: &str) -> bool {
        let is_in =
            |class: &String| self.0.get(workload).is_some_and(|own| own.contains(&class.as_str()));
        classes.is_empty() || classes.iter().any(is_in)
    }

    /// Returns the classes of a workload, separated by commas.
    pub fn of(&self, workload: &str) -> String {
        self.0.get(workload).map(|classes| classes.join(", ")).unwrap_or_default()
    }

    /// Returns the workloads of a class, in alphabetical order.
    pub fn members(&self, class: &str) -> Vec<&str> {
        let own = self.0.iter().filter(|(_, classes)| classes.contains(&class));
        own.map(|(workload, _)| workload.as_str()).collect()
    }

    #[cfg(test)]
    pub(crate) fn known(classes: &[(&str, &'static str)]) -> Classes {
        Classes(classes.iter().map(|(name, class)| ((*name).to_owned(), vec![*class])).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_class_list_means_all_workloads() {
        let classes = Classes::known(&[("a", "HIL"), ("b", "LIL")]);
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert!(classes.holds(&[], "c"));
        assert!(classes.holds(&names(&["HIL"]), "a"));
        assert!(!classes.holds(&names(&["HIL"]), "b"));
        assert!(classes.holds(&names(&["HIL", "LIL"]), "b"));
        assert_eq!(classes.members("LIL"), ["b"]);
        assert_eq!((classes.of("a").as_str(), classes.of("c").as_str()), ("HIL", ""));
    }
}
