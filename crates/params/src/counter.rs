/// A number of a policy's own, counted over a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    pub name: &'static str,
    pub value: u64,
}
