use super::super::{Design, Draw, KernelPlan, Plan, Size, Stratum};
use super::{Sizes, census, part};

fn plan(ctas: &[u32], size: Size, run: Option<u32>) -> Plan {
    Plan::new(&part(ctas), &census(ctas, Sizes::Skewed), &Design { run, ..Design::of(size) })
}

/// Plans of every shape, with their CTAs and the requested number.
fn plans() -> impl Iterator<Item = (u32, u32, Option<u32>, KernelPlan)> {
    let counts = [2, 3, 5, 7, 16, 37, 100, 999, 4096];
    let runs = [None, Some(1), Some(3), Some(16), Some(1000)];
    let with = move |count: u32| {
        let wanted = [1, 2, 3, 7, 10, 64, 500, count / 10, count - 1, count];
        let wanted = wanted.into_iter().filter(move |&wanted| (1..=count).contains(&wanted));
        wanted.flat_map(move |wanted| {
            runs.map(|run| {
                let mut plan = plan(&[count], Size::Ctas(wanted), run);
                (count, wanted, run, plan.kernels.remove(0))
            })
        })
    };
    counts.into_iter().flat_map(with)
}

#[test]
fn runs_are_neighbours_that_cover_all_ctas_and_are_of_one_length() {
    for (count, wanted, run, plan) in plans() {
        let mut next = 0;
        for run in &plan.runs {
            assert_eq!(run.start, next);
            next = run.end;
        }
        assert_eq!(next, count as usize);
        let lengths = || plan.runs.iter().map(|run| run.len() as u32);
        let (least, most) = (lengths().min().unwrap(), lengths().max().unwrap());
        assert!(least > 0 && most - least <= 1, "{least} {most}");
        let longest = (wanted.max(2).min(count) / 2).max(1);
        if let Some(run) = run {
            assert_eq!(plan.runs.len() as u32, count.div_ceil(run.min(longest)));
        }
    }
}

#[test]
fn strata_hold_every_run_once_and_draw_two_of_each_or_all() {
    for (.., plan) in plans() {
        let mut runs: Vec<usize> = plan.strata.iter().flat_map(|s| s.runs.clone()).collect();
        runs.sort_unstable();
        assert_eq!(runs, (0..plan.runs.len()).collect::<Vec<_>>());
        for Stratum { runs, drawn } in &plan.strata {
            assert!(
                *drawn == runs.len() || (2..runs.len()).contains(drawn),
                "{drawn} of {}",
                runs.len()
            );
        }
    }
}

#[test]
fn the_sample_size_is_met_within_one_run() {
    for (count, wanted, run, plan) in plans() {
        let wanted = wanted.max(2).min(count);
        let length = plan.runs[0].len() as f64 + 1.0;
        let runs: usize = plan.strata.iter().map(|stratum| stratum.drawn).sum();
        let ctas = runs as f64 * f64::from(count) / plan.runs.len() as f64;
        let off = (ctas - f64::from(wanted)).abs();
        assert!(off <= length, "{wanted} of {count} in runs of {run:?}: {ctas}");
    }
}

#[test]
fn every_stratum_is_drawn_from_in_proportion_to_its_size() {
    for (.., plan) in plans() {
        let drawn: usize = plan.strata.iter().map(|stratum| stratum.drawn).sum();
        let share = drawn as f64 / plan.runs.len() as f64;
        for stratum in &plan.strata {
            let off = (stratum.runs.len() as f64 * share - stratum.drawn as f64).abs();
            assert!(off <= 1.0, "{} of {} at {share}", stratum.drawn, stratum.runs.len());
        }
    }
}

#[test]
fn strata_are_blocks_in_launch_order_and_classes_of_size() {
    let ctas = [1000];
    let census = census(&ctas, Sizes::Skewed);
    let plan =
        Plan::new(&part(&ctas), &census, &Design { run: Some(1), ..Design::of(Size::Ctas(32)) });
    let strata = &plan.kernels[0].strata;
    // 16 strata: 4 blocks of 4 classes.
    assert_eq!(strata.len(), 16);
    for (block, classes) in strata.chunks(4).enumerate() {
        let place = block * 250..(block + 1) * 250;
        let mut largest = 0;
        for class in classes {
            assert!(class.runs.iter().all(|run| place.contains(run)));
            let sizes = || class.runs.iter().map(|&run| census.kernels[0][run].records);
            assert!(sizes().min().unwrap() >= largest, "classes ascend");
            largest = sizes().max().unwrap();
        }
    }
}

