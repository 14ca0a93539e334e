//! Checks that a trace is that of a reference's run, and that a machine is the one stated by a log.

use super::figures::KernelFigures;
use super::reference_run::{ReferenceRun, Stated};
use warpmem_machine::{Machine, flatten};

/// Options of GPGPU-Sim that correspond to our keys: key, and options with the position of the
/// number in their colon-separated lists. A key with several options is their product.
pub(super) const STATED: [(&str, &[(&str, usize)]); 14] = [
    ("sm.count", &[("-gpgpu_n_clusters", 0), ("-gpgpu_n_cores_per_cluster", 0)]),
    ("sm.max_threads", &[("-gpgpu_shader_core_pipeline", 0)]),
    ("sm.max_ctas", &[("-gpgpu_shader_cta", 0)]),
    ("sm.registers", &[("-gpgpu_shader_registers", 0)]),
    ("sm.schedulers", &[("-gpgpu_num_sched_per_core", 0)]),
    ("clocks.core_mhz", &[("-gpgpu_clock_domains", 0)]),
    ("clocks.network_mhz", &[("-gpgpu_clock_domains", 1)]),
    ("clocks.l2_mhz", &[("-gpgpu_clock_domains", 2)]),
    ("clocks.dram_mhz", &[("-gpgpu_clock_domains", 3)]),
    ("l2.slices_per_channel", &[("-gpgpu_n_sub_partition_per_mchannel", 0)]),
    ("dram.channels", &[("-gpgpu_n_mem", 0)]),
    ("dram.bus_bytes", &[("-gpgpu_dram_buswidth", 0), ("-gpgpu_n_mem_per_ctrlr", 0)]),
    ("dram.burst_length", &[("-gpgpu_dram_burst_length", 0)]),
    ("dram.transfers_per_clock", &[("-dram_data_command_freq_ratio", 0)]),
];

impl ReferenceRun {
    /// Returns the first value in a log that contradicts the machine; none if they agree or the
    /// results state nothing.
    pub fn contradiction(&self, machine: &Machine) -> Option<String> {
        let ours = flatten(machine);
        let differs = |stated: &&Stated| {
            let value = ours.iter().find(|(key, _)| key == stated.key);
            let value = value.and_then(|(_, value)| value.as_integer());
            // Our clocks are whole numbers of MHz.
            value.is_none_or(|value| (value as f64 - stated.value).abs() >= 1.0)
        };
        let shown = |stated: &Stated| {
            let value = ours.iter().find(|(key, _)| key == stated.key);
            let value = value.map_or_else(String::new, |(_, value)| value.to_string());
            let Stated { key, options, value: theirs } = stated;
            format!("`{key}` is {value}, the log has {theirs} ({options})")
        };
        let all: Vec<String> = self.machine.iter().filter(differs).map(shown).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Explains why kernels with these names and thread instructions are not those of the run; none
    /// if they are. Values missing from the reference match anything.
    pub fn other_kernels(&self, kernels: &[KernelFigures]) -> Option<String> {
        let reference = &self.figures.kernels;
        let (found, wanted) = (kernels.len(), reference.len());
        if found != wanted {
            let plural = if found == 1 { "" } else { "s" };
            return Some(format!("it has {found} kernel{plural}, the reference ran {wanted}"));
        }
        let mut pairs = kernels.iter().zip(reference).zip(1..);
        pairs.find_map(|((kernel, reference), number)| {
            let is_same = reference.name.is_empty() || kernel.name == reference.name;
            let instructions = reference.thread_instructions;
            let has_same = instructions.is_none() || kernel.thread_instructions == instructions;
            (!is_same || !has_same).then(|| {
                let (ours, theirs) = (described(kernel), described(reference));
                format!("its kernel {number} is {ours}, the reference's is {theirs}")
            })
        })
    }
}

/// Maximum length of a name quoted by a message, characters.
const SHOWN: usize = 60;

fn described(kernel: &KernelFigures) -> String {
    let name: String = kernel.name.chars().take(SHOWN).collect();
    let name = match kernel.name.is_empty() {
        true => "one without a name".to_owned(),
        false => format!("`{}`", name.escape_debug()),
    };
    match kernel.thread_instructions {
        Some(instructions) => format!("{name} with {instructions} thread instructions"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Figures;
    use super::*;
    use warpmem_machine::load;

    fn kernel(name: &str, instructions: Option<u64>) -> KernelFigures {
        KernelFigures {
            name: name.to_owned(),
            cycles: 1,
            thread_instructions: instructions,
            ..KernelFigures::default()
        }
    }

    fn of_kernels(kernels: Vec<KernelFigures>) -> ReferenceRun {
        let figures = Figures { kernels, ..Figures::default() };
        ReferenceRun { figures, ..ReferenceRun::default() }
    }

    #[test]
    fn kernels_are_the_same_by_name_and_instructions() {
        let reference = of_kernels(vec![kernel("a", Some(10)), kernel("b", Some(20))]);
        let other = |second| reference.other_kernels(&[kernel("a", Some(10)), second]);
        assert_eq!(other(kernel("b", Some(20))), None);
        assert_eq!(
            other(kernel("b", Some(21))).unwrap(),
            "its kernel 2 is `b` with 21 thread instructions, the reference's is `b` with 20 thread instructions"
        );
        let message = other(kernel("c\x1b", Some(20))).unwrap();
        assert!(message.starts_with("its kernel 2 is `c\\u{1b}` with 20 "), "{message}");
        assert_eq!(
            reference.other_kernels(&[kernel("a", Some(10))]).unwrap(),
            "it has 1 kernel, the reference ran 2"
        );
    }

    #[test]
    fn figures_missing_from_the_reference_are_not_compared() {
        let reference = of_kernels(vec![kernel("", Some(10)), kernel("b", None)]);
        let other = |first| reference.other_kernels(&[first, kernel("b", Some(7))]);
        assert_eq!(other(kernel("a", Some(10))), None);
        let message = other(kernel("a", Some(9))).unwrap();
        assert!(
            message.ends_with("is one without a name with 10 thread instructions"),
            "{message}"
        );
    }

    #[test]
    fn every_figure_of_a_log_has_a_counterpart() {
        let machine = load("accelsim-qv100", &[]).unwrap();
        let ours = flatten(&machine);
        for (key, _) in STATED {
            let value = ours.iter().find(|(known, _)| known == key).unwrap();
            let value = value.1.as_integer().unwrap() as f64;
            let stated = |value| {
                let machine = vec![Stated { key, options: "-x".to_owned(), value }];
                ReferenceRun { machine, ..ReferenceRun::default() }
            };
            assert_eq!(stated(value).contradiction(&machine), None);
            let message = stated(value + 1.0).contradiction(&machine).unwrap();
            let expected = format!("`{key}` is {value}, the log has {} (-x)", value + 1.0);
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn results_without_statements_fit_any_machine() {
        let machine = load("li2015", &[]).unwrap();
        assert_eq!(ReferenceRun::default().contradiction(&machine), None);
    }
}
