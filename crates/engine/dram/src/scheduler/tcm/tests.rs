use crate::scheduler::SCHEDULERS;
use crate::tests::harness::*;
use crate::{Channel, DramRequest};

/// Returns a history in which, within 100 cycles, SM 0 has four requests to three banks in
/// parallel, and SM 1 two to one row.
fn history() -> Vec<(u64, DramRequest)> {
    let of_0 = [(0, 0, 1), (1, 1, 1), (2, 2, 1), (3, 1, 2)];
    let of_1 = [(4, 8, 1), (5, 8, 1)];
    let of_0 = of_0.map(|(id, bank, row)| (0, from(0, id, bank, row)));
    of_0.into_iter().chain(of_1.map(|(id, bank, row)| (0, from(1, id, bank, row)))).collect()
}

/// Returns the order of the requests that follow the history.
fn order(policy: &str, later: &[(u64, DramRequest)]) -> Vec<u32> {
    let order = timed(&gddr5(), policy, &[&history(), later].concat()).order();
    assert!(order[..6].iter().all(|&id| id < 6), "{order:?}");
    order[6..].to_vec()
}

/// SM 1 fits into the latency cluster.
const CLUSTERS: &str = "tcm(quantum=100,cluster_threshold=0.3)";
/// Both are bandwidth-sensitive; SM 0 is the nicer one.
const BANDWIDTH: &str =
    "tcm(quantum=1000,cluster_threshold=0,shuffle=insertion,shuffle_interval=50)";

#[test]
fn latency_sensitive_sources_go_before_older_requests() {
    let later = [(110, from(0, 6, 0, 2)), (110, from(1, 7, 0, 3))];
    assert_eq!(order(CLUSTERS, &later), [7, 6]);
    assert_eq!(order("fr-fcfs", &later), [6, 7]);
}

#[test]
fn latency_sensitive_sources_go_before_row_hits_and_hits_before_age_within_a_source() {
    let later = [
        (110, from(0, 6, 0, 1)),
        (110, from(1, 7, 0, 4)),
        (110, from(1, 8, 0, 5)),
        (110, from(1, 9, 0, 4)),
    ];
    assert_eq!(order(CLUSTERS, &later), [7, 9, 8, 6]);
    assert_eq!(order("fr-fcfs", &later), [6, 7, 9, 8]);
}

#[test]
fn nice_sources_go_before_older_requests() {
    let later = [(1010, from(1, 6, 0, 2)), (1010, from(0, 7, 0, 3))];
    assert_eq!(order(BANDWIDTH, &later), [7, 6]);
    assert_eq!(order("fr-fcfs", &later), [6, 7]);
}

/// Two sources swap positions with the second shuffle after 1000, at 1100.
#[test]
fn bandwidth_sensitive_sources_are_shuffled() {
    let later = |now| [(now, from(0, 6, 0, 2)), (now, from(1, 7, 0, 3))];
    assert_eq!(order(BANDWIDTH, &later(1090)), [6, 7]);
    assert_eq!(order(BANDWIDTH, &later(1110)), [7, 6]);
}

/// The choice of 1098 is repeated at 1100, before the row may be closed: it was opened at 1090.
#[test]
fn banks_are_asked_again_after_a_shuffle() {
    let later = [(1090, from(0, 6, 0, 7)), (1098, from(0, 7, 0, 8)), (1098, from(1, 8, 0, 9))];
    assert_eq!(order(BANDWIDTH, &later), [6, 8, 7]);
    assert_eq!(order("tcm(quantum=1000,cluster_threshold=0)", &later), [6, 7, 8]);
}

