//! Charts on a page: two per row on a desktop, one per row on a phone.

use maud::{Markup, PreEscaped, html};
use warpmem_chart::{Chart, Drawing, Format};

/// Renders consecutive charts. Each is drawn twice, and the page's style shows the drawing that
/// fits the screen: text drawn for a desktop would be illegible on a phone.
pub fn charts(charts: &[&Chart]) -> anyhow::Result<Markup> {
    let drawn = charts.iter().map(|chart| chart.drawn_in(Format::SCREEN));
    let drawn = drawn.collect::<anyhow::Result<Vec<Drawing>>>()?;
    let are_wide: Vec<bool> = drawn.iter().map(|one| one.is_wide(Format::SCREEN)).collect();
    let whole_rows = whole_rows(&are_wide);
    let figures = charts.iter().zip(drawn).zip(are_wide.iter().zip(whole_rows));
    let figures = figures.map(|((chart, drawing), (is_wide, is_whole_row))| {
        let is_alone = is_whole_row && !is_wide;
        let drawing = if is_alone { chart.drawn_in(Format::WIDE_SCREEN)? } else { drawing };
        figure(chart, &drawing, is_whole_row)
    });
    let figures = figures.collect::<anyhow::Result<Vec<Markup>>>()?;
    Ok(html! { div.charts { @for figure in &figures { (figure) } } })
}

/// Returns the charts that take a whole row: wide ones, and those without a neighbour.
fn whole_rows(are_wide: &[bool]) -> Vec<bool> {
    let mut are_whole = are_wide.to_vec();
    let mut at = 0;
    while at < are_wide.len() {
        let is_pair = are_wide[at..].starts_with(&[false, false]);
        are_whole[at] = !is_pair;
        at += if is_pair { 2 } else { 1 };
    }
    are_whole
}

fn figure(chart: &Chart, screen: &Drawing, is_whole_row: bool) -> anyhow::Result<Markup> {
    let phone = chart.drawn_in(Format::PHONE)?;
    Ok(html! {
        figure.chart.whole-row[is_whole_row] id={ "figure-" (chart.name) } {
            div.panel.screen { (PreEscaped(&screen.svg)) }
            div.panel.phone { (PreEscaped(&phone.svg)) }
            figcaption { strong { (chart.title) ". " } (chart.caption) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_without_a_neighbour_takes_its_row() {
        let (wide, narrow) = (true, false);
        assert_eq!(whole_rows(&[narrow, narrow]), [false, false]);
        assert_eq!(whole_rows(&[narrow, wide, narrow]), [true, true, true]);
        assert_eq!(whole_rows(&[wide, narrow, narrow, narrow]), [true, false, false, true]);
        assert!(whole_rows(&[]).is_empty());
    }
}
