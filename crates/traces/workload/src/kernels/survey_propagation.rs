//! Survey propagation on a random k-SAT formula, a bipartite graph of clauses and variables:
//! surveys travel between variables and clauses until they settle, then the variables with the
//! strongest bias are fixed, and the process repeats on the remaining formula. An edge joins a
//! clause and the variable of one of its literals; `eta` of an edge is the probability that the
//! clause warns the variable.
//!
//! ```cuda
//! // The chance that no clause with a positive literal of the variable warns it, and none with a negative one.
//! __device__ float2 silence(unsigned first, unsigned end) {
//!     float positive = 1, negative = 1;
//!     for (unsigned o = first; o < end; o++) {
//!         unsigned occurrence = occurrences[o];                              // edge * 2 + isNegative
//!         float silent = 1 - eta[occurrence >> 1];
//!         if (occurrence & 1) negative *= silent; else positive *= silent;
//!     }
//!     return make_float2(positive, negative);
//! }
//! __global__ void calc_pi() {
//!     unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (v >= variables || value[v] != FREE) return;
//!     unsigned first = variableRow[v], end = variableRow[v + 1];
//!     float2 all = silence(first, end);
//!     for (unsigned o = first; o < end; o++) {
//!         unsigned occurrence = occurrences[o], edge = occurrence >> 1;
//!         bool isNegative = occurrence & 1;
//!         float same = (isNegative ? all.y : all.x) / (1 - eta[edge]), other = isNegative ? all.x : all.y;
//!         pi_u[edge] = (1 - other) * same;
//!         pi_s[edge] = (1 - same) * other;
//!         pi_0[edge] = same * other;
//!     }
//! }
//! __global__ void update_eta() {
//!     unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (c >= clauses || satisfied[c]) return;
//!     float change = 0;
//!     for (unsigned first = clauseRow[c], end = clauseRow[c + 1], i = first; i < end; i++) {
//!         float warning = 1;
//!         for (unsigned j = first; j < end; j++)
//!             if (j != i) { float u = pi_u[j]; warning *= u / fmaxf(u + pi_s[j] + pi_0[j], LEAST); }
//!         warning = fminf(warning, MOST);
//!         change = fmaxf(change, fabsf(warning - eta[i]));
//!         eta[i] = warning;
//!     }
//!     atomicMax(most, __float_as_uint(change));
//! }
//! __global__ void calc_bias() {
//!     unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (v >= variables || value[v] != FREE) return;
//!     float2 all = silence(variableRow[v], variableRow[v + 1]);
//!     float isTrue = (1 - all.x) * all.y, isFalse = (1 - all.y) * all.x;
//!     bias[v] = (isTrue - isFalse) / fmaxf(isTrue + isFalse + all.x * all.y, LEAST);
//! }
//! __global__ void decimate(float threshold) {
//!     unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (v >= variables || value[v] != FREE) return;
//!     float b = bias[v];
//!     if (fabsf(b) < threshold) return;
//!     bool isFalse = b < 0;
//!     value[v] = isFalse ? FALSE : TRUE;
//!     for (unsigned o = variableRow[v], end = variableRow[v + 1]; o < end; o++) {
//!         unsigned occurrence = occurrences[o], edge = occurrence >> 1;
//!         if ((occurrence & 1) == isFalse) {                                 // the clause is satisfied
//!             unsigned c = clauseOf[edge];
//!             satisfied[c] = 1;
//!             for (unsigned e = clauseRow[c], last = clauseRow[c + 1]; e < last; e++) eta[e] = 0;
//!         } else {                                                           // the literal is no help to it
//!             pi_u[edge] = 1;  pi_s[edge] = 0;  pi_0[edge] = 0;
//!         }
//!     }
//! }
//! ```
//!
//! The equations are those of Braunstein, Mézard and Zecchina (Random Structures & Algorithms 27,
//! 2005). A warning is kept below certainty (`MOST`), and a sum above zero (`LEAST`), to avoid
//! divisions by zero.

