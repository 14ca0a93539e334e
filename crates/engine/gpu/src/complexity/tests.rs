use super::*;
use warpmem_machine::load;
use warpmem_params::bits;

/// Yuan 2009: 28 SMs, 8 controllers with 32 requests, 4 banks of 4096 rows.
const YUAN: Shape = Shape {
    sms: 28,
    warps: 32,
    slices: 8,
    mshr_entries: 32,
    controllers: 8,
    queue: 32,
    banks: 4,
    row_bits: 12,
    routers: Routers { count: 1, crossings: 28 * 8, outputs: 8 },
};

/// Comparisons of FR-FCFS in that machine.
const SEARCH: u64 = 3584;

/// Costs depend on the shape alone: any machine that the policy fits will do.
fn of(policy: &str, shape: &Shape) -> Complexity {
    of_scheduler(policy, &load("li2015", &[]).unwrap(), shape).unwrap().unwrap()
}

/// Bits stored and compared.
fn cost(policy: &str, shape: &Shape) -> (u64, u64) {
    let Complexity { stored, compared } = of(policy, shape);
    (stored, compared)
}

fn yuan(topology: &str) -> Machine {
    let topology = format!("policy.topology={topology}");
    // A ring needs at least these virtual channels.
    load("yuan2009", &["network.virtual_channels=2".to_owned(), topology]).unwrap()
}

/// Bits stored and compared of a scheduler and an arbiter: the last column of Table 1.
fn pair(scheduler: &str, arbiter: &str, topology: &str) -> (u64, u64) {
    let machine = yuan(topology);
    let shape = shape_of(&machine).unwrap();
    let scheduler = of_scheduler(scheduler, &machine, &shape).unwrap().unwrap();
    let Complexity { stored, compared } = scheduler + of_arbiter(arbiter, &shape).unwrap().unwrap();
    (stored, compared)
}

#[test]
fn bits_distinguish_values() {
    assert_eq!([0, 1, 2, 3, 4, 5, 64, 65].map(bits), [0, 0, 1, 2, 2, 3, 6, 7]);
}

#[test]
fn costs_add_up_and_multiply() {
    let [one, other] = [(3, 5), (20, 10)].map(|(stored, compared)| Complexity { stored, compared });
    let sum = Complexity { stored: 23, compared: 15 };
    assert_eq!([one, other].into_iter().sum::<Complexity>(), sum);
    assert_eq!(one * 7, Complexity { stored: 21, compared: 35 });
}

#[test]
fn every_router_counts_as_the_largest() {
    let ports = |inputs, outputs| Ports { inputs, outputs };
    let routers = largest_routers(&[ports(3, 4), ports(2, 5), ports(5, 2)]);
    assert_eq!(routers, Routers { count: 3, crossings: 12, outputs: 5 });
    assert_eq!(largest_routers(&[]), Routers::default());
}

#[test]
fn the_shape_follows_the_machine() {
    let shape = shape_of(&load("li2015", &[]).unwrap()).unwrap();
    assert_eq!(shape.routers, Routers { count: 1, crossings: 15 * 12, outputs: 12 });
    assert_eq!((shape.sms, shape.warps, shape.controllers), (15, 48, 6));
    assert_eq!((shape.queue, shape.banks, shape.row_bits), (64, 16, 12));
    assert_eq!((shape.slices, shape.mshr_entries), (12, 64));
    let Shape { sms, controllers, queue, banks, row_bits, routers, .. } =
        shape_of(&yuan("crossbar(form=router)")).unwrap();
    assert_eq!(Shape { sms, controllers, queue, banks, row_bits, routers, ..YUAN }, YUAN);
    assert_eq!(shape_of(&yuan("crossbar")).unwrap().mshr_entries, 0, "the machine has no L2");
    let routers = |topology| shape_of(&yuan(topology)).unwrap().routers;
    assert_eq!(routers("crossbar"), routers("crossbar(form=router)"));
    assert_eq!(routers("mesh"), Routers { count: 36, crossings: 20, outputs: 5 });
    assert_eq!(routers("ring"), Routers { count: 36, crossings: 6, outputs: 3 });
    // 28 nodes need three stages of 16 switches.
    assert_eq!(routers("butterfly"), Routers { count: 48, crossings: 16, outputs: 4 });
    assert_eq!(routers("ideal"), Routers::default());
}

