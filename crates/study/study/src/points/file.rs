//! The points file: CSV with a heading, a point per line; `#` begins a comment line.

use super::error::PointsError;
use super::unit::Unit;
use super::workload::Workload;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use warpmem_gpu::slots::List;
use warpmem_params::{did_you_mean, nearest, parse_whole};

/// Measured points.
#[derive(Clone, Debug)]
pub struct PointsFile {
    pub path: PathBuf,
    pub points: Vec<Point>,
}

/// A measured figure of a GPU, and the run that models it.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Line in the file, from 1.
    pub line: usize,
    pub gpu: String,
    /// Group of similar points, for summaries.
    pub class: String,
    /// Machine that models the GPU, and overrides for this card.
    pub machine: String,
    pub overrides: Vec<String>,
    pub workload: Workload,
    /// Shorter workload whose cycles are subtracted, so that start and end cancel.
    pub less: Option<Workload>,
    /// Name of the figure.
    pub figure: String,
    /// Loads or bytes of the workload, less those of `less`; 1 if the unit is cycles.
    pub work: f64,
    pub unit: Unit,
    /// Measured value.
    pub value: f64,
    pub source: String,
}

impl Point {
    /// Formats a label: `A100-40GB: triad, 512 threads`.
    pub fn label(&self) -> String {
        format!("{}: {}", self.gpu, self.figure)
    }

    /// Iterates over the workloads to run.
    pub fn workloads(&self) -> impl Iterator<Item = &Workload> {
        [&self.workload].into_iter().chain(&self.less)
    }
}

/// Selection of points; an absent list passes all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub classes: Option<List>,
    pub gpus: Option<List>,
    /// Kernels of the workloads, as `pointer-chase`.
    pub kernels: Option<List>,
}

const COLUMNS: [&str; 11] = [
    "gpu", "class", "machine", "set", "workload", "less", "figure", "work", "unit", "value",
    "source",
];
const REQUIRED: [&str; 6] = ["gpu", "machine", "workload", "figure", "unit", "value"];
/// Class of points without one.
const NO_CLASS: &str = "all";

impl PointsFile {
    /// # Errors
    /// If the file cannot be read, or a point is not valid; names the line and the column.
    pub fn read(path: &Path) -> Result<PointsFile, PointsError> {
        let text = warpmem_support::files::text::read(path)
            .map_err(|source| PointsError::Read { path: path.to_owned(), source })?;
        PointsFile::from_text(&text, path)
    }

    /// Parses the text of a points file; `path` names it, and traces are relative to its folder.
    ///
    /// # Errors
    /// As [`PointsFile::read`].
    pub fn from_text(text: &str, path: &Path) -> Result<PointsFile, PointsError> {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let heading = lines.next().map(|(text, line)| Row::parse(path, text, line)).transpose()?;
        let heading = Heading::new(heading, path)?;
        let points = lines.map(|(text, line)| heading.point(&Row::parse(path, text, line)?));
        let points = points.collect::<Result<Vec<_>, _>>()?;
        if points.is_empty() {
            return Err(PointsError::NoPoint { path: path.to_owned() });
        }
        Ok(PointsFile { path: path.to_owned(), points })
    }

    /// Returns the points that pass the filter.
    ///
    /// # Errors
    /// If a list names something that no point has, or no point is left.
    pub fn chosen(&self, filter: &Filter) -> Result<Vec<&Point>, PointsError> {
        type Name = fn(&Point) -> &str;
        let lists: [(&Option<List>, &'static str, Name); 3] = [
            (&filter.classes, "class", |point| &point.class),
            (&filter.gpus, "GPU", |point| &point.gpu),
            (&filter.kernels, "kernel", |point| point.workload.kernel()),
        ];
        for (list, what, name) in &lists {
            self.check(list.as_ref(), what, *name)?;
        }
        let passes = |point: &&Point| {
            let is_listed = |list: &List, name: Name| list.0.iter().any(|item| item == name(point));
            lists
                .iter()
                .all(|(list, _, name)| list.as_ref().is_none_or(|list| is_listed(list, *name)))
        };
        let chosen: Vec<&Point> = self.points.iter().filter(passes).collect();
        if chosen.is_empty() {
            return Err(PointsError::NoPoint { path: self.path.clone() });
        }
        Ok(chosen)
    }

    /// Refuses a listed name that no point has.
    fn check(
        &self,
        list: Option<&List>,
        what: &'static str,
        name: fn(&Point) -> &str,
    ) -> Result<(), PointsError> {
        let known: BTreeSet<&str> = self.points.iter().map(name).collect();
        let mut listed = list.into_iter().flat_map(|list| &list.0);
        let Some(unknown) = listed.find(|item| !known.contains(item.as_str())) else {
            return Ok(());
        };
        Err(PointsError::Unknown {
            path: self.path.clone(),
            what,
            name: unknown.clone(),
            meant: did_you_mean(nearest(unknown, known.iter().copied())),
            known: known.into_iter().collect::<Vec<_>>().join(", "),
        })
    }
}

/// The cells of a line.
struct Row<'p> {
    path: &'p Path,
    line: usize,
    cells: Vec<String>,
}