use super::graph::DeviceGraph;
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "survey-propagation",
    summary: "survey propagation on random k-SAT: surveys between clauses and variables, then decimation",
    source: "LonestarGPU, sp (Burtscher et al., IISWC 2012); Braunstein et al. 2005",
    parameters: &[&[
        Parameter::count(
            "variables",
            1 << 14,
            (1, 1 << 24),
            "variables",
            "Variables of the formula",
        ),
        Parameter::decimal("ratio", 420, (1, 10_000), "clauses", "Clauses per variable"),
        Parameter::count("literals", 3, (1, 16), "literals", "Literals per clause"),
        Parameter::count(
            "iterations",
            4,
            (1, 1 << 10),
            "iterations",
            "Maximum iterations before variables are fixed",
        ),
        Parameter::decimal("tolerance", 1, (0, 100), "-", "Maximum change of a settled survey"),
        Parameter::count("rounds", 2, (1, 1 << 10), "rounds", "Maximum rounds of fixing variables"),
        Parameter::count("decimate", 4, (1, 100), "%", "Free variables fixed per round"),
        BLOCK,
    ]],
    run: |gpu, arguments, random| {
        let (variables, literals) = (arguments.count32("variables"), arguments.count32("literals"));
        if literals > variables {
            let message = format!("--literals {literals} is more than --variables {variables}");
            return Err(WorkloadError::Inconsistent { message });
        }
        let clauses = u64::from(variables) * arguments.hundredths("ratio") / 100;
        let clauses = clauses.max(1) as u32;
        check_entries("literals", clauses, literals)?;
        let formula = Formula::random(variables, clauses, literals, random);
        let eta = formula.random_eta(random);
        let plan = Plan {
            iterations: arguments.count32("iterations"),
            tolerance: arguments.hundredths("tolerance") as f32 / 100.0,
            rounds: arguments.count32("rounds"),
            percent: arguments.count32("decimate"),
            block: arguments.count32("block"),
        };
        propagate(gpu, &formula, &eta, &plan).map(drop)
    },
};

/// The convergence criterion, and the share of variables to fix.
struct Plan {
    iterations: u32,
    tolerance: f32,
    rounds: u32,
    percent: u32,
    block: u32,
}

/// Values of variables.
const FREE: u32 = 0;
const TRUE: u32 = 1;
const FALSE: u32 = 2;
/// Strongest warning.
const MOST: f32 = 1.0 - 1.0 / 65536.0;
/// Least divisor, a sum of probabilities.
const LEAST: f32 = f32::MIN_POSITIVE;

/// A formula in conjunctive normal form: one row per clause, with literals as variable * 2 + is
/// negative.
struct Formula {
    variables: u32,
    clauses: Csr,
}

impl Formula {
    /// Draws clauses of distinct variables, each negated or not.
    fn random(variables: u32, clauses: u32, literals: u32, random: &mut Random) -> Formula {
        let offsets = (0..=clauses).map(|clause| clause * literals).collect();
        let mut columns: Vec<u32> = Vec::new();
        for clause in 0..clauses {
            let first = (clause * literals) as usize;
            while columns.len() < first + literals as usize {
                let variable = random.index(variables);
                if columns[first..].iter().all(|literal| literal / 2 != variable) {
                    columns.push(2 * variable + random.index(2));
                }
            }
        }
        Formula { variables, clauses: Csr { offsets, columns } }
    }

    /// Draws a survey for each edge.
    fn random_eta(&self, random: &mut Random) -> Vec<f32> {
        let edges = self.clauses.columns.iter();
        edges.map(|_| random.index(1 << 16) as f32 / 65536.0).collect()
    }

    /// Returns the edges of every variable, as edge * 2 + is negative.
    fn occurrences(&self) -> Csr {
        let mut offsets = vec![0; self.variables as usize + 1];
        for literal in &self.clauses.columns {
            offsets[(literal / 2) as usize + 1] += 1;
        }
        for variable in 0..self.variables as usize {
            offsets[variable + 1] += offsets[variable];
        }
        let mut places = offsets.clone();
        let mut columns = vec![0; self.clauses.columns.len()];
        for (edge, literal) in (0..).zip(&self.clauses.columns) {
            let place = &mut places[(literal / 2) as usize];
            columns[*place as usize] = 2 * edge + literal % 2;
            *place += 1;
        }
        Csr { offsets, columns }
    }

