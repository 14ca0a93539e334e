//! Charts of the comparison: a ranking of all policies, and the change on each workload.

use super::standings::{GREATEST, LEAST, Standings};
use crate::columns::{BESIDE, HIGH, LOW, POLICY, RATIO, SETTING};
use crate::frame::{distinct, has_value, is_one_of, ordered};
use crate::limits::{MOST_POLICIES, MOST_TRACES, Shown};
use crate::sections::{Scope, scopes};
use crate::study::Study;
use polars::prelude::*;
use warpmem_analysis::polars;
use warpmem_chart::{Axis, Bars, Chart, Dots, Matrix};

/// Largest numbers of policies and workloads of bars; more are cells of a map.
const FEW_POLICIES: usize = 4;
const FEW_TRACES: usize = 24;

/// Draws a ranking for each setting, and the change of each workload.
pub fn charts(standings: &Standings, study: &Study, shown: &Shown) -> anyhow::Result<Vec<Chart>> {
    let mut charts = Vec::new();
    for scope in scopes(study, shown)? {
        let rows = standings.rows(&scope.setting).collect()?;
        let rows = match study.are_ordered[0] {
            true => ordered(&rows, POLICY, &study.policies)?,
            false => rows,
        };
        if rows.height() == 0 {
            continue;
        }
        let ranking = Ranking { study, scope: &scope, rows };
        charts.push(ranking.dots()?);
        // With one workload, its ratios are the means.
        if study.workload_names.len() > 1 {
            charts.push(ranking.workloads()?);
        }
    }
    Ok(charts)
}

/// The ranked policies of a setting.
struct Ranking<'a> {
    study: &'a Study,
    scope: &'a Scope,
    rows: DataFrame,
}

