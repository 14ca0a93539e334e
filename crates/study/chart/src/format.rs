//! Sizes of charts: in print, on a screen, on a phone.

/// Widths of charts and heights of plots. Text has the same size in all formats, so that a larger
/// format has room for more marks and names beside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Widths in points if everything fits in a column, and otherwise.
    column: f64,
    page: f64,
    /// Heights of plots, as multiples of those in print.
    stretch: f64,
    /// Beginning of the ids in an SVG, so that a chart can be in a document in several formats.
    pub(super) prefix: &'static str,
}

/// Widths of a column and of a page on a screen; two columns and the gap between them are a page.
const SCREEN_COLUMN: f64 = 360.0;
const SCREEN_PAGE: f64 = 740.0;

impl Format {
    /// A column or a page of print: 3.4 and 7 inches.
    pub const PRINT: Format = Format { column: 244.8, page: 504.0, stretch: 1.0, prefix: "chart" };
    /// Half the width of a page on a desktop, or all of it.
    pub const SCREEN: Format =
        Format { column: SCREEN_COLUMN, page: SCREEN_PAGE, stretch: 1.25, prefix: "screen" };
    /// All the width of a page on a desktop, also for a chart that would fit in half of it.
    pub const WIDE_SCREEN: Format = Format { column: SCREEN_PAGE, ..Format::SCREEN };
    /// The width of a phone for all charts: what does not fit there takes more rows.
    pub const PHONE: Format = Format { column: 230.0, page: 230.0, stretch: 1.0, prefix: "phone" };

    /// The width of a chart; `is_wide` if its marks do not fit in a column.
    pub(super) fn width(&self, is_wide: bool) -> f64 {
        if is_wide { self.page } else { self.column }
    }

    /// A height of print in this format.
    pub(super) fn height(&self, height: f64) -> f64 {
        self.stretch * height
    }
}
