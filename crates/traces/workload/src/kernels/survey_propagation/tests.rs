use super::super::testing::*;
use super::*;

struct Outcome {
    eta: Vec<f32>,
    bias: Vec<f32>,
    value: Vec<u32>,
    satisfied: Vec<u32>,
}

const ONE_ROUND: Plan = Plan { iterations: 5, tolerance: 0.0, rounds: 1, percent: 10, block: 96 };

fn propagated(formula: &Formula, eta: &[f32], plan: &Plan) -> Run<Outcome> {
    run(|gpu| {
        let device = propagate(gpu, formula, eta, plan)?;
        Ok(Outcome {
            eta: gpu.download(device.eta),
            bias: gpu.download(device.bias),
            value: gpu.download(device.value),
            satisfied: gpu.download(device.satisfied),
        })
    })
}

fn formula(variables: u32, clauses: &[&[i32]]) -> Formula {
    let literal = |&l: &i32| 2 * (l.unsigned_abs() - 1) + u32::from(l < 0);
    let columns = clauses.iter().flat_map(|clause| clause.iter().map(literal)).collect();
    let ends = clauses.iter().scan(0, |sum, clause| {
        *sum += clause.len() as u32;
        Some(*sum)
    });
    let offsets = std::iter::once(0).chain(ends).collect();
    Formula { variables, clauses: Csr { offsets, columns } }
}

/// Returns all edges as clause, variable, is negative.
fn edges(formula: &Formula) -> Vec<(u32, u32, bool)> {
    formula.clauses.entries().map(|(c, literal)| (c, literal / 2, literal % 2 == 1)).collect()
}

/// Computes one iteration by the equations of the paper, with products over all other clauses, in
/// double precision.
fn iterated(formula: &Formula, eta: &[f64]) -> Vec<f64> {
    let edges = edges(formula);
    let silent = |edge: usize, is_negative: bool| -> f64 {
        let others = (0..edges.len()).filter(|&b| b != edge && edges[b].1 == edges[edge].1);
        others.filter(|&b| edges[b].2 == is_negative).map(|b| 1.0 - eta[b]).product()
    };
    let warned = |edge: usize| {
        let (same, other) = (silent(edge, edges[edge].2), silent(edge, !edges[edge].2));
        let (u, s, free) = ((1.0 - other) * same, (1.0 - same) * other, same * other);
        u / (u + s + free)
    };
    let warning = |edge: usize| -> f64 {
        let others = (0..edges.len()).filter(|&j| j != edge && edges[j].0 == edges[edge].0);
        others.map(warned).product()
    };
    (0..edges.len()).map(warning).collect()
}

#[test]
fn surveys_match_the_equations() {
    let mut random = Random::new(3);
    for (variables, clauses, literals) in [(20, 60, 3), (100, 300, 3), (50, 40, 5), (3, 1, 2)] {
        let formula = Formula::random(variables, clauses, literals, &mut random);
        let eta = formula.random_eta(&mut random);
        let plan = Plan { iterations: 3, ..ONE_ROUND };
        let run = propagated(&formula, &eta, &plan);
        let mut expected: Vec<f64> = eta.iter().copied().map(f64::from).collect();
        for _ in 0..3 {
            expected = iterated(&formula, &expected);
        }
        // The decimation clears the edges of satisfied clauses.
        for ((c, ..), (found, expected)) in
            edges(&formula).into_iter().zip(run.result.eta.iter().zip(expected))
        {
            let expected = if run.result.satisfied[c as usize] == 1 { 0.0 } else { expected };
            assert!((f64::from(*found) - expected).abs() < 1e-3, "{found}, {expected}");
        }
    }
}

/// x1, x1 → x2, x2 → not x3: a tree, for which surveys are exact and settle after a number of
/// iterations equal to its depth.
#[test]
fn consequences_of_a_unit_clause_are_fixed() {
    let formula = formula(4, &[&[1], &[-1, 2], &[-2, -3], &[3, 4]]);
    let plan = Plan { iterations: 10, percent: 100, ..ONE_ROUND };
    let run = propagated(&formula, &[0.0; 7], &plan);
    let Outcome { bias, value, satisfied, .. } = &run.result;
    let strengths: Vec<f32> = bias.iter().map(|b| b.signum() * b.abs().round()).collect();
    assert_eq!(strengths, [1.0, 1.0, -1.0, 1.0]);
    assert_eq!(value, &[TRUE, TRUE, FALSE, TRUE]);
    assert_eq!(satisfied, &[1; 4]);
    // Five iterations: four to reach the end, and one without changes.
    assert_eq!(run.trace().kernels().len(), 2 * 5 + 2);
}

#[test]
fn nothing_is_fixed_without_warnings() {
    let formula = formula(4, &[&[1, 2], &[-2, 3], &[-3, 4]]);
    let plan = Plan { rounds: 5, ..ONE_ROUND };
    let run = propagated(&formula, &[0.0; 6], &plan);
    assert_eq!(run.result.value, [FREE; 4]);
    assert_eq!(run.trace().kernels().len(), 3, "one iteration and the biases");
}

#[test]
fn satisfied_clauses_are_those_with_a_true_literal() {
    let mut random = Random::new(8);
    let formula = Formula::random(200, 800, 3, &mut random);
    let eta = formula.random_eta(&mut random);
    let plan = Plan { rounds: 4, ..ONE_ROUND };
    let Outcome { value, satisfied, eta, .. } = propagated(&formula, &eta, &plan).result;
    let fixed = value.iter().filter(|&&value| value != FREE).count();
    // A tenth of the free variables, four times.
    assert!((68..=80).contains(&fixed), "{fixed}");
    let is_true = |literal: &u32| value[(literal / 2) as usize] == TRUE + literal % 2;
    for c in 0..800 {
        let expected = formula.clauses.row(c).iter().any(is_true);
        assert_eq!(satisfied[c as usize] == 1, expected, "clause {c}");
        let edges = formula.clauses.offsets[c as usize]..formula.clauses.offsets[c as usize + 1];
        assert!(!expected || edges.map(|e| eta[e as usize]).all(|eta| eta == 0.0));
    }
}

#[test]
fn the_strongest_are_fixed() {
    let free = [FREE; 5];
    let bias = [0.1, -0.5, 0.3, 0.0, -0.2];
    assert_eq!(threshold(&bias, &free, 20), Some(0.5));
    assert_eq!(threshold(&bias, &free, 21), Some(0.3));
    assert_eq!(threshold(&bias, &free, 100), Some(LEAST));
    assert_eq!(threshold(&bias, &[FREE, FALSE, FREE, FREE, FREE], 20), Some(0.3));
    assert_eq!(threshold(&[0.0; 5], &free, 20), None);
    assert_eq!(threshold(&bias, &[TRUE; 5], 20), None);
}

#[test]
fn clauses_have_distinct_variables() {
    let formula = Formula::random(5, 100, 4, &mut Random::new(2));
    for c in 0..100 {
        let mut variables: Vec<u32> = formula.clauses.row(c).iter().map(|l| l / 2).collect();
        variables.sort_unstable();
        variables.dedup();
        assert_eq!(variables.len(), 4);
    }
}