impl Ranking<'_> {
    fn dots(&self) -> anyhow::Result<Chart> {
        let changes = [RATIO, LEAST, GREATEST, LOW, HIGH].map(|ratio| col(ratio) - lit(1.0));
        let columns = [&[col(POLICY)], &changes[..]].concat();
        let all = self.rows.height();
        let data =
            self.rows.clone().lazy().select(columns).limit(MOST_POLICIES as u32).collect()?;
        let kind = Dots::new(POLICY, RATIO, self.axis()).reference(0.0).interval(LOW, HIGH);
        // The spread over one workload is the workload.
        let (kind, spread) = match self.study.workload_names.len() {
            1 => (kind, ""),
            _ => (
                kind.range(LEAST, GREATEST),
                "; grey lines from the lowest to the highest workload",
            ),
        };
        let first = if self.study.are_ordered[0] { "" } else { ", the fastest policy first" };
        let caption = format!(
            "Change of thread IPC{} relative to {}{first}: {} over workloads{spread}{}{}.",
            self.scope.on,
            self.scope.baseline,
            self.study.mean_name(),
            self.interval(&data),
            cut(data.height(), all, "policies"),
        );
        let name = format!("ipc-means{}", self.scope.file);
        Ok(Chart::new(name, "Policies by mean IPC", caption, data, kind))
    }

    fn axis(&self) -> Axis {
        Axis::percent(format!("IPC above {}", self.scope.baseline))
    }

    /// Describes the brackets, if there are any.
    fn interval(&self, data: &DataFrame) -> &'static str {
        match has_value(data, LOW) {
            true => "; brackets are the 95 % confidence interval of the mean",
            false => "",
        }
    }

    fn workloads(&self) -> anyhow::Result<Chart> {
        let policies = distinct(&self.rows, POLICY)?;
        let is_shown = col(SETTING).eq(lit(self.scope.setting.as_str()));
        let is_shown = is_shown.and(is_one_of(POLICY, &policies));
        let rows = self.study.workloads.clone().lazy().filter(is_shown).collect()?;
        let is_few =
            policies.len() <= FEW_POLICIES && self.study.workload_names.len() <= FEW_TRACES;
        if is_few { self.bars(rows) } else { self.matrix(rows, &policies) }
    }

    fn bars(&self, rows: DataFrame) -> anyhow::Result<Chart> {
        let name = self.study.mean_name();
        let columns = ["trace", POLICY, RATIO, LOW, HIGH].map(col);
        let ranked = self.rows.clone().lazy().with_columns([lit(name.as_str()).alias("trace")]);
        let both = [rows.lazy().select(columns.clone()), ranked.select(columns)];
        let changes = [RATIO, LOW, HIGH].map(|ratio| col(ratio) - lit(1.0));
        let data = concat(both, UnionArgs::default())?.with_columns(changes).collect()?;
        let data = ordered(&data, POLICY, &distinct(&self.rows, POLICY)?)?;
        let bars = Bars::new("trace", POLICY, RATIO, self.axis()).range(LOW, HIGH);
        let interval = match has_value(&data, LOW) {
            true => "; whiskers are the 95 % confidence interval",
            false => "",
        };
        let caption = format!(
            "Change of thread IPC of each workload{} relative to {}; at the right the {name}{interval}.",
            self.scope.on, self.scope.baseline
        );
        let chart = format!("ipc{}", self.scope.file);
        let bars = bars.set_apart([name]);
        Ok(Chart::new(chart, "IPC of each workload against the baseline", caption, data, bars))
    }

    /// Draws a row per policy, in the order of the ranking, and a column per workload, beginning
    /// with that on which the fastest policy gains most.
    fn matrix(&self, rows: DataFrame, policies: &[String]) -> anyhow::Result<Chart> {
        let name = self.study.mean_name();
        let traces = match self.study.are_ordered[1] {
            true => self.study.workload_names.clone(),
            false => by_gain(&rows, policies)?,
        };
        let shown = &traces[..traces.len().min(MOST_TRACES)];
        let policies = &policies[..policies.len().min(MOST_POLICIES)];
        let columns = || ["trace", POLICY, RATIO].map(col);
        let ranked = self.rows.clone().lazy().with_columns([lit(name.as_str()).alias("trace")]);
        let both = [ranked.select(columns()), rows.lazy().select(columns())];
        let data = concat(both, UnionArgs::default())?;
        let data = data.with_columns([col(RATIO) - lit(1.0)]).collect()?;
        let of_all = [std::slice::from_ref(&name), shown].concat();
        let data = ordered(&ordered(&data, "trace", &of_all)?, POLICY, policies)?;
        let kind = Matrix::new(POLICY, "trace", RATIO, self.axis());
        let caption = format!(
            "Change of thread IPC of each workload{} relative to {}; {}{}.",
            self.scope.on,
            self.scope.baseline,
            self.order(),
            cut(shown.len(), traces.len(), "workloads")
        );
        let chart = format!("ipc{}", self.scope.file);
        let kind = kind.set_apart([name]);
        Ok(Chart::new(chart, "IPC of each workload against the baseline", caption, data, kind))
    }
}

impl Ranking<'_> {
    /// Describes the order of a map's rows and columns.
    fn order(&self) -> String {
        let name = self.study.mean_name();
        let policies = format!("policies in the order of their {name}");
        let workloads = "workloads in that of the fastest policy's change";
        match self.study.are_ordered {
            [false, false] => format!("{policies}, {workloads}"),
            [false, true] => policies,
            [true, false] => "workloads in the order of the first policy's change".to_owned(),
            [true, true] => format!("the {name} at the left"),
        }
    }
}

/// Returns the workloads by the ratio of the first policy that is not its own baseline, the
/// highest first.
fn by_gain(rows: &DataFrame, policies: &[String]) -> anyhow::Result<Vec<String>> {
    let changed = rows.clone().lazy().filter(col(POLICY).neq(col(BESIDE))).collect()?;
    let compared = distinct(&changed, POLICY)?;
    let fastest = policies.iter().find(|policy| compared.contains(policy));
    let gain = col(RATIO).filter(col(POLICY).eq(lit(fastest.map_or("", String::as_str))));
    let order = SortMultipleOptions::default()
        .with_order_descending(true)
        .with_nulls_last(true)
        .with_maintain_order(true);
    const GAIN: &str = "gain";
    let traces = rows.clone().lazy().group_by_stable([col("trace")]);
    distinct(&traces.agg([gain.first().alias(GAIN)]).sort([GAIN], order).collect()?, "trace")
}

/// Formats `; the first 120 of 200 policies`, if some are left out.
fn cut(shown: usize, all: usize, what: &str) -> String {
    if shown < all { format!("; the first {shown} of {all} {what}") } else { String::new() }
}
