//! Every kind of chart, with data like that of runs and with unusual data, checked by an SVG
//! reader: nothing extends beyond the page, and no two texts touch.
//!
//! `CHARTS=folder cargo test -p warpmem-chart` writes the pictures to that folder for visual
//! inspection.

mod gallery;
mod page;
mod random;

use super::*;
use gallery::*;

#[test]
fn every_chart_is_well_laid_out() {
    let folder = std::env::var_os("CHARTS").map(std::path::PathBuf::from);
    let mut faults = Vec::new();
    for chart in gallery() {
        let svg = chart.svg().expect("the columns are there");
        for format in [Format::PRINT, Format::SCREEN, Format::WIDE_SCREEN, Format::PHONE] {
            let drawing = chart.drawn_in(format).expect("as in print");
            let of_chart = page::faults(&drawing.svg).into_iter();
            faults.extend(of_chart.map(|fault| format!("{} in {format:?}: {fault}", chart.name)));
        }
        assert_eq!(svg, chart.svg().expect("as before"), "{}", chart.name);
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).expect("a folder");
            if !chart.name.contains('<') {
                chart.write_all(folder).expect("files");
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn marks_are_labelled_without_scripts() {
    let chart = ratios("bars", 2, &POLICIES[..2]);
    let svg = chart.svg().expect("a chart");
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert_eq!(root.attribute("aria-label"), Some("IPC"));
    assert_eq!(root.attribute("width"), Some("3.4in"));
    let text = |name| document.descendants().find(|node| node.has_tag_name(name))?.text();
    assert_eq!(text("desc"), Some("IPC. IPC of each policy over that of fr-fcfs"));
    let tips: Vec<&str> = document
        .descendants()
        .filter(|node| {
            node.has_tag_name("title") && node.parent().is_some_and(|p| p.has_tag_name("rect"))
        })
        .filter_map(|node| node.text())
        .collect();
    assert_eq!(tips.len(), 6, "{tips:?}");
    assert_eq!(tips[0], "bfs-rmat, fr-fcfs(banks=stepping,picks_per_cycle=1): 1 ×");
    let id = document.descendants().find_map(|node| node.attribute("id"));
    assert!(id.is_some_and(|id| id.starts_with("chart-bars-")), "{id:?}");
}

#[test]
fn the_format_determines_widths_and_ids() {
    let chart = ratios("bars", 2, &POLICIES[..2]);
    let drawn = |chart: &Chart, format| chart.drawn_in(format).expect("a chart");
    let width = |format| drawn(&chart, format).size.0;
    assert_eq!(width(Format::PRINT), 244.8);
    assert_eq!(
        width(Format::WIDE_SCREEN),
        drawn(&ratios("", 37, &POLICIES), Format::SCREEN).size.0
    );
    assert!(2.0 * width(Format::SCREEN) < width(Format::WIDE_SCREEN));
    assert!(!drawn(&chart, Format::SCREEN).is_wide(Format::SCREEN));
    let many = ratios("bars-many", 37, &POLICIES);
    assert!(drawn(&many, Format::SCREEN).is_wide(Format::SCREEN));
    let on_phone = drawn(&many, Format::PHONE);
    assert_eq!(on_phone.size.0, width(Format::PHONE));
    assert!(on_phone.svg.contains("phone-bars-many-hatch-1"), "ids differ from other formats'");
    assert!(!on_phone.svg.contains("chart-bars-many"));
}

#[test]
fn whiskers_are_on_the_bars_that_have_a_range() {
    let svg = ranges().svg().expect("a chart");
    assert_eq!(svg.matches(" (0.55 to 1.45)").count(), 4);
    let without = ratios("bars-ranges", 8, &POLICIES[..4]).svg().expect("a chart");
    let lines = |svg: &str| svg.matches("<polyline").count();
    // A line and its two caps, each white and then dark.
    assert_eq!(lines(&svg) - lines(&without) + 1, 4 * 6, "without the line of the reference");
}

/// Returns the texts of a chart.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).expect("well-formed XML");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn horizontal_bars_show_full_names_and_values() {
    let svg = claims().svg().expect("a chart");
    let texts = texts(&svg);
    let all = texts.join(" ");
    assert!(all.contains("IPC of memory-bound workloads over the first-ready scheduler"), "{all}");
    for value in ["10.9", "−28", "101", "0", "11.2"] {
        assert!(texts.iter().any(|text| text == value), "{value}: {texts:?}");
    }
    assert!(svg.contains("1 of 8 values is missing"), "{all}");
}

#[test]
fn maps_of_many_cells_are_pictures_with_sharp_cells() {
    let chart = banks(4, 80, 64);
    let svg = chart.svg().expect("a chart");
    assert_eq!(svg.matches("<image ").count(), 4);
    assert!(svg.len() < 128 << 10, "{} bytes", svg.len());
    let png = crate::png::encode(&svg, crate::png::FONTS.clone()).expect("a PNG");
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size()];
    reader.next_frame(&mut pixels).expect("pixels");
    // The lightest shade is that of single cells, which smoothing would darken.
    assert!(pixels.chunks_exact(3).any(|pixel| pixel == [0xfd, 0xe7, 0x25]));
    let small = banks(1, 8, 16).svg().expect("a chart");
    assert!(!small.contains("<image ") && small.contains("channel 3, bank 5: "));
}

