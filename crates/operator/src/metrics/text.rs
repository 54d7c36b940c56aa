//! The text that Prometheus reads, version 0.0.4 of its format.
//!
//! Written by hand: the crates for it that are alive write OpenMetrics, which
//! declares counters without their `_total` and has no place for gauges that
//! end in it; both are what dashboards know. It is little, and labels whose
//! names are known only at run time would get nothing from a crate.

use std::fmt::Display;

/// Everything that is said, family by family.
#[derive(Debug, Default)]
pub(super) struct Page(String);

/// Metrics of one name.
#[derive(Debug)]
pub(super) struct Family<'p> {
    page: &'p mut String,
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    is_declared: bool,
}

impl Page {
    pub(super) fn counter(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, "counter", help)
    }

    pub(super) fn gauge(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, "gauge", help)
    }

    pub(super) fn histogram(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, "histogram", help)
    }

    fn family(&mut self, name: &'static str, kind: &'static str, help: &'static str) -> Family<'_> {
        Family { page: &mut self.0, name, kind, help, is_declared: false }
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

impl Family<'_> {
    /// One value, under labels as [`labels`] writes them. A family is declared
    /// with its first; one without any is not mentioned.
    pub(super) fn sample(&mut self, labels: &str, value: impl Display) {
        self.line("", labels, value);
    }

    /// The spread of many values: how many were up to each bound and above the
    /// one before, and above all of them; and their sum.
    pub(super) fn spread(&mut self, labels: &str, (bounds, counts): (&[f64], &[u64]), sum: f64) {
        let comma = if labels.is_empty() { "" } else { "," };
        let bounds = bounds.iter().map(|bound| Float(*bound)).chain([Float(f64::INFINITY)]);
        let mut total = 0;
        for (bound, count) in bounds.zip(counts) {
            total += count;
            self.line("_bucket", &format!("{labels}{comma}le=\"{bound}\""), total);
        }
        self.line("_sum", labels, Float(sum));
        self.line("_count", labels, total);
    }

    fn line(&mut self, suffix: &str, labels: &str, value: impl Display) {
        let Self { page, name, kind, help, is_declared } = self;
        if !std::mem::replace(is_declared, true) {
            page.extend(["# HELP ", name, " ", help, "\n# TYPE ", name, " ", kind, "\n"]);
        }
        page.extend([name, suffix]);
        if !labels.is_empty() {
            page.extend(["{", labels, "}"]);
        }
        page.extend([" ", &value.to_string(), "\n"]);
    }
}

/// Labels as they stand between braces.
pub(super) fn labels(pairs: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        write_label(&mut text, name, value);
    }
    text
}

/// Appends one label to others.
pub(super) fn write_label(text: &mut String, name: &str, value: &str) {
    if !text.is_empty() {
        text.push(',');
    }
    text.push_str(name);
    text.push_str("=\"");
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// A number that may have a fraction, or be none at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Float(pub(super) f64);

impl Display for Float {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            f64::INFINITY => f.write_str("+Inf"),
            f64::NEG_INFINITY => f.write_str("-Inf"),
            value if value.is_nan() => f.write_str("NaN"),
            value if value.abs() < 1e15 => write!(f, "{value}"),
            value => write!(f, "{value:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_declared_once_and_only_if_it_says_something() {
        let mut page = Page::default();
        page.gauge("nobody", "Not mentioned.");
        let mut family = page.counter("some_total", "What there is.");
        family.sample("", 1);
        family.sample(&labels(&[("a", "1"), ("b", "2")]), 2);
        let expected = "# HELP some_total What there is.\n# TYPE some_total counter\n\
                        some_total 1\nsome_total{a=\"1\",b=\"2\"} 2\n";
        assert_eq!(page.text(), expected);
    }

    #[test]
    fn a_spread_counts_up_to_everything() {
        let mut page = Page::default();
        page.histogram("h", "Time.").spread("x=\"y\"", (&[0.5, 1.0], &[1, 0, 2]), 7.25);
        let expected = "# HELP h Time.\n# TYPE h histogram\n\
                        h_bucket{x=\"y\",le=\"0.5\"} 1\nh_bucket{x=\"y\",le=\"1\"} 1\n\
                        h_bucket{x=\"y\",le=\"+Inf\"} 3\nh_sum{x=\"y\"} 7.25\nh_count{x=\"y\"} 3\n";
        assert_eq!(page.text(), expected);
    }

    #[test]
    fn what_would_end_a_label_is_escaped() {
        assert_eq!(labels(&[("a", "x\"y\\z\nü")]), r#"a="x\"y\\z\nü""#);
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for value in [0.1, 1e300, -2.5, 5e-324, 3.0, 1e15, f64::INFINITY] {
            assert_eq!(Float(value).to_string().parse::<f64>(), Ok(value));
        }
        assert_eq!(Float(3.0).to_string(), "3");
        assert_eq!(Float(f64::NAN).to_string(), "NaN");
    }
}
