//! What the operating system says of this process.
//!
//! Only Linux says it in files; elsewhere nothing is shown.

use std::fs;

use super::text::{Float, Page};

/// Linux counts processor time in hundredths of a second for everybody who
/// asks, whatever its own clock is.
const TICKS: f64 = 100.0;

/// What the operating system says, as far as it does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Usage {
    resident: Option<u64>,
    virtual_size: Option<u64>,
    cpu: Option<f64>,
    open_files: Option<u64>,
    most_files: Option<u64>,
}

impl Usage {
    fn of(status: &str, stat: &str, limits: &str, open_files: Option<u64>) -> Self {
        let kibibytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
        };
        let most_files = || {
            let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Self {
            resident: kibibytes("VmRSS:"),
            virtual_size: kibibytes("VmSize:"),
            cpu: cpu(stat),
            open_files,
            most_files: most_files(),
        }
    }

    fn now() -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}"));
        let text = |name: &str| read(name).unwrap_or_default();
        // Reading the directory opens one more.
        let open = fs::read_dir("/proc/self/fd").ok().map(|all| all.count().saturating_sub(1));
        let open = open.and_then(|open| u64::try_from(open).ok());
        Self::of(&text("status"), &text("stat"), &text("limits"), open)
    }
}

/// Seconds of processor time. The name of the program may hold anything, and
/// ends at the last parenthesis; user and system time are the twelfth and
/// thirteenth word after it.
fn cpu(stat: &str) -> Option<f64> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut words = after.split_whitespace().skip(11);
    let mut ticks = || words.next()?.parse::<u32>().ok();
    Some((f64::from(ticks()?) + f64::from(ticks()?)) / TICKS)
}

/// Says how much of the machine the process uses, and since when it runs, in
/// seconds of the Unix epoch.
pub(super) fn write(page: &mut Page, started: f64) {
    let Usage { resident, virtual_size, cpu, open_files, most_files } = Usage::now();
    let mut one = |name: &'static str, help: &'static str, value: Option<u64>| {
        if let Some(value) = value {
            page.gauge(name, help).sample("", value);
        }
    };
    one("process_resident_memory_bytes", "Memory of the process in RAM.", resident);
    one("process_virtual_memory_bytes", "Addresses of the process.", virtual_size);
    one("process_open_fds", "Open files and connections.", open_files);
    one("process_max_fds", "Most files and connections that may be open.", most_files);
    if let Some(cpu) = cpu {
        let help = "Processor time of the process.";
        page.counter("process_cpu_seconds_total", help).sample("", Float(cpu));
    }
    let help = "When the process began, in Unix time.";
    page.gauge("process_start_time_seconds", help).sample("", Float(started));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whatever_the_program_is_called() {
        let status = "Name:\tkollect\nVmSize:\t  2048 kB\nVmRSS:\t     12 kB\n";
        let stat = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        let limits =
            "Limit   Soft Limit  Hard Limit  Units\nMax open files   1024   4096   files\n";
        let expected = Usage {
            resident: Some(12_288),
            virtual_size: Some(2_097_152),
            cpu: Some(3.0),
            open_files: Some(9),
            most_files: Some(1024),
        };
        assert_eq!(Usage::of(status, stat, limits, Some(9)), expected);
    }

    #[test]
    fn what_is_not_said_is_not_shown() {
        let limits = "Max open files   unlimited   unlimited   files";
        assert_eq!(Usage::of("", "", limits, None), Usage::default());
    }
}