impl<'p> Row<'p> {
    fn parse(path: &'p Path, text: &str, line: usize) -> Result<Row<'p>, PointsError> {
        let cells = cells(text);
        let cells = cells.map_err(|message| PointsError::Line {
            path: path.to_owned(),
            line,
            message: message.to_owned(),
        })?;
        Ok(Row { path, line, cells })
    }

    fn refused(&self, message: String) -> PointsError {
        PointsError::Line { path: self.path.to_owned(), line: self.line, message }
    }

    fn refused_at(&self, column: &'static str, message: String) -> PointsError {
        PointsError::Cell { path: self.path.to_owned(), line: self.line, column, message }
    }
}

/// Splits a line at commas outside quotes. In quotes, `""` is a quote.
fn cells(text: &str) -> Result<Vec<String>, &'static str> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let cell = cells.last_mut().expect("there is a first cell");
        match c {
            '"' if is_quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' if is_quoted || cell.trim().is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    match is_quoted {
        true => Err("a quote is not closed"),
        false => Ok(cells.iter().map(|cell| cell.trim().to_owned()).collect()),
    }
}

/// Position of every column.
struct Heading {
    places: Vec<(&'static str, usize)>,
    columns: usize,
}

impl Heading {
    fn new(row: Option<Row<'_>>, path: &Path) -> Result<Heading, PointsError> {
        let Some(row) = row else {
            return Err(PointsError::NoPoint { path: path.to_owned() });
        };
        let mut places: Vec<(&'static str, usize)> = Vec::new();
        for (at, name) in row.cells.iter().enumerate() {
            let Some(column) = COLUMNS.into_iter().find(|column| column == name) else {
                let meant = did_you_mean(nearest(name, COLUMNS.into_iter()));
                let valid = COLUMNS.join(", ");
                return Err(row.refused(format!("unknown column `{name}`{meant}; valid: {valid}")));
            };
            if places.iter().any(|(other, _)| *other == column) {
                return Err(row.refused(format!("column `{column}` is given twice")));
            }
            places.push((column, at));
        }
        let has = |column: &str| places.iter().any(|(other, _)| *other == column);
        match REQUIRED.into_iter().find(|column| !has(column)) {
            Some(missing) => Err(row.refused(format!("column `{missing}` is missing"))),
            None => Ok(Heading { places, columns: row.cells.len() }),
        }
    }

    /// Returns the text of a cell; empty without the column.
    fn cell<'r>(&self, row: &'r Row<'_>, column: &str) -> &'r str {
        let place = self.places.iter().find(|(other, _)| *other == column);
        place.map_or("", |(_, at)| &row.cells[*at])
    }

    fn point(&self, row: &Row<'_>) -> Result<Point, PointsError> {
        if row.cells.len() != self.columns {
            let (found, expected) = (row.cells.len(), self.columns);
            return Err(row.refused(format!("{found} cells; the heading has {expected}")));
        }
        if let Some(empty) = REQUIRED.into_iter().find(|column| self.cell(row, column).is_empty()) {
            return Err(row.refused_at(empty, "expected a value, found none".to_owned()));
        }
        let text = |column| self.cell(row, column).to_owned();
        let refused = |column| move |message| row.refused_at(column, message);
        let folder = row.path.parent().unwrap_or(Path::new(""));
        let workload = |column: &'static str| {
            Workload::parse(self.cell(row, column), folder).map_err(refused(column))
        };
        let unit = Unit::parse(self.cell(row, "unit")).map_err(refused("unit"))?;
        let class = Some(text("class")).filter(|class| !class.is_empty());
        let overrides = self.cell(row, "set").split(';').map(str::trim);
        Ok(Point {
            line: row.line,
            gpu: text("gpu"),
            class: class.unwrap_or_else(|| NO_CLASS.to_owned()),
            machine: text("machine"),
            overrides: overrides.filter(|text| !text.is_empty()).map(str::to_owned).collect(),
            workload: workload("workload")?,
            less: match self.cell(row, "less") {
                "" => None,
                _ => Some(workload("less")?),
            },
            figure: text("figure"),
            work: work(self.cell(row, "work"), unit).map_err(refused("work"))?,
            unit,
            value: positive(self.cell(row, "value")).map_err(refused("value"))?,
            source: text("source"),
        })
    }
}

/// Parses the work of a run: a product of whole numbers, as `24*2^20`.
fn work(text: &str, unit: Unit) -> Result<f64, String> {
    match (text.is_empty(), unit.needs_work()) {
        (true, false) => return Ok(1.0),
        (true, true) => {
            let name = unit.name();
            return Err(format!("`{name}` needs the work of the run, as `24*2^20` bytes or loads"));
        }
        (false, false) => return Err("valid: nothing, because the unit is cycles".to_owned()),
        (false, true) => {}
    }
    let factors = text.split('*').map(|factor| parse_whole(factor.trim()).filter(|&n| n > 0));
    let product = factors.map(|factor| factor.map(|factor| factor as f64)).product::<Option<f64>>();
    product.ok_or_else(|| format!("`{text}` is no product of whole numbers; valid: `24*2^20`"))
}

fn positive(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| format!("`{text}` is not a value; valid: a positive number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "gpu,class,machine,set,workload,less,figure,work,unit,value";

    fn read(text: &str) -> Result<PointsFile, String> {
        PointsFile::from_text(text, Path::new("p.csv")).map_err(|error| error.to_string())
    }

    fn line(line: &str) -> Result<PointsFile, String> {
        read(&format!("# a comment\n\n{HEADING}\n{line}\n"))
    }

    #[test]
    fn a_point_has_its_columns_in_any_order() {
        let file = line(
            "V100,chase,v100,sm.max_ctas=2; l1.latency=30,pointer-chase --hops 200,pointer-chase --hops 100,\"L1, cold\",100,cycles/load,29.9",
        );
        let point = &file.unwrap().points[0];
        assert_eq!((point.line, point.label().as_str()), (4, "V100: L1, cold"));
        assert_eq!(point.overrides, ["sm.max_ctas=2", "l1.latency=30"]);
        assert_eq!((point.work, point.value, point.unit), (100.0, 29.9, Unit::CyclesPerLoad));
        assert_eq!(point.workloads().count(), 2);
        let other = read("value,unit,figure,workload,machine,gpu\n5,cycles,f,vecadd,v100,A\n");
        let point = &other.unwrap().points[0];
        assert_eq!((point.class.as_str(), point.work, &point.less), ("all", 1.0, &None));
    }

    #[test]
    fn errors_name_file_line_and_column() {
        for (bad, message) in [
            ("V,c,v100,,vecadd,,f,4,GB/s", "p.csv:4: 9 cells; the heading has 10"),
            ("V,c,v100,,vecadd,,f,,cycles,\"5", "p.csv:4: a quote is not closed"),
            (",c,v100,,vecadd,,f,,cycles,5", "p.csv:4: column `gpu`: expected a value, found none"),
            (
                "V,c,v100,,vecad,,f,,cycles,5",
                "p.csv:4: column `workload`: unknown kernel `vecad` (did you mean `vecadd`?)",
            ),
            ("V,c,v100,,vecadd,x,f,,cycles,5", "p.csv:4: column `less`: unknown kernel `x`"),
            ("V,c,v100,,vecadd,,f,4,GBs,5", "p.csv:4: column `unit`: `GBs` is not a unit"),
            (
                "V,c,v100,,vecadd,,f,,GB/s,5",
                "p.csv:4: column `work`: `GB/s` needs the work of the run",
            ),
            ("V,c,v100,,vecadd,,f,4,cycles,5", "p.csv:4: column `work`: valid: nothing"),
            ("V,c,v100,,vecadd,,f,4*x,GB/s,5", "p.csv:4: column `work`: `4*x` is no product"),
            ("V,c,v100,,vecadd,,f,0,GB/s,5", "p.csv:4: column `work`: `0` is no product"),
            ("V,c,v100,,vecadd,,f,,cycles,-5", "p.csv:4: column `value`: `-5` is not a value"),
            ("V,c,v100,,vecadd,,f,,cycles,nan", "p.csv:4: column `value`: `nan` is not a value"),
        ] {
            let refused = line(bad).unwrap_err();
            assert!(refused.starts_with(message), "{bad}: {refused}");
        }
        for (text, message) in [
            ("", "p.csv has no point that passes all filters"),
            ("gpu,clas\n", "p.csv:1: unknown column `clas` (did you mean `class`?); valid: gpu,"),
            ("gpu,gpu\n", "p.csv:1: column `gpu` is given twice"),
            ("gpu,machine\n", "p.csv:1: column `workload` is missing"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.starts_with(message), "{text}: {refused}");
        }
    }

    #[test]
    fn filters_select_by_class_gpu_and_kernel() {
        let file = read(&format!(
            "{HEADING}\nV,a,v100,,vecadd,,f,,cycles,5\nV,b,v100,,gups,,f,,cycles,5\nH,a,h100,,gups,,f,,cycles,5\n"
        ))
        .unwrap();
        let list = |text: &str| Some(List::parse(text).unwrap());
        let lines = |filter: Filter| -> Result<Vec<usize>, String> {
            let chosen = file.chosen(&filter).map_err(|error| error.to_string())?;
            Ok(chosen.iter().map(|point| point.line).collect())
        };
        assert_eq!(lines(Filter::default()), Ok(vec![2, 3, 4]));
        assert_eq!(lines(Filter { classes: list("a"), ..Filter::default() }), Ok(vec![2, 4]));
        let both = Filter { gpus: list("V"), kernels: list("gups,vecadd"), ..Filter::default() };
        assert_eq!(lines(both), Ok(vec![2, 3]));
        let none = Filter { gpus: list("H"), classes: list("b"), ..Filter::default() };
        assert!(lines(none).unwrap_err().contains("no point that passes"));
        let unknown = lines(Filter { kernels: list("gupz"), ..Filter::default() }).unwrap_err();
        assert_eq!(
            unknown,
            "p.csv has no point of kernel `gupz` (did you mean `gups`?); it has gups, vecadd"
        );
    }
}