    /// Returns the clause of every edge.
    fn clause_of(&self) -> Vec<u32> {
        let clauses = 0..self.clauses.rows();
        clauses.flat_map(|c| vec![c; self.clauses.row(c).len()]).collect()
    }
}

/// First edge of a vertex, and the end of its edges.
type Edges<'w> = (Lanes<'w, u32>, Lanes<'w, u32>);

/// The formula and its surveys on the device.
#[derive(Clone, Copy)]
struct Device {
    clauses: DeviceGraph,
    clause_of: Array<u32>,
    variables: DeviceGraph,
    eta: Array<f32>,
    pi_u: Array<f32>,
    pi_s: Array<f32>,
    pi_0: Array<f32>,
    /// Value and bias of each variable.
    value: Array<u32>,
    bias: Array<f32>,
    /// Whether each clause is satisfied.
    satisfied: Array<u32>,
    /// Largest change in an iteration.
    most: Array<u32>,
}

fn propagate(
    gpu: &mut Gpu,
    formula: &Formula,
    eta: &[f32],
    plan: &Plan,
) -> Result<Device, WorkloadError> {
    let device = Device::upload(gpu, formula, eta);
    let (variables, clauses) = (formula.variables, formula.clauses.rows());
    let variables = |name, registers| launch(name, variables, plan.block, registers);
    for _ in 0..plan.rounds {
        for _ in 0..plan.iterations {
            gpu.copy_to(device.most, &[0]);
            gpu.launch(&variables("calc_pi", 26), async |w| device.calc_pi(w))?;
            let launch = launch("update_eta", clauses, plan.block, 24);
            gpu.launch(&launch, async |w| device.update_eta(w))?;
            if f32::from_bits(gpu.download(device.most)[0]) <= plan.tolerance {
                break;
            }
        }
        gpu.launch(&variables("calc_bias", 22), async |w| device.calc_bias(w))?;
        let (bias, value) = (gpu.download(device.bias), gpu.download(device.value));
        let Some(threshold) = threshold(&bias, &value, plan.percent) else { break };
        gpu.launch(&variables("decimate", 24), async |w| device.decimate(w, threshold))?;
    }
    Ok(device)
}

/// Returns the bias that at least `percent` percent of the free variables reach; `None` if no
/// variable has any bias.
fn threshold(bias: &[f32], value: &[u32], percent: u32) -> Option<f32> {
    let free = bias.iter().zip(value).filter(|&(_, &value)| value == FREE);
    let mut biases: Vec<f32> = free.map(|(bias, _)| bias.abs()).collect();
    biases.sort_unstable_by(|a, b| b.total_cmp(a));
    let fixed = (biases.len() as u64 * u64::from(percent)).div_ceil(100);
    let weakest = *biases.get((fixed as usize).checked_sub(1)?)?;
    let strongest = biases[0];
    // If fewer have a bias, all of those are fixed.
    let any = weakest.max(LEAST);
    (strongest >= any).then_some(any)
}

impl Device {
    fn upload(gpu: &mut Gpu, formula: &Formula, eta: &[f32]) -> Device {
        let edges = eta.len() as u64;
        Device {
            clauses: DeviceGraph::upload(gpu, &formula.clauses),
            clause_of: gpu.upload(&formula.clause_of()),
            variables: DeviceGraph::upload(gpu, &formula.occurrences()),
            eta: gpu.upload(eta),
            pi_u: gpu.zeros(edges),
            pi_s: gpu.zeros(edges),
            pi_0: gpu.zeros(edges),
            value: gpu.zeros(formula.variables.into()),
            bias: gpu.zeros(formula.variables.into()),
            satisfied: gpu.zeros(formula.clauses.rows().into()),
            most: gpu.zeros(1),
        }
    }

