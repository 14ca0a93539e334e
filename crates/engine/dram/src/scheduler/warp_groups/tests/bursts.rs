//! Minimum efficient bursts and groups before a drain: `wg-bw` and `wg-w`.

use super::*;

/// With bank 0 alone 31 column commands are efficient; all hits go before the row is closed.
#[test]
fn a_row_serves_an_efficient_burst_before_it_is_closed() {
    let script = [
        whole(0, 1, &[(0, 0, 1)]),
        whole(20, 2, &[(1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1)]),
        whole(20, 3, &[(5, 0, 2)]),
    ]
    .concat();
    let burst = outcome("wg-bw", &script);
    assert_eq!(burst.orders[0], [0, 1, 2, 3, 4, 5]);
    assert_eq!(burst.count(0, "burst_hits"), 4);
    assert_eq!(order("wg-m", &script), [0, 5, 1, 2, 3, 4]);
}

/// Six banks with work make a burst of four efficient.
#[test]
fn a_row_past_its_minimum_burst_may_be_closed() {
    let busy = |id: u32| {
        let request = DramRequest { bursts: 200, ..read(id, id as u16, 1) };
        (0, 0, Event::Request(request))
    };
    let mut script: Script = (11..16).map(busy).collect();
    script.extend(whole(0, 1, &[(0, 0, 1)]));
    let hits: Vec<_> = (1..6).map(|id| (id, 0, 1)).collect();
    script.extend(whole(20, 2, &hits));
    script.extend(whole(20, 3, &[(6, 0, 2)]));
    assert_eq!(of_bank(0, &outcome("wg-bw", &script)), [0, 1, 2, 3, 6, 4, 5]);
    assert_eq!(of_bank(0, &outcome("wg-m", &script)), [0, 6, 1, 2, 3, 4, 5]);
    // Opening a row begins a new burst: its next group costs five, the rest of row 1 four.
    script.extend(whole(20, 4, &[(7, 0, 2), (8, 0, 2), (9, 0, 2), (10, 0, 2), (16, 0, 2)]));
    let order = of_bank(0, &outcome("wg-bw", &script));
    assert_eq!(order, [0, 1, 2, 3, 6, 7, 8, 9, 4, 5, 10, 16]);
}

/// The row has served four while tRAS still keeps it open; then the other banks are done, and 31
/// are efficient.
#[test]
fn banks_choose_again_when_the_efficient_burst_changes() {
    let mut dram = gddr5();
    (dram.timing.tras, dram.timing.trc) = (200, 212);
    let busy = |id: u32| {
        let request = DramRequest { bursts: 8, ..read(id, id as u16, 1) };
        (0, 0, Event::Request(request))
    };
    let mut script: Script = (11..16).map(busy).collect();
    script.extend(whole(0, 1, &[(0, 0, 1)]));
    let hits: Vec<_> = (1..7).map(|id| (id, 0, 1)).collect();
    script.extend(whole(1, 2, &hits));
    script.extend(whole(1, 3, &[(7, 0, 2)]));
    let outcome = play(&dram, "wg-bw", 1, &script, Stepping::Events);
    assert_eq!(of_bank(0, &outcome), [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// The row has served eight and its next hit waits for tCCD when five banks receive work: four are
/// efficient.
#[test]
fn banks_choose_again_when_other_banks_receive_work() {
    let first = DramRequest { bursts: 8, load: 1, ..read(0, 0, 1) };
    let mut script = vec![(0, 0, Event::Request(first)), (0, 0, Event::End(1))];
    script.extend(whole(20, 2, &[(1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1)]));
    script.extend(whole(20, 3, &[(5, 0, 2)]));
    assert_eq!(of_bank(0, &outcome("wg-bw", &script)), [0, 1, 2, 3, 4, 5]);
    script.extend((11..16).map(|id| (34, 0, Event::Request(read(id, id as u16, 1)))));
    assert_eq!(of_bank(0, &outcome("wg-bw", &script)), [0, 5, 1, 2, 3, 4]);
}

/// Six writes wait, and drain at eight. Both groups finish after 3; the older has two requests
/// left.
#[test]
fn near_a_drain_groups_with_one_request_left_go_first() {
    let mut dram = gddr5();
    (dram.write_high_watermark, dram.write_low_watermark) = (8, 2);
    let mut script: Script = (20..26).map(|id| (0, 0, Event::Request(write(id, 5, id)))).collect();
    script.extend(whole(0, 1, &[(0, 0, 1), (1, 1, 1)]));
    script.extend(whole(0, 2, &[(2, 0, 2)]));
    let order =
        |dram: &Dram, policy: &str| of_bank(0, &play(dram, policy, 1, &script, Stepping::Events));
    assert_eq!(order(&dram, "wg-w"), [2, 0]);
    assert_eq!(order(&dram, "wg-w(write_margin=2)"), [2, 0]);
    assert_eq!(order(&dram, "wg-w(write_margin=1)"), [0, 2]);
    assert_eq!(order(&dram, "wg-bw"), [0, 2]);
    assert_eq!(order(&dram, "fr-fcfs"), [0, 2]);
    // Without a write queue there is no drain.
    let shared = Dram { write_queue: 0, write_high_watermark: 0, write_low_watermark: 0, ..dram };
    assert_eq!(order(&shared, "wg-w"), [0, 2]);
}
