//! The part taken of a trace, as rows.

use super::{Design, Estimate, Part, QuantityEstimate, Selection, Size};
use serde_json::{Value, json};
use warpmem_trace::{Provenance, Ranges, Trace, TraceSummary};
use warpmem_workload::shell::quoted;

/// A part of a trace, written as a trace of its own.
pub struct Taken<'a> {
    pub trace: &'a Trace,
    /// The sampled part.
    pub selected: &'a Part,
    pub part: &'a Part,
    /// Estimates; none if nothing was drawn at random.
    pub estimates: Vec<QuantityEstimate>,
    pub summary: TraceSummary,
}

impl Taken<'_> {
    /// Returns the traces, with `kernels` and `estimates` as rows.
    pub fn object(&self) -> Value {
        json!({
            "trace": self.trace.path().display().to_string(),
            "trace_hash": format!("{:016x}", self.trace.header().content_hash),
            "output": self.summary.path.display().to_string(),
            "output_hash": format!("{:016x}", self.summary.content_hash),
            "output_bytes": self.summary.file_bytes,
            "output_records": self.summary.records,
            "kernels": self.kernels().collect::<Vec<_>>(),
            "estimates": self.estimates.iter().map(of_estimate).collect::<Vec<_>>(),
        })
    }

    fn kernels(&self) -> impl Iterator<Item = Value> {
        self.selected.kernels.iter().zip(&self.part.kernels).map(|(selected, part)| {
            let kernel = &self.trace.kernels()[part.kernel];
            json!({
                "kernel": part.kernel,
                "name": kernel.info.name,
                "ctas": kernel.ctas,
                "selected_ctas": selected.ctas.len(),
                "sampled_ctas": part.ctas.len(),
            })
        })
    }
}

fn of_estimate(row: &QuantityEstimate) -> Value {
    let estimate = row.estimate.as_ref();
    let interval = estimate.map(Estimate::interval);
    json!({
        "quantity": row.quantity.name,
        "unit": row.quantity.unit,
        "estimate": estimate.map(|estimate| estimate.value),
        "standard_error": estimate.map(|estimate| estimate.standard_error),
        "interval_low": interval.map(|[low, _]| low),
        "interval_high": interval.map(|[_, high]| high),
        "true": row.truth,
        "error": row.error(),
    })
}

impl QuantityEstimate {
    /// Returns the relative error: estimate / truth - 1.
    pub fn error(&self) -> Option<f64> {
        let truth = self.truth.filter(|&truth| truth != 0.0)?;
        self.estimate.as_ref().map(|estimate| estimate.value / truth - 1.0)
    }
}

/// Returns the origin of a part: the trace and its own origin, and the command with the options of
/// the selection and of the design, which is drawn with `seed`.
pub fn provenance(
    trace: &Trace,
    selection: &Selection,
    design: Option<&Design>,
    seed: u64,
) -> Provenance {
    let header = trace.header();
    let Provenance { tool, source, command: made } = &header.provenance;
    let path = trace.path().display();
    let drawn = design.map(|design| design.options(seed)).unwrap_or_default();
    Provenance {
        tool: format!("warpmem {}", env!("CARGO_PKG_VERSION")),
        source: format!(
            "part of {path} (content {:016x}), by {tool} from {source} with {made}",
            header.content_hash
        ),
        command: format!(
            "warpmem sample {}{}{drawn}",
            quoted(&trace.path().to_string_lossy()),
            selection.options()
        ),
    }
}

/// Formats options as on the command line, each preceded by a blank.
fn formatted<const N: usize>(options: [(&str, Option<String>); N]) -> String {
    let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.map(|(name, value)| format!(" --{name} {value}")).collect()
}

impl Selection {
    /// Formats the selection as options of the command line, each preceded by a blank.
    fn options(&self) -> String {
        let part = |ranges: &Ranges| (*ranges != Ranges::all()).then(|| ranges.to_string());
        let options = formatted([
            ("kernels", part(&self.kernels)),
            ("kernel-name", self.kernel_name.as_deref().map(quoted)),
            ("ctas", part(&self.ctas)),
        ]);
        let longest = if self.longest { " --longest" } else { "" };
        options + longest
    }
}

impl Design {
    /// Formats the design as options of the command line, each preceded by a blank.
    fn options(&self, seed: u64) -> String {
        let (name, size) = match self.size {
            Size::Fraction(fraction) => ("fraction", fraction.to_string()),
            Size::Ctas(ctas) => ("ctas-per-kernel", ctas.to_string()),
        };
        let usual = Design::of(self.size).at_least;
        formatted([
            (name, Some(size)),
            ("at-least", (self.at_least != usual).then(|| self.at_least.to_string())),
            ("run", self.run.map(|run| run.to_string())),
            ("seed", Some(seed.to_string())),
        ])
    }
}