#[test]
fn a_pdf_has_the_size_of_the_chart_and_text_in_an_embedded_font() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chart.PDF");
    let svg = ranked(2).svg().expect("a chart");
    save(&path, &svg).expect("a PDF");
    let pdf = std::fs::read(&path).expect("a PDF");
    save(&path, &svg).expect("a PDF");
    assert_eq!(pdf, std::fs::read(&path).expect("a PDF"), "the same again");
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-1."));
    for part in ["/FontFile", "/ToUnicode", "+NotoSans"] {
        assert!(text.contains(part), "{part}");
    }
    let page = text.split("/MediaBox").nth(1).and_then(|rest| rest.split(']').next());
    let sizes = page.expect("a page").trim_start_matches([' ', '[']).split(' ');
    let sizes: Vec<f64> = sizes.filter_map(|size| size.parse().ok()).collect();
    assert!((sizes[2] - 244.8).abs() < 0.1, "{sizes:?}");
}

#[test]
fn a_style_sets_widths_and_fonts_of_files_and_looks_everywhere() {
    let mut chart = ratios("bars", 2, &POLICIES[..2]);
    let looks = Looks::from([("fcfs".to_owned(), Look::numbered(0).coloured("#123456"))]);
    chart.style = Style { looks, column: Some(3.0), ..Style::default() }.into();
    let svg = chart.svg().expect("a chart");
    assert!(svg.contains("width=\"3in\"") && svg.contains("#123456"));
    let on_screen = chart.drawn_in(Format::SCREEN).expect("a chart");
    assert!(on_screen.svg.contains("#123456"));
    assert_eq!(on_screen.size.0, 360.0);
    let error = Font::installed("No such font").expect_err("no system has it").to_string();
    assert_eq!(error, "this system has no font `No such font`");
    assert!(Font::of_file(std::path::Path::new("Cargo.toml")).is_err());
}

#[test]
fn a_ranking_names_every_policy_and_its_intervals() {
    let svg = ranked(60).svg().expect("a chart");
    let texts = texts(&svg);
    for text in ["p18", "p59", "fcfs/lrr", "5.0", "−18.6"] {
        assert!(texts.iter().any(|one| one == text), "{text}: {texts:?}");
    }
    assert!(svg.contains(": 5 %, interval 4 to 6, range −85 to 10"), "{svg}");
}

#[test]
fn groups_reserve_space_only_for_their_own_bars() {
    let svg = sparse().svg().expect("a chart");
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let bars = document.descendants().filter(|node| {
        node.has_tag_name("rect") && node.children().any(|child| child.has_tag_name("title"))
    });
    assert_eq!(bars.count(), 12 * 2 + 4);
    // Leaving room for four bars in each group would need a page.
    assert_eq!(document.root_element().attribute("width"), Some("3.4in"));
}

#[test]
fn only_points_far_from_equal_and_points_with_names_are_named() {
    let svg = equal().svg().expect("a chart");
    assert!(svg.contains("lines: equal, ± 10 %, ± 20 %, ± 50 %"), "{svg}");
    let named = named().svg().expect("a chart");
    let document = roxmltree::Document::parse(&named).expect("well-formed XML");
    let count = |tag| document.descendants().filter(|node| node.has_tag_name(tag)).count();
    assert_eq!(count("circle"), 4);
    for text in ["16 KiB", "1 MiB", "the last", "64 KiB"] {
        assert!(named.contains(&format!(">{text}<")), "{text}");
    }
}

