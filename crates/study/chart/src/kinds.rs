//! Kinds of charts, and the columns that each draws.
//!
//! Categories, series and panels are columns of any type, shown as text in the order of first
//! appearance; values are numeric columns.

use super::axis::Axis;
use super::dots::Dots;
use super::matrix::Matrix;

/// Kind of chart.
#[derive(Clone, Debug)]
pub enum Kind {
    Bars(Bars),
    StackedBars(StackedBars),
    Boxes(Boxes),
    Tails(Tails),
    Scatter(Scatter),
    Lines(Lines),
    HeatMap(HeatMap),
    Dots(Dots),
    Matrix(Matrix),
}

/// Grouped bars: a group for each category, and in it a bar for each series.
#[derive(Clone, Debug)]
pub struct Bars {
    pub(super) category: String,
    pub(super) series: String,
    pub(super) value: String,
    pub(super) range: Option<[String; 2]>,
    pub(super) axis: Axis,
    pub(super) set_apart: Vec<String>,
    pub(super) reference: Option<f64>,
    pub(super) across: Option<String>,
    pub(super) are_whole: bool,
    pub(super) are_horizontal: bool,
}

impl Bars {
    /// Makes bars of height `value`.
    pub fn new(
        category: impl Into<String>,
        series: impl Into<String>,
        value: impl Into<String>,
        axis: Axis,
    ) -> Bars {
        let (category, series, value) = (category.into(), series.into(), value.into());
        Bars {
            category,
            series,
            value,
            range: None,
            axis,
            set_apart: Vec::new(),
            reference: None,
            across: None,
            are_whole: false,
            are_horizontal: false,
        }
    }

    /// Draws horizontal bars, with the full names of categories on the left and values at the bar
    /// ends: for few bars with long names.
    pub fn horizontal(mut self) -> Bars {
        self.are_horizontal = true;
        self
    }

    /// Draws a whisker over each bar whose row has values in these columns: the minimum and maximum
    /// of the values averaged by the bar. Horizontal bars have none.
    pub fn range(mut self, least: impl Into<String>, greatest: impl Into<String>) -> Bars {
        self.range = Some([least.into(), greatest.into()]);
        self
    }

    /// Sets the title of the categories, written below them.
    pub fn across(mut self, title: impl Into<String>) -> Bars {
        self.across = Some(title.into());
        self
    }

    /// Draws every bar in full, however long: for shares of a whole.
    pub fn whole(mut self) -> Bars {
        self.are_whole = true;
        self
    }

    /// Separates categories such as means at the right end.
    pub fn set_apart<S: Into<String>>(mut self, categories: impl IntoIterator<Item = S>) -> Bars {
        self.set_apart = categories.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a horizontal reference line at `value`, such as 1 for ratios.
    pub fn reference(mut self, value: f64) -> Bars {
        self.reference = Some(value);
        self
    }
}

/// Bars of stacked parts.
#[derive(Clone, Debug)]
pub struct StackedBars {
    pub(super) category: String,
    pub(super) series: Option<String>,
    pub(super) part: String,
    pub(super) value: String,
    pub(super) axis: Axis,
    pub(super) are_shares: bool,
}

impl StackedBars {
    /// Makes a bar for each category, as high as the sum of its parts.
    pub fn new(
        category: impl Into<String>,
        part: impl Into<String>,
        value: impl Into<String>,
        axis: Axis,
    ) -> StackedBars {
        let (category, part, value) = (category.into(), part.into(), value.into());
        StackedBars { category, series: None, part, value, axis, are_shares: false }
    }

    /// Draws several bars per category, each named below it.
    pub fn series(mut self, series: impl Into<String>) -> StackedBars {
        self.series = Some(series.into());
        self
    }

