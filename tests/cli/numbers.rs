//! Results of a small trace, to the last printed digit. No other test of the command line depends
//! on the engine's numbers: accept new ones (`cargo insta review`) when the model changes on
//! purpose.

use super::support::Bench;

#[test]
fn a_comparison() {
    let bench = Bench::new();
    bench.generate("bfs", &[("nodes", "2^9")], "bfs.wmt");
    bench.generate("gather", &[("n", "2^12")], "gather.wmt");
    bench.generate("stream", &[("n", "2^13")], "stream.wmt");
    let arguments = [
        "compare",
        "bfs.wmt",
        "gather.wmt",
        "stream.wmt",
        "--machine",
        "li2015",
        "--dram-scheduler",
        "fcfs,banked-fifo,fr-fcfs",
        "--baseline",
        "fr-fcfs",
    ];
    insta::assert_snapshot!(bench.output(&arguments));
}