/// Except for the last row: the table's own formula C*M + 4*M gives 256; it prints 320.
#[test]
fn table_1_of_yuan() {
    let crossbar = "crossbar(form=router)";
    assert_eq!(pair("fr-fcfs", "round-robin", crossbar), (0, SEARCH));
    assert_eq!(pair("banked-fifo", "hold-grant", crossbar), (224, 224));
    assert_eq!(pair("banked-fifo", "hold-grant", "mesh"), (720, 720));
    assert_eq!(pair("banked-fifo", "row-matching-hold-grant", crossbar), (608, 320));
    assert_eq!(pair("banked-fifo", "row-matching-hold-grant", "mesh"), (14_544, 2880));
    assert_eq!(pair("banked-fifo", "hash-matching-hold-grant", "mesh"), (1440, 1440));
    let printed_as_320 = 28 * 8 + 4 * 8;
    assert_eq!(
        pair("banked-fifo", "hash-matching-hold-grant", crossbar),
        (printed_as_320, printed_as_320)
    );
}

#[test]
fn costs_of_pairs_add_up_and_hashes_cost_their_bits() {
    let arbiter = "hash-matching-hold-grant(bits=6)";
    assert_eq!(pair("fr-fcfs", arbiter, "mesh"), (720 + 36 * 6 * 5, SEARCH + 720 + 36 * 6 * 5));
}

/// 6 pairs of an input and an output in each of 36 routers, and 3 outputs.
#[test]
fn a_ring_is_counted_as_a_mesh() {
    assert_eq!(pair("fcfs", "hold-grant", "ring"), (216, 216));
    assert_eq!(
        pair("fcfs", "row-matching-hold-grant", "ring"),
        (216 + 36 * 12 * 32, 216 + 36 * 12 * 3)
    );
    assert_eq!(pair("fcfs", "hash-matching-hold-grant", "ring"), (648, 648));
}

#[test]
fn declared_costs_include_comparisons() {
    let machine = load("li2015", &[]).unwrap();
    let shape = shape_of(&machine).unwrap();
    for policy in SCHEDULERS.names() {
        // Experiments such as `delay` declare no cost.
        let Some(cost) = of_scheduler(policy, &machine, &shape).unwrap() else { continue };
        assert_eq!(cost.compared == 0, ["fcfs", "banked-fifo"].contains(&policy), "{policy}");
    }
    for policy in ARBITERS.names() {
        // The width of ages is not defined.
        let says = of_arbiter(policy, &shape).unwrap().is_some();
        assert_eq!(says, policy != "oldest-first", "{policy}");
    }
}

#[test]
fn costs_grow_with_the_queue_the_controllers_and_the_banks() {
    let twice = |change: fn(&mut Shape)| {
        let mut shape = YUAN;
        change(&mut shape);
        shape
    };
    let queue = twice(|shape| shape.queue = 64);
    let controllers = twice(|shape| shape.controllers = 16);
    let banks = twice(|shape| shape.banks = 8);
    assert_eq!(cost("fr-fcfs", &queue), (0, 2 * SEARCH));
    assert_eq!(cost("fr-fcfs", &controllers), (0, 2 * SEARCH));
    assert_eq!(cost("fr-fcfs", &banks), (0, 8 * 32 * 15));
}

#[test]
fn the_limits_of_fr_fcfs_cost_counters() {
    // Up to 4 in each of 4 banks; ages up to 1000 of 32 requests.
    let capped = 8 * 4 * 3;
    assert_eq!(cost("fr-fcfs(row_hit_cap=4)", &YUAN), (capped, SEARCH + capped));
    let dated = 8 * 32 * 10;
    assert_eq!(cost("fr-fcfs(starvation_limit=1000)", &YUAN), (dated, SEARCH + dated));
}

/// By hand, for 8 controllers: 32 requests; 5 bits for their counts, 5 for SMs, 2 for banks, 12 for
/// rows.
#[test]
fn costs_without_published_figures_match_hand_counts() {
    let entries = 8 * 32;
    assert_eq!(cost("most-pending", &YUAN), (entries * 5, SEARCH + entries * 5));
    assert_eq!(cost("fr-rr-fcfs", &YUAN), (8 * 5, SEARCH + entries * 5));
    assert_eq!(cost("sjf-potential", &YUAN), (8 * 28 * 32 * 5, SEARCH + entries * 5));
    assert_eq!(cost("sms", &YUAN), (8 * (28 * (5 + 8) + 5), 8 * 28 * (14 + 8 + 5)));
    assert_eq!(cost("bliss", &YUAN), (8 * (28 + 5 + 3 + 14), SEARCH + 8 * (32 + 5)));
    assert_eq!(cost("medic", &YUAN), (entries + 28 * 32 * (14 + 3 + 14), SEARCH + entries));
    let critical = 8 * (32 + 2 * 5) + 28 * 6;
    assert_eq!(cost("core-criticality", &YUAN), (critical, SEARCH + entries));
    let dynamic = critical + 8 * (2 * 19 + 14);
    assert_eq!(cost("core-criticality(threshold=dynamic)", &YUAN).0, dynamic);
}

