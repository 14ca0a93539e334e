//! Positions of values along an axis, and its ticks.

/// Mapping of values to an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
}

/// Rule for the ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// From zero to a tick: bars.
    FromZero,
    /// From the minimum to the maximum, with a small margin: points.
    Padded,
    /// From the minimum to the maximum: time.
    Tight,
}

/// Larger values are drawn at the end of the axis, so that sums and differences stay finite.
const LARGEST: f64 = 1e300;
/// Values nearer to zero count as zero, so that powers of ten stay finite.
const SMALLEST: f64 = 1e-290;
/// Relative difference below which the minimum and maximum of a linear axis count as equal.
const EQUAL: f64 = 1e-9;
/// Margin at the ends of an axis, as a fraction of its length.
const ROOM: f64 = 0.05;
/// Factor below the maximum beyond which a logarithmic axis ignores positive values.
const DECADES: f64 = 1e30;

/// Largest number of sweep steps labelled on the axis.
const STEPS: usize = 8;
/// Fraction of the axis below which steps are crowded.
const CROWDED: f64 = 0.08;

/// Range of an axis, from `low` to `high`.
#[derive(Clone, Debug)]
pub struct Span {
    scale: Scale,
    pub low: f64,
    pub high: f64,
    /// Labelled ticks.
    pub ticks: Vec<(f64, String)>,
    /// Ticks without labels.
    pub minor: Vec<f64>,
}

impl Span {
    /// Fits an axis to the values, with about `wanted` ticks; none without values.
    pub fn fit(
        scale: Scale,
        ends: Ends,
        values: impl Iterator<Item = f64>,
        wanted: usize,
    ) -> Option<Span> {
        let values = values.map(|value| value.clamp(-LARGEST, LARGEST));
        let values = values.map(|value| if value.abs() < SMALLEST { 0.0 } else { value });
        let values = values.filter(|&value| scale == Scale::Linear || value > 0.0);
        let (low, high) =
            values.map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let wanted = wanted.max(2);
        Some(match scale {
            Scale::Linear => linear(ends, low, high, wanted),
            Scale::Log => log(ends, low, high, wanted),
        })
    }

    /// Returns every n-th tick, with the smallest n for which labels do not touch on an axis of
    /// length `length`, if a label takes `room`.
    pub fn spaced(&self, length: f64, room: impl Fn(&str) -> f64) -> Vec<(f64, &str)> {
        let ticks: Vec<(f64, &str)> =
            self.ticks.iter().map(|(tick, label)| (*tick, label.as_str())).collect();
        let every = |step: usize| ticks.iter().copied().step_by(step).collect::<Vec<_>>();
        let fits = |ticks: &Vec<(f64, &str)>| {
            ticks.windows(2).all(|pair| {
                let apart = (self.place(pair[1].0) - self.place(pair[0].0)) * length;
                apart >= (room(pair[0].1) + room(pair[1].1)) / 2.0
            })
        };
        (1..=ticks.len()).map(every).find(fits).unwrap_or_default()
    }

    /// Returns the position of a value as a fraction of the axis; values beyond the range are at
    /// its ends.
    pub fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value <= 0.0 => 0.0,
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        place.clamp(0.0, 1.0)
    }

    /// Places ticks at the values themselves if they are few and not crowded, like the steps of a
    /// sweep.
    pub fn with_steps(self, values: &[f64]) -> Span {
        let mut steps = values.to_vec();
        steps.sort_by(f64::total_cmp);
        steps.dedup();
        let is_crowded =
            steps.windows(2).any(|pair| self.place(pair[1]) - self.place(pair[0]) < CROWDED);
        if is_crowded || steps.len() > STEPS {
            return self;
        }
        let ticks = steps.into_iter().map(|step| (step, figure(step))).collect();
        Span { ticks, minor: Vec::new(), ..self }
    }

    /// Replaces the ticks by those of `ticks` within the range.
    pub fn with_ticks(self, ticks: &[(f64, String)]) -> Span {
        let is_inside = |tick: &&(f64, String)| (self.low..=self.high).contains(&tick.0);
        let ticks = ticks.iter().filter(is_inside).cloned().collect();
        Span { ticks, minor: Vec::new(), ..self }
    }
}

fn linear(ends: Ends, low: f64, high: f64, wanted: usize) -> Span {
    let (mut low, mut high) = match ends {
        Ends::FromZero => (low.min(0.0), high.max(0.0)),
        _ => (low, high),
    };
    if high - low <= EQUAL * low.abs().max(high.abs()) {
        let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        // If all bars are zero, the axis ends at one.
        low -= if ends == Ends::FromZero { 0.0 } else { room };
        high += room;
    }
    let step = step((high - low) / wanted as f64);
    match ends {
        Ends::FromZero => {
            low = step * (low / step).floor();
            high = step * (high / step - EQUAL).ceil();
        }
        Ends::Padded => {
            let room = ROOM * (high - low);
            // An axis of nonnegative values does not begin below zero.
            low = if low >= 0.0 { (low - room).max(0.0) } else { low - room };
            high += room;
        }
        Ends::Tight => {}
    }
    let first = (low / step - EQUAL).ceil();
    let last = (high / step + EQUAL).floor();
    let count = (last - first).max(0.0) as usize;
    let ticks: Vec<f64> = (0..=count).map(|n| step * (first + n as f64) + 0.0).collect();
    let labels = labels(&ticks, step);
    Span {
        scale: Scale::Linear,
        low,
        high,
        ticks: ticks.into_iter().zip(labels).collect(),
        minor: Vec::new(),
    }
}

/// Returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `least`.
fn step(least: f64) -> f64 {
    let power = power_of_ten(least.log10().floor() as i32);
    let factor =
        [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - EQUAL));
    factor.unwrap_or(10.0) * power
}

fn power_of_ten(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

fn log(ends: Ends, low: f64, high: f64, wanted: usize) -> Span {
    let mut low = low.max(high / DECADES);
    let mut high = high;
    if high / low < 1.0 + EQUAL {
        (low, high) = (low / 2.0, high * 2.0);
    } else if ends != Ends::Tight {
        let room = (high / low).powf(ROOM);
        (low, high) = (low / room, high * room);
    }
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |value: &f64| *value >= low * (1.0 - EQUAL) && *value <= high * (1.0 + EQUAL);
    let all = |factors: &'static [f64]| {
        let of = move |exponent| factors.iter().map(move |factor| factor * power_of_ten(exponent));
        (first..=last).flat_map(of).filter(inside).collect::<Vec<f64>>()
    };
    let minor = all(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let decades = all(&[1.0]);
    let fine = [
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] as &'static [f64],
        &[1.0, 2.0, 5.0],
        &[1.0, 3.0],
    ];
    let fine = fine.into_iter().map(all).find(|ticks| ticks.len() <= wanted + 1);
    let ticks = match fine {
        Some(ticks) if decades.len() < 3 && ticks.len() >= 2 => ticks,
        _ if decades.len() >= 2 => {
            let every = decades.len().div_ceil(wanted + 1);
            decades.iter().copied().step_by(every).collect()
        }
        // Less than a decade: ticks as on a linear axis.
        _ => linear(Ends::Tight, low, high, wanted)
            .ticks
            .into_iter()
            .map(|tick| tick.0)
            .filter(|t| *t > 0.0)
            .collect(),
    };
    let minor = if decades.len() > 8 { Vec::new() } else { minor };
    let labels: Vec<String> = ticks.iter().map(|&tick| figure(tick)).collect();
    Span { scale: Scale::Log, low, high, ticks: ticks.into_iter().zip(labels).collect(), minor }
}

/// Smallest value written without an exponent, and smallest value without a prefix.
const PLAIN: f64 = 1e-4;
const PREFIXED: f64 = 1e21;
/// SI prefixes, in steps of a thousand.
const PREFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// Labels ticks at a distance of `step`, with the decimals of the step.
fn labels(ticks: &[f64], step: f64) -> Vec<String> {
    let largest = ticks.iter().fold(0.0f64, |largest, tick| largest.max(tick.abs()));
    let (unit, ending) = match largest {
        largest if largest >= PREFIXED || (largest < PLAIN && largest > 0.0) => {
            let exponent = largest.log10().floor() as i32;
            (power_of_ten(exponent), minus(&format!("e{exponent}")))
        }
        largest if largest >= 1e4 => {
            let thousands = (largest.log10() / 3.0 + EQUAL).floor() as usize;
            (power_of_ten(3 * thousands as i32), PREFIXES[thousands].to_owned())
        }
        _ => (1.0, String::new()),
    };
    let label = |tick: &f64| match *tick {
        0.0 => "0".to_owned(),
        tick => format!("{}{ending}", minus(&format!("{:.*}", decimals(step / unit), tick / unit))),
    };
    ticks.iter().map(label).collect()
}