    /// Returns the thread's variable; threads with a fixed variable exit.
    fn free_variable<'w>(&self, w: &'w Warp) -> Lanes<'w, u32> {
        let v = w.global_x();
        w.exit_unless(v.lt(self.value.len() as u32));
        w.exit_unless(self.value.load(v).eq(FREE));
        v
    }

    /// `for (o = first; o < end; o++) body(occurrences[o])`, with a counter register of its own.
    fn each_occurrence<'w>(&self, (first, end): Edges<'w>, mut body: impl FnMut(Lanes<'w, u32>)) {
        first.warp().range(first + 0, end, 1, |o| body(self.variables.col.load(o)));
    }

    /// Returns the probabilities that no clause with a positive literal of the variable warns it,
    /// and none with a negative one.
    fn silence<'w>(&self, edges: Edges<'w>) -> [Var<'w, f32>; 2] {
        let w = edges.0.warp();
        let (positive, negative) = (w.var(1.0), w.var(1.0));
        self.each_occurrence(edges, |occurrence| {
            let silent = one_minus(self.eta.load(occurrence >> 1));
            let is_negative = (occurrence & 1).ne(0);
            w.predicated(is_negative, || negative.set(negative.get() * silent));
            w.predicated(!is_negative, || positive.set(positive.get() * silent));
        });
        [positive, negative]
    }

    fn calc_pi(&self, w: &Warp) {
        let v = self.free_variable(w);
        let edges = self.variables.edges(v);
        let [positive, negative] = self.silence(edges);
        self.each_occurrence(edges, |occurrence| {
            let edge = occurrence >> 1;
            let is_negative = (occurrence & 1).ne(0);
            let all = is_negative.select(&negative, &positive);
            let same = all.divided_by(one_minus(self.eta.load(edge)));
            let other = is_negative.select(&positive, &negative);
            self.pi_u.store(edge, one_minus(other) * same);
            self.pi_s.store(edge, one_minus(same) * other);
            self.pi_0.store(edge, same * other);
        });
    }

    fn update_eta(&self, w: &Warp) {
        let c = w.global_x();
        w.exit_unless(c.lt(self.satisfied.len() as u32));
        w.exit_unless(self.satisfied.load(c).eq(0));
        let change = w.var(0.0);
        let (first, end) = self.clauses.edges(c);
        // Both loop counters have registers of their own, initialised by copies of `first`.
        w.range(first + 0, end, 1, |i| {
            let warning = w.var(1.0);
            w.range(first + 0, end, 1, |j| {
                w.when(j.ne(i), || {
                    let u = self.pi_u.load(j);
                    let sum = u + self.pi_s.load(j) + self.pi_0.load(j);
                    warning.set(warning.get() * u.divided_by(sum.max(LEAST)));
                });
            });
            let warning = warning.get().min(MOST);
            let eta = self.eta.at(i);
            change.set(change.get().max((warning - eta.load()).abs()));
            eta.store(warning);
        });
        self.most.first(w).max(change.get().as_u32());
    }

    fn calc_bias(&self, w: &Warp) {
        let v = self.free_variable(w);
        let silence = self.silence(self.variables.edges(v));
        let [positive, negative] = silence.map(|product| product.get());
        let is_true = one_minus(positive) * negative;
        let is_false = one_minus(negative) * positive;
        let sum = is_true + is_false + positive * negative;
        self.bias.store(v, (is_true - is_false).divided_by(sum.max(LEAST)));
    }

    fn decimate(&self, w: &Warp, threshold: f32) {
        let v = self.free_variable(w);
        let bias = self.bias.load(v);
        w.exit_unless(bias.abs().ge(threshold));
        let is_false = bias.lt(0.0);
        self.value.store(v, is_false.select(FALSE, TRUE));
        let negative = is_false.select(1, 0);
        self.variables.each_neighbour(v, |occurrence| {
            let edge = occurrence >> 1;
            w.when_else(
                (occurrence & 1).eq(negative),
                || {
                    let c = self.clause_of.load(edge);
                    self.satisfied.store(c, 1);
                    self.clauses.each_edge(c, |e| self.eta.store(e, 0.0));
                },
                || {
                    self.pi_u.store(edge, 1.0);
                    self.pi_s.store(edge, 0.0);
                    self.pi_0.store(edge, 0.0);
                },
            );
        });
    }
}

/// `1 - x`
fn one_minus(x: Lanes<'_, f32>) -> Lanes<'_, f32> {
    x.mad(-1.0, 1.0)
}

#[cfg(test)]
mod tests;