/// Scores up to 3 * 32 have 7 bits.
#[test]
fn the_warp_group_extensions_add_up() {
    let entries = 8 * 32;
    let wg = (entries * (5 + 1 + 7) + 8 * 4 * (12 + 7), SEARCH + entries * 7);
    let wg_m = (wg.0 + entries * 7, wg.1 + entries * 10);
    let wg_bw = (wg_m.0 + 8 * 2 * 4 * 5, wg_m.1 + 8 * 4 * 5);
    let wg_w = (wg_bw.0, wg_bw.1 + entries);
    for (policy, by_hand) in [("wg", wg), ("wg-m", wg_m), ("wg-bw", wg_bw), ("wg-w", wg_w)] {
        assert_eq!(cost(policy, &YUAN), by_hand, "{policy}");
    }
}

/// Li 2015, section 4.5: 344 bytes and 280 bytes in a controller of 64 requests, 160 bytes in an
/// L2 of 64 MSHRs.
#[test]
fn the_mshr_costs_match_the_thesis() {
    let shape = Shape { controllers: 1, queue: 64, banks: 16, slices: 1, mshr_entries: 64, ..YUAN };
    let search = 64 * 16;
    assert_eq!(cost("mshr-s+a", &shape), (8 * (344 + 280 + 160), search + 64 * 30));
    assert_eq!(cost("mshr-m", &shape), (64 * (24 + 4 + 20) + 64 * 5, search + 64 * 8));
    assert_eq!(cost("mshr-s", &shape), (64 * (24 + 4 + 26) + 64 * 5, search + 64 * 14));
    let elsewhere = 8 * 160;
    let two = Shape { slices: 2, ..shape };
    assert_eq!(of("mshr-s+a", &two).stored, of("mshr-s+a", &shape).stored + elsewhere);
}

/// Jeong et al. 2023, Table 3: 1408 bytes for a controller of 64 requests and 16 banks, on 1024
/// warps.
#[test]
fn the_tables_of_warped_mc_match_the_paper() {
    let shape = Shape { controllers: 1, queue: 64, banks: 16, ..YUAN };
    let search = 64 * 16;
    assert_eq!(cost("warped-mc(wat_bits=10)", &shape), (8 * 1408, search + 64 * 6 + 16 * 2));
    assert_eq!(cost("div-first(wat_bits=10)", &shape), (6 * 1024, 64 * (6 + 4)));
    // Ten bits number the machine's 720 warps.
    assert_eq!(of("div-first", &shape).stored, 6 * 1024);
}

/// Totals stated by papers on multi-core processors.
#[test]
fn the_per_source_states_match_the_papers() {
    let cores = Shape { sms: 8, controllers: 1, queue: 128, banks: 8, row_bits: 14, ..YUAN };
    assert_eq!(of("par-bs", &cores).stored, 1412);
    assert_eq!(of("stfm(interval=16777216)", &cores).stored, 1808);
    let cores = Shape { sms: 24, controllers: 4, queue: 128, banks: 4, ..YUAN };
    assert_eq!(of("atlas(quantum=10000000)", &cores).stored, 8896);
    let cores = Shape { controllers: 1, queue: 64, row_bits: 14, ..cores };
    // The paper: less than 4 Kbit.
    assert_eq!(of("tcm", &cores).stored, 24 * (10 + 2 + 2 + 4 * (6 + 14 + 16)));
    let search = 64 * 16;
    let compared = |policy| of(policy, &cores).compared - search;
    assert_eq!(compared("par-bs"), 64 * (1 + 5));
    assert_eq!(compared("atlas"), 64 * (1 + 5));
    assert_eq!(compared("tcm"), 64 * 5);
    assert_eq!(compared("stfm"), 64 * 5 + 24 * 8);
}
