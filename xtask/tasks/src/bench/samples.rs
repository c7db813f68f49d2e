//! Samples and the table they become.

use std::time::Duration;

use serde_json::{Value, json};

/// What is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Milliseconds,
    Microseconds,
    Mebibytes,
    PerSecond,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Microseconds => "µs",
            Self::Mebibytes => "MiB",
            Self::PerSecond => "1/s",
        }
    }
}

/// One figure: its samples, and what it is compared with.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) name: String,
    unit: Unit,
    sorted: Vec<f64>,
    /// What should not be above which figure: 50 for the median, 99 for what all but one of a hundred keep.
    aim: Option<(usize, f64)>,
    /// The median of the same thing done by the bare server, or by an empty process.
    beside: Option<(&'static str, f64)>,
}

impl Figure {
    pub(crate) fn times(name: impl Into<String>, samples: &[Duration]) -> Self {
        Self::new(name, Unit::Milliseconds, samples.iter().map(|took| took.as_secs_f64() * 1000.0).collect())
    }

    pub(crate) fn microseconds(name: impl Into<String>, samples: &[Duration]) -> Self {
        Self::new(name, Unit::Microseconds, samples.iter().map(|took| took.as_secs_f64() * 1_000_000.0).collect())
    }

    #[expect(clippy::cast_precision_loss, reason = "memory of a process is far below 2^53 bytes")]
    pub(crate) fn bytes(name: impl Into<String>, samples: &[u64]) -> Self {
        Self::new(name, Unit::Mebibytes, samples.iter().map(|bytes| *bytes as f64 / 1_048_576.0).collect())
    }

    fn new(name: impl Into<String>, unit: Unit, mut sorted: Vec<f64>) -> Self {
        sorted.sort_by(f64::total_cmp);
        Self { name: name.into(), unit, sorted, aim: None, beside: None }
    }

    pub(crate) fn aim(mut self, most: f64) -> Self {
        self.aim = Some((50, most));
        self
    }

    /// The same for all but one sample in twenty.
    pub(crate) fn aim_p95(mut self, most: f64) -> Self {
        self.aim = Some((95, most));
        self
    }

    /// The same for all but one sample in a hundred.
    pub(crate) fn aim_p99(mut self, most: f64) -> Self {
        self.aim = Some((99, most));
        self
    }

    /// How many a second.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    pub(crate) fn rate(name: impl Into<String>, many: usize, took: Duration) -> Self {
        Self::new(name, Unit::PerSecond, vec![many as f64 / took.as_secs_f64()])
    }

    /// The longest of many.
    pub(crate) fn worst(name: impl Into<String>, samples: &[Duration]) -> Self {
        Self::times(name, &samples.iter().max().copied().into_iter().collect::<Vec<_>>())
    }

    pub(crate) fn beside(mut self, what: &'static str, other: &Self) -> Self {
        self.beside = Some((what, other.median()));
        self
    }

    pub(crate) fn median(&self) -> f64 {
        self.part(50)
    }

    /// The sample below which `percent` of all lie.
    fn part(&self, percent: usize) -> f64 {
        let place = (self.sorted.len() * percent / 100).min(self.sorted.len().saturating_sub(1));
        self.sorted.get(place).copied().unwrap_or(f64::NAN)
    }

    fn ratio(&self) -> Option<f64> {
        self.beside.map(|(_, other)| self.median() / other)
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name, "unit": self.unit.name(), "samples": self.sorted.len(),
            "p50": self.median(), "p95": self.part(95), "p99": self.part(99), "least": self.part(0),
            "aim": self.aim.map(|(_, most)| most), "aimAt": self.aim.map(|(percent, _)| format!("p{percent}")),
            "beside": self.beside.map(|(what, median)| json!({ "what": what, "p50": median, "ratio": self.ratio() })),
        })
    }

    fn row(&self) -> [String; 8] {
        let aim = match self.aim {
            Some((percent, most)) => {
                let at = if percent == 50 { String::new() } else { format!(" at p{percent}") };
                let met = if self.part(percent) <= most { "met" } else { "MISSED" };
                format!("≤ {most}{at} {met}")
            }
            None => String::new(),
        };
        let beside = match (self.beside, self.ratio()) {
            (Some((what, _)), Some(ratio)) => format!("{ratio:.2} × {what}"),
            _ => String::new(),
        };
        let figure = |number: f64| format!("{number:.3}");
        [
            self.name.clone(),
            self.unit.name().into(),
            figure(self.median()),
            figure(self.part(95)),
            figure(self.part(99)),
            self.sorted.len().to_string(),
            aim,
            beside,
        ]
    }
}

pub(crate) fn print_json(figures: &[Figure]) {
    println!("{:#}", Value::Array(figures.iter().map(Figure::to_json).collect()));
}

pub(crate) fn print_table(figures: &[Figure]) {
    let heads = ["what", "unit", "p50", "p95", "p99", "n", "aim", "ratio of medians"].map(str::to_owned);
    let rows: Vec<[String; 8]> = std::iter::once(heads).chain(figures.iter().map(Figure::row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let room = " ".repeat(width - cell.chars().count());
            // Figures to the right, words to the left.
            line += &if (2..=5).contains(&column) { format!("{room}{cell}  ") } else { format!("{cell}{room}  ") };
        }
        println!("{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_sample_and_ratios_are_of_medians() {
        let three: Vec<Duration> = [30, 10, 20].map(Duration::from_millis).to_vec();
        let figure = Figure::times("a", &three);
        assert!((figure.median() - 20.0).abs() < 1e-9);
        assert!((figure.part(95) - 30.0).abs() < 1e-9);
        let other = Figure::times("b", &[Duration::from_millis(5)]);
        let beside = figure.beside("b", &other);
        assert!((beside.ratio().expect("there is another") - 4.0).abs() < 1e-9);
    }

    #[test]
    fn an_aim_is_judged_by_the_figure_it_is_for() {
        let figure = Figure::bytes("memory", &[12 << 20]).aim(10.0);
        assert_eq!(figure.row()[6], "≤ 10 MISSED");
        assert_eq!(Figure::bytes("memory", &[10 << 20]).aim(10.0).row()[6], "≤ 10 met");
        let mut samples = vec![Duration::from_millis(1); 200];
        samples[..2].fill(Duration::from_millis(50));
        assert_eq!(Figure::times("t", &samples).aim_p99(8.0).row()[6], "≤ 8 at p99 MISSED");
        samples[0] = Duration::from_millis(1);
        assert_eq!(Figure::times("t", &samples).aim_p99(8.0).row()[6], "≤ 8 at p99 met");
    }
}