#[test]
fn by_default_eight_runs_are_drawn_at_least() {
    for (count, wanted, length) in [(512, 51, 6), (10_000, 1000, 32), (512, 15, 1), (512, 2, 1)] {
        let plan = plan(&[count], Size::Ctas(wanted), None);
        let longest = plan.kernels[0].runs.iter().map(|run| run.len()).max();
        assert_eq!(longest, Some(length), "{wanted} of {count}");
    }
}

#[test]
fn a_fraction_is_of_each_kernel_and_of_two_ctas_at_least() {
    let kernels = [1, 2, 5, 100, 1000];
    let part = part(&kernels);
    let census = census(&kernels, Sizes::Alike);
    let drawn = |design: &Design| {
        let plan = Plan::new(&part, &census, design);
        plan.part(&part, &plan.draw(1))
    };
    let counts = |design: &Design| -> Vec<usize> {
        drawn(design).kernels.iter().map(|kernel| kernel.ctas.len()).collect()
    };
    let design = Design { run: Some(1), ..Design::of(Size::Fraction(0.1)) };
    assert_eq!(counts(&design), [1, 2, 2, 10, 100]);
    assert_eq!(counts(&Design { at_least: 40, ..design }), [1, 2, 5, 40, 100]);
    assert_eq!(drawn(&Design::of(Size::Fraction(1.0))), part);
}

#[test]
fn draws_follow_from_the_seed() {
    let plan = plan(&[500, 500], Size::Fraction(0.1), None);
    assert_eq!(plan.draw(1), plan.draw(1));
    assert_ne!(plan.draw(1), plan.draw(2));
    let Draw { kernels } = plan.draw(1);
    assert_ne!(kernels[0], kernels[1]);
}

#[test]
fn the_sample_of_a_kernel_is_independent_of_other_kernels() {
    let kernels = [300, 500];
    let (both, census) = (part(&kernels), census(&kernels, Sizes::Skewed));
    let drawn = |part: &super::super::Part, census: &super::super::Census| {
        let plan = Plan::new(part, census, &Design::of(Size::Fraction(0.1)));
        plan.part(part, &plan.draw(7)).kernels.pop().unwrap()
    };
    let second = super::super::Part { kernels: both.kernels[1..].to_vec() };
    let second_census = super::super::Census { kernels: census.kernels[1..].to_vec() };
    assert_eq!(drawn(&both, &census), drawn(&second, &second_census));
}

#[test]
fn runs_of_a_stratum_are_equally_likely() {
    const DRAWS: u64 = 4000;
    let plan = plan(&[60], Size::Ctas(12), Some(1));
    let mut drawn = vec![0u64; 60];
    for seed in 0..DRAWS {
        plan.draw(seed).kernels[0].iter().flatten().for_each(|&run| drawn[run] += 1);
    }
    for Stratum { runs, drawn: of } in &plan.kernels[0].strata {
        let expected = DRAWS * *of as u64 / runs.len() as u64;
        for &run in runs {
            assert!(drawn[run].abs_diff(expected) < 130, "{} of {expected}", drawn[run]);
        }
    }
}

#[test]
fn clusters_are_drawn_whole() {
    let kernels = [600];
    let mut part = part(&kernels);
    part.kernels[0].cluster = 4;
    let census = census(&kernels, Sizes::Skewed);
    let designs =
        [(Size::Fraction(0.1), None), (Size::Ctas(50), Some(6)), (Size::Ctas(7), Some(1))];
    for (size, run) in designs {
        let plan = Plan::new(&part, &census, &Design { run, ..Design::of(size) });
        let drawn = plan.part(&part, &plan.draw(3)).kernels.remove(0).ctas;
        assert!(!drawn.is_empty() && drawn.len() < 600);
        for cluster in drawn.chunks(4) {
            assert!(
                cluster[0] % 4 == 0 && cluster.last() == Some(&(cluster[0] + 3)),
                "{cluster:?}"
            );
        }
    }
}