/// The end of a quantum has the same effect.
#[test]
fn banks_are_asked_again_when_sources_are_clustered() {
    let later = [(90, from(0, 6, 9, 7)), (98, from(0, 7, 9, 8)), (98, from(1, 8, 9, 9))];
    let order = |policy: &str| timed(&gddr5(), policy, &[&history()[..], &later].concat()).order();
    let ends = |order: &[u32]| order[order.len() - 2..].to_vec();
    assert_eq!(ends(&order("tcm(quantum=100,cluster_threshold=0.4)")), [8, 7]);
    assert_eq!(ends(&order("tcm(quantum=1000,cluster_threshold=0.4)")), [7, 8]);
}

#[test]
fn banks_are_ranked_too() {
    let later = [(110, from(0, 6, 3, 2)), (110, from(0, 7, 4, 3)), (110, from(1, 8, 5, 4))];
    assert_eq!(order(CLUSTERS, &later), [8, 6, 7]);
    assert_eq!(order("fr-fcfs", &later), [6, 7, 8]);
}

#[test]
fn before_the_first_quantum_ends_it_is_fr_fcfs() {
    let later = [(210, from(0, 6, 0, 1)), (210, from(1, 7, 0, 3)), (210, from(0, 8, 0, 1))];
    assert_eq!(order("tcm(quantum=1000)", &later), [6, 8, 7]);
}

/// Row hits of SM 0, the nicer one, keep arriving. SM 1 waits until the order is reversed, two
/// shuffles later; without shuffles it waits as long as they arrive.
#[test]
fn shuffling_bounds_the_time_in_last_position() {
    let mut later: Vec<_> = (0..250).map(|n| (1010 + 3 * n, from(0, 6 + n as u32, 0, 9))).collect();
    later.insert(1, (1012, from(1, 1000, 0, 2)));
    let service = |policy: &str| {
        let run = timed(&gddr5(), policy, &[&history()[..], &later].concat());
        run.completions.iter().find(|done| done.id == 1000).unwrap().first_command.number()
    };
    assert!((1100..1104).contains(&service(BANDWIDTH)), "{}", service(BANDWIDTH));
    let still = BANDWIDTH.replace("interval=50", "interval=900");
    assert!(service(&still) > 1010 + 3 * 245);
}

/// Channel 0 observed both; channel 1 serves them by their ranks.
#[test]
fn channels_share_the_observed_behaviour() {
    let mut two = context(&gddr5());
    two.dram.channels = 2;
    let family = SCHEDULERS.build(CLUSTERS, &two).unwrap();
    let mut channels = [0, 1].map(|n| Channel::new(&two.dram, family.scheduler(n)).unwrap());
    for (_, request) in history() {
        channels[0].push(DramCycle::ZERO, request);
    }
    (0..100).map(at).for_each(|now| _ = channels[0].step(now, 99));
    assert!(channels[0].is_empty());
    channels[1].push(at(110), from(0, 6, 0, 1));
    channels[1].push(at(110), from(1, 7, 0, 2));
    (110..300).map(at).for_each(|now| _ = channels[1].step(now, 99));
    let order: Vec<u32> = channels[1].take_completions().map(|done| done.id).collect();
    assert_eq!(order, [7, 6]);
}

#[test]
fn counts_quanta_and_shuffles() {
    let later = [(1110, from(0, 6, 0, 2)), (1110, from(1, 7, 0, 3))];
    let run = timed(&gddr5(), BANDWIDTH, &[&history()[..], &later].concat());
    let counted = |name| run.counted(name);
    // 17 sources, of which two sent requests.
    assert_eq!((counted("quanta"), counted("latency_sources")), (1, 15));
    // At 1050, 1100 and 1150; the last column command is at 1174.
    assert_eq!((counted("insertion_quanta"), counted("shuffles")), (1, 3));
}

#[test]
fn parameters_out_of_range_are_refused() {
    assert_refused(&[
        "tcm(cluster_threshold=1.5)",
        "tcm(quantum=0)",
        "tcm(shuffle_interval=0)",
        "tcm(shuffle=x)",
        "tcm(shuffle_threshold=-1)",
        "tcm(x=1)",
    ]);
}
