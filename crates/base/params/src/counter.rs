/// A count that a policy keeps over a run and reports under a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    pub name: &'static str,
    pub value: u64,
}
