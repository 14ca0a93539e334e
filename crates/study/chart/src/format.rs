//! Sizes of charts: in print, on a screen, on a phone.

/// Widths of charts and heights of plots. Text has the same size in all formats, so a larger format
/// fits more marks and names side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Width in points of a chart that fits in a column; `page` of any other.
    pub(super) column: f64,
    pub(super) page: f64,
    /// Plot height as a multiple of the height in print.
    pub(super) stretch: f64,
    /// Largest number of cells of a map with a tooltip each; a map with more is a picture.
    pub(super) cells: usize,
    /// Whether marks have tooltips.
    pub(super) has_tips: bool,
    /// Prefix of the ids in an SVG, so that one document can contain a chart in several formats.
    pub(super) prefix: &'static str,
}

/// Widths of a column and of a page on a screen; a page is two columns and the gap between them.
const SCREEN_COLUMN: f64 = 360.0;
const SCREEN_PAGE: f64 = 740.0;

/// Largest number of cells with tooltips.
const CELLS: usize = 1600;

impl Format {
    /// Column or page of print: 3.4 and 7 inches.
    pub const PRINT: Format = Format {
        column: 244.8,
        page: 504.0,
        stretch: 1.0,
        cells: CELLS,
        has_tips: true,
        prefix: "chart",
    };
    /// Half or the full width of a page on a desktop.
    pub const SCREEN: Format = Format {
        column: SCREEN_COLUMN,
        page: SCREEN_PAGE,
        stretch: 1.25,
        cells: CELLS,
        has_tips: true,
        prefix: "screen",
    };
    /// Full width of a page on a desktop, even for a chart that would fit in half of it.
    pub const WIDE_SCREEN: Format = Format { column: SCREEN_PAGE, ..Format::SCREEN };
    /// Width of a phone for all charts: content that does not fit wraps into more rows. Phones show
    /// no tooltips.
    pub const PHONE: Format = Format {
        column: 230.0,
        page: 230.0,
        stretch: 1.0,
        cells: 64,
        has_tips: false,
        prefix: "phone",
    };

    /// Returns the width of a chart; `is_wide` if its marks do not fit in a column.
    pub(super) fn width(&self, is_wide: bool) -> f64 {
        if is_wide { self.page } else { self.column }
    }

    /// Converts a height in print to this format.
    pub(super) fn height(&self, height: f64) -> f64 {
        self.stretch * height
    }
}