/// Returns the decimals needed to distinguish multiples of `step`: 2.5 needs one.
fn decimals(step: f64) -> usize {
    let is_whole = |places: &usize| {
        let scaled = step * power_of_ten(*places as i32);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    (0..12).find(is_whole).unwrap_or(12)
}

/// Formats a value in scientific notation: `2e−7`, `1e25`.
fn scientific(value: f64, digits: i32) -> String {
    let size = value.abs();
    let exponent = (size.log10() + EQUAL).floor() as i32;
    // Powers beyond the range of a number are reached in two steps.
    let factor = value / power_of_ten(exponent / 2) / power_of_ten(exponent - exponent / 2);
    minus(&format!("{}e{exponent}", significant(factor, digits)))
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// Formats a value with four significant digits, and with an SI prefix from ten thousand on:
/// `0.1234`, `12.34k`.
pub fn figure(value: f64) -> String {
    figure_of(value, 4)
}

/// Formats a value with `digits` significant digits.
pub fn figure_of(value: f64, digits: i32) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(PLAIN..PREFIXED).contains(&size) {
        return scientific(value, digits);
    }
    let thousands = if size >= 1e4 { ((size.log10() + EQUAL) / 3.0).floor() as usize } else { 0 };
    let scaled = value / power_of_ten(3 * thousands as i32);
    format!("{}{}", significant(scaled, digits), PREFIXES[thousands])
}

/// Formats a value with the decimals that give `greatest` this number of significant digits.
pub fn fixed(value: f64, greatest: f64, digits: i32) -> String {
    if greatest > 0.0 && !(PLAIN..1e4).contains(&greatest) {
        return figure_of(value, digits);
    }
    let before = if greatest > 0.0 { greatest.log10().floor() as i32 + 1 } else { 1 };
    let places = (digits - before).max(0);
    let rounded = (value * power_of_ten(places)).round() / power_of_ten(places) + 0.0;
    minus(&format!("{rounded:.*}", places as usize))
}

fn significant(value: f64, digits: i32) -> String {
    let before = (value.abs().log10() + EQUAL).floor() as i32 + 1;
    let text = format!("{value:.*}", (digits - before).max(0) as usize);
    let short =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ticks(scale: Scale, ends: Ends, values: &[f64]) -> Vec<String> {
        let span = Span::fit(scale, ends, values.iter().copied(), 5).expect("there are values");
        span.ticks.into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let zero = |values: &[f64]| ticks(Scale::Linear, Ends::FromZero, values);
        assert_eq!(zero(&[0.93, 1.31]), ["0", "0.5", "1.0", "1.5"]);
        assert_eq!(zero(&[-8.0, 11.0]), ["−10", "−5", "0", "5", "10", "15"]);
        assert_eq!(zero(&[12_000.0]), ["0", "2.5k", "5.0k", "7.5k", "10.0k", "12.5k"]);
        assert_eq!(zero(&[0.0]), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let log = |values: &[f64]| ticks(Scale::Log, Ends::Padded, values);
        assert_eq!(log(&[1.0, 1e4]), ["1", "10", "100", "1000", "10k"]);
        assert_eq!(log(&[150.0, 1800.0]), ["200", "500", "1000", "2000"]);
        assert_eq!(log(&[1e-6, 1.0]), ["1e−6", "0.0001", "0.01", "1"]);
        assert!(Span::fit(Scale::Log, Ends::Padded, [0.0, -1.0].into_iter(), 5).is_none());
    }

    #[test]
    fn ticks_mark_the_steps_of_a_sweep() {
        let span =
            Span::fit(Scale::Log, Ends::Padded, [8.0, 128.0].into_iter(), 5).expect("values");
        let steps = span.with_steps(&[8.0, 128.0, 16.0, 16.0]);
        let at = |span: &Span| span.ticks.iter().map(|tick| tick.0).collect::<Vec<_>>();
        assert_eq!(at(&steps), [8.0, 16.0, 128.0]);
        let linear =
            Span::fit(Scale::Linear, Ends::Padded, [4.0, 32.0].into_iter(), 5).expect("values");
        assert_eq!(at(&linear.clone().with_steps(&[4.0, 8.0, 32.0])), [4.0, 8.0, 32.0]);
        let crowded = linear.clone().with_steps(&[4.0, 5.0, 32.0]);
        assert_eq!(crowded.ticks, linear.ticks);
    }

    #[test]
    fn figures_are_short() {
        let figures =
            [0.0, 1.0, 0.123_456, -12.3456, 9999.0, 12_345.0, 1e6, 2e-7, -3e24].map(figure);
        assert_eq!(
            figures,
            ["0", "1", "0.1235", "−12.35", "9999", "12.35k", "1M", "2e−7", "−3e24"]
        );
        assert_eq!([5.0, 0.2, -0.001].map(|v| fixed(v, 5.0, 3)), ["5.00", "0.20", "0.00"]);
        assert_eq!([-123.4, 0.2].map(|v| fixed(v, 123.4, 3)), ["−123", "0"]);
        assert_eq!([0.123_456, -12.3456, 345.0].map(|v| figure_of(v, 2)), ["0.12", "−12", "345"]);
    }

    proptest! {
        #[test]
        fn every_value_maps_onto_the_axis(
            values in proptest::collection::vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 1..20),
            is_log in any::<bool>(),
            ends in prop_oneof![Just(Ends::FromZero), Just(Ends::Padded), Just(Ends::Tight)],
        ) {
            let scale = if is_log { Scale::Log } else { Scale::Linear };
            let Some(span) = Span::fit(scale, ends, values.iter().copied(), 5) else {
                prop_assert!(is_log);
                return Ok(());
            };
            prop_assert!(span.low < span.high, "{span:?}");
            prop_assert!(span.ticks.len() <= 20, "{span:?}");
            for value in values {
                prop_assert!((0.0..=1.0).contains(&span.place(value)), "{value} {span:?}");
            }
            for pair in span.ticks.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1, "{span:?}");
            }
        }
    }
}
