//! Checks of a page: text beyond its edges, and overlapping texts.

use super::super::font;
use roxmltree::{Document, Node};

/// Smallest distance between texts, points.
const SLACK: f64 = 0.3;

/// The four corners of a text.
type Corners = [(f64, f64); 4];

pub fn faults(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).expect("well-formed XML");
    let root = document.root_element();
    let sizes: Vec<f64> = root
        .attribute("viewBox")
        .expect("a size")
        .split(' ')
        .map(|n| n.parse().expect("a number"))
        .collect();
    let texts: Vec<(&str, Corners)> =
        document.descendants().filter(|node| node.has_tag_name("text")).map(corners).collect();
    let is_inside = |(x, y): &(f64, f64)| {
        (-SLACK..=sizes[2] + SLACK).contains(x) && (-SLACK..=sizes[3] + SLACK).contains(y)
    };
    let beyond = texts.iter().filter(|text| !text.1.iter().all(is_inside));
    let mut faults: Vec<String> =
        beyond.map(|text| format!("`{}` is beyond the page", text.0)).collect();
    for (number, one) in texts.iter().enumerate() {
        let touching = texts[number + 1..].iter().filter(|other| touch(&one.1, &other.1));
        faults.extend(touching.map(|other| format!("`{}` touches `{}`", one.0, other.0)));
    }
    for shape in document.descendants().filter(Node::is_element) {
        if shape.attributes().any(|a| a.value().contains("NaN") || a.value().contains("inf ")) {
            faults.push(format!("{:?} has no position", shape.tag_name()));
        }
    }
    faults
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).and_then(|text| text.parse().ok()).expect("a number")
}

/// Returns the box of a text's letters, including descenders.
fn corners<'a>(node: Node<'a, '_>) -> (&'a str, Corners) {
    let (x, y, size) = (number(node, "x"), number(node, "y"), number(node, "font-size"));
    let text = node.text().unwrap_or_default();
    let width = font::width(text, size);
    let left = match node.attribute("text-anchor") {
        Some("middle") => x - width / 2.0,
        Some("end") => x - width,
        _ => x,
    };
    let (top, bottom) = (y - 0.74 * size, y + 0.2 * size);
    let turn = node.attribute("transform").map_or(0.0, |turn| {
        let numbers = turn.trim_start_matches("rotate(");
        numbers.split(' ').next().and_then(|text| text.parse::<f64>().ok()).expect("an angle")
    });
    let (sine, cosine) = turn.to_radians().sin_cos();
    let turned = |(a, b): (f64, f64)| {
        let (dx, dy) = (a - x, b - y);
        (x + cosine * dx - sine * dy, y + sine * dx + cosine * dy)
    };
    (text, [(left, top), (left + width, top), (left + width, bottom), (left, bottom)].map(turned))
}

/// Returns whether two rotated boxes overlap: no line along a side of either separates them.
fn touch(one: &Corners, other: &Corners) -> bool {
    let sides = |c: &Corners| [(c[0], c[1]), (c[1], c[2])];
    sides(one).into_iter().chain(sides(other)).all(|((ax, ay), (bx, by))| {
        let length = (bx - ax).hypot(by - ay).max(1e-9);
        let along = |corner: &(f64, f64)| ((bx - ax) * corner.0 + (by - ay) * corner.1) / length;
        let ends = |c: &Corners| {
            let places = c.iter().map(along);
            (places.clone().fold(f64::INFINITY, f64::min), places.fold(f64::NEG_INFINITY, f64::max))
        };
        let (a, b) = (ends(one), ends(other));
        a.0 < b.1 - SLACK && b.0 < a.1 - SLACK
    })
}

#[test]
fn layout_faults_are_detected() {
    let page = |second: &str| {
        format!(
            r#"<svg viewBox="0 0 100 50"><text x="10" y="20" font-size="7">one</text>{second}</svg>"#
        )
    };
    assert_eq!(faults(&page("")), [""; 0]);
    assert_eq!(
        faults(&page(r#"<text x="14" y="25" font-size="7">two</text>"#)),
        ["`one` touches `two`"]
    );
    assert_eq!(faults(&page(r#"<text x="10" y="28" font-size="7">two</text>"#)), [""; 0]);
    let beyond = page(r#"<text x="90" y="40" font-size="7">beyond</text>"#);
    assert_eq!(faults(&beyond), ["`beyond` is beyond the page"]);
    let turned =
        page(r#"<text x="12" y="40" font-size="7" transform="rotate(-90 12 40)">upright</text>"#);
    assert_eq!(faults(&turned), ["`one` touches `upright`"]);
}