    /// Scales all bars to the same height: parts are percentages of their sum.
    pub fn shares(mut self) -> StackedBars {
        self.are_shares = true;
        self
    }
}

/// Distributions by percentiles: a box from 25 to 75 with a line at the median, whiskers from 1 to
/// 99, the maximum as a dot (as in Figs 5 and 12 of Warped-MC).
#[derive(Clone, Debug)]
pub struct Boxes {
    pub(super) category: String,
    pub(super) series: String,
    /// Columns of percentiles 1, 25, 50, 75 and 99.
    pub(super) percentiles: [String; 5],
    pub(super) greatest: Option<String>,
    pub(super) axis: Axis,
    pub(super) reference: Option<f64>,
}

impl Boxes {
    /// Makes boxes of the columns `METRIC_p1`, `_p25`, `_p50`, `_p75`, `_p99` and `_max`.
    pub fn of(
        metric: &str,
        category: impl Into<String>,
        series: impl Into<String>,
        axis: Axis,
    ) -> Boxes {
        let percentiles = [1, 25, 50, 75, 99].map(|p| format!("{metric}_p{p}"));
        let greatest = Some(format!("{metric}_max"));
        Boxes::new(category, series, percentiles, greatest, axis)
    }

    /// Makes boxes of the named columns: percentiles 1, 25, 50, 75 and 99, and the maximum.
    pub fn new(
        category: impl Into<String>,
        series: impl Into<String>,
        percentiles: [String; 5],
        greatest: Option<String>,
        axis: Axis,
    ) -> Boxes {
        let (category, series) = (category.into(), series.into());
        Boxes { category, series, percentiles, greatest, axis, reference: None }
    }

    /// Adds a horizontal reference line at `value`.
    pub fn reference(mut self, value: f64) -> Boxes {
        self.reference = Some(value);
        self
    }
}

/// Share of values greater than or equal to x, as steps on logarithmic axes.
#[derive(Clone, Debug)]
pub struct Tails(pub(super) Lines);

impl Tails {
    /// Draws the tail of each series: `share` is the fraction of values of at least `x`, as
    /// computed by [`tail`](warpmem_analysis::tail).
    pub fn new(
        x: impl Into<String>,
        share: impl Into<String>,
        series: impl Into<String>,
        x_axis: Axis,
    ) -> Tails {
        let y_axis = Axis::percent("share at or above").log();
        let lines = Lines::new(x, share, series, x_axis.log(), y_axis);
        Tails(Lines { are_steps: true, ..lines })
    }

    /// Draws a panel for each value of `column`, all with the same axes.
    pub fn panels(self, column: impl Into<String>) -> Tails {
        Tails(self.0.panels(column))
    }
}

/// Points; each series has a colour and a shape.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) series: String,
    pub(super) x_axis: Axis,
    pub(super) y_axis: Axis,
    pub(super) group: Option<String>,
    pub(super) baseline: Option<String>,
    pub(super) equal: Option<Equal>,
}

/// Lines around y = x.
#[derive(Clone, Debug)]
pub(super) struct Equal {
    pub bands: [f64; 3],
    pub named: f64,
}

impl Scatter {
    /// Draws a point for each row.
    pub fn new(
        x: impl Into<String>,
        y: impl Into<String>,
        series: impl Into<String>,
        x_axis: Axis,
        y_axis: Axis,
    ) -> Scatter {
        let (x, y, series) = (x.into(), y.into(), series.into());
        Scatter { x, y, series, x_axis, y_axis, group: None, baseline: None, equal: None }
    }

    /// Compares a positive quantity measured by two sides: both axes show the same values, with
    /// lines at y = x and where y deviates from x by the fractions `bands`. Only points that
    /// deviate by more than `named` are labelled, by their groups.
    pub fn against_equal(mut self, bands: [f64; 3], named: f64) -> Scatter {
        self.equal = Some(Equal { bands, named });
        self
    }

    /// Groups points with the same value of `column` (the runs of a workload); each group is named
    /// at one of its points.
    pub fn group(mut self, column: impl Into<String>) -> Scatter {
        self.group = Some(column.into());
        self
    }