#[test]
fn a_sheet_holds_its_charts_side_by_side() {
    let sheet = Sheet {
        name: "sheet".to_owned(),
        title: "All".to_owned(),
        charts: vec![one_bar(), named(), ratios("bars-wide", 37, &POLICIES), claims()],
    };
    let svg = sheet.svg().expect("a sheet");
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let places: Vec<Vec<f64>> = document
        .descendants()
        .filter_map(|node| node.attribute("transform")?.strip_prefix("translate("))
        .map(|place| {
            place.split([' ', ')']).take(2).map(|n| n.parse().expect("a number")).collect()
        })
        .collect();
    let (left, top): (Vec<f64>, Vec<f64>) = places.iter().map(|place| (place[0], place[1])).unzip();
    assert_eq!(left, [0.0, 504.0 - 244.8, 0.0, 0.0]);
    assert!(top[0] == top[1] && top[1] < top[2] && top[2] < top[3], "{top:?}");
    assert!(svg.contains(">Claims<") && svg.contains(">All<"));
    assert_eq!(document.root_element().attribute("width"), Some("7in"));
}

#[test]
fn missing_values_are_counted_and_zero_is_labelled() {
    let texts = |chart: &Chart| chart.svg().expect("a chart");
    assert!(texts(&far()).contains("2 of 52 values are missing"));
    assert!(!texts(&ratios("bars", 2, &POLICIES)).contains("missing"));
    for nothing in [values("a", vec![]), values("b", vec![None, Some(f64::NAN)])] {
        assert!(texts(&nothing).contains("no data"));
    }
}

#[test]
fn missing_columns_are_named() {
    let mut chart = ratios("ipc", 2, &POLICIES[..2]);
    chart.kind = Bars::new("trace", "policy", "ipc_ration", Axis::new("IPC", "×")).into();
    let error = format!("{:#}", chart.svg().expect_err("there is no such column"));
    assert_eq!(
        error,
        "failed to draw `ipc`: the data have no column `ipc_ration` (did you mean `ipc_ratio`?); \
         columns: trace, policy, ipc_ratio"
    );
    chart.kind = Bars::new("trace", "policy", "policy", Axis::new("IPC", "×")).into();
    let error = format!("{:#}", chart.svg().expect_err("it is text"));
    assert_eq!(error, "failed to draw `ipc`: column `policy` holds no numbers but str");
    chart.kind = Bars::new("trace", "trace", "ipc_ratio", Axis::new("IPC", "×")).into();
    let error = format!("{:#}", chart.svg().expect_err("two bars in one place"));
    assert_eq!(
        error,
        "failed to draw `ipc`: there are several values for `bfs-rmat` of `bfs-rmat`"
    );
}

#[test]
fn a_chart_is_written_as_svg_png_and_csv() {
    let folder = tempfile::tempdir().expect("a folder");
    let chart = one_bar();
    let svg = chart.write_all(folder.path()).expect("files");
    let path = |ending: &str| folder.path().join(format!("bars-one.{ending}"));
    assert_eq!(std::fs::read_to_string(path("svg")).expect("an SVG"), svg);
    assert_eq!(std::fs::read_to_string(path("csv")).expect("data"), "t,p,v\nonly,fcfs,3.0\n");
    let file = std::fs::File::open(path("png")).expect("a PNG");
    let mut reader = ::png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    // 3.4 inches of 300 dots; 300 dots per inch are 11811 per metre.
    assert_eq!(reader.info().width, 1020);
    assert_eq!(reader.info().pixel_dims.map(|density| density.xppu), Some(11_811));
    let mut pixels = vec![0; reader.output_buffer_size()];
    reader.next_frame(&mut pixels).expect("pixels");
    let has = |colour: [u8; 3]| pixels.chunks_exact(3).any(|pixel| pixel == colour);
    assert_eq!(pixels[..3], [255; 3]);
    assert!(has([0x00, 0x72, 0xb2]), "the bar is blue");
    assert!(has([0x22; 3]), "the axis and the text are dark");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 4);
}