    /// Draws arrows from a group's point of this series to its others.
    pub fn arrows_from(mut self, series: impl Into<String>) -> Scatter {
        self.baseline = Some(series.into());
        self
    }
}

/// Lines through the points of each series, in the order of x: parameter sweeps, time series.
#[derive(Clone, Debug)]
pub struct Lines {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) series: String,
    pub(super) x_axis: Axis,
    pub(super) y_axis: Axis,
    pub(super) panel: Option<String>,
    pub(super) reference: Option<f64>,
    pub(super) are_steps: bool,
    pub(super) marks: Option<String>,
    pub(super) ticks: Vec<(f64, String)>,
    pub(super) has_zero: bool,
}

impl Lines {
    /// Draws lines of `y` over `x`.
    pub fn new(
        x: impl Into<String>,
        y: impl Into<String>,
        series: impl Into<String>,
        x_axis: Axis,
        y_axis: Axis,
    ) -> Lines {
        let (x, y, series) = (x.into(), y.into(), series.into());
        Lines {
            x,
            y,
            series,
            x_axis,
            y_axis,
            panel: None,
            reference: None,
            are_steps: false,
            marks: None,
            ticks: Vec::new(),
            has_zero: false,
        }
    }

    /// Includes zero on the vertical axis, for quantities compared by size.
    pub fn with_zero(mut self) -> Lines {
        self.has_zero = true;
        self
    }

    /// Marks only the points for which `column` has a text, and labels them with it unless it is
    /// empty.
    pub fn marks(mut self, column: impl Into<String>) -> Lines {
        self.marks = Some(column.into());
        self
    }

    /// Sets the tick values along x in place of round numbers.
    pub fn ticks(mut self, ticks: impl IntoIterator<Item = (f64, String)>) -> Lines {
        self.ticks = ticks.into_iter().collect();
        self
    }

    /// Draws a panel for each value of `column`, all with the same axes.
    pub fn panels(mut self, column: impl Into<String>) -> Lines {
        self.panel = Some(column.into());
        self
    }

    /// Adds a horizontal reference line at `value`.
    pub fn reference(mut self, value: f64) -> Lines {
        self.reference = Some(value);
        self
    }
}

/// Coloured cells: for instance, channels horizontally and banks vertically.
#[derive(Clone, Debug)]
pub struct HeatMap {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) value: String,
    pub(super) x_axis: Axis,
    pub(super) y_axis: Axis,
    pub(super) colours: Axis,
    pub(super) panel: Option<String>,
    pub(super) marks: Vec<Mark>,
}

/// A point on a heat map, written as its number; numbers begin at 1.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Text beside the mark.
    pub label: String,
    /// Columns and rows from the middle of the first cell; fractions lie between cells.
    pub at: (f64, f64),
}

impl HeatMap {
    /// Draws a cell for each row, in the colour of `value` on the scale of `colours`.
    pub fn new(
        x: impl Into<String>,
        y: impl Into<String>,
        value: impl Into<String>,
        x_axis: Axis,
        y_axis: Axis,
        colours: Axis,
    ) -> HeatMap {
        let (x, y, value) = (x.into(), y.into(), value.into());
        HeatMap { x, y, value, x_axis, y_axis, colours, panel: None, marks: Vec::new() }
    }

    /// Adds points to the first map.
    pub fn marks(mut self, marks: impl IntoIterator<Item = Mark>) -> HeatMap {
        self.marks = marks.into_iter().collect();
        self
    }

    /// Draws a map for each value of `column`, all with the same colours.
    pub fn panels(mut self, column: impl Into<String>) -> HeatMap {
        self.panel = Some(column.into());
        self
    }
}

macro_rules! kinds {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Kind {
            fn from(kind: $kind) -> Kind {
                Kind::$kind(kind)
            }
        })*
    };
}

kinds!(Bars, StackedBars, Boxes, Tails, Scatter, Lines, HeatMap, Dots, Matrix);
