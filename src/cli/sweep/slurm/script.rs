//! Batch script of an array of tasks, one for each shard.

use super::job::Job;
use super::options::SlurmOptions;
use super::place::Place;
use crate::workload::shell::quoted;

/// Part of the batch script shared by all submissions of an array.
pub struct Script<'a> {
    pub options: &'a SlurmOptions,
    pub place: &'a Place,
    pub job: &'a Job,
}

impl Script<'_> {
    /// Returns the script that runs the shards with these numbers, in ascending order.
    pub fn text(&self, numbers: &[usize]) -> String {
        let typed = self.options.others().map(str::to_owned);
        let own = self.arguments(numbers).into_iter().map(|option| quoted(&option));
        let lines: String = typed.chain(own).map(|option| format!("#SBATCH {option}\n")).collect();
        let Place { program, plan, cache, .. } = self.place;
        format!(
            "#!/bin/sh\n{lines}exec {} sweep {} --shard \"$SLURM_ARRAY_TASK_ID\"/{} --jobs {} --cache {} -o {}/\"$SLURM_ARRAY_TASK_ID\"\n",
            quoted(program),
            quoted(plan),
            self.job.tasks,
            self.options.cpus(),
            quoted(cache),
            quoted(&self.place.shards()),
        )
    }

    /// Returns options that `sbatch` also gets on its command line, where they take precedence over
    /// `SBATCH_` environment variables.
    pub fn arguments(&self, numbers: &[usize]) -> Vec<String> {
        let mut arguments = self.options.resources();
        // `%` begins a placeholder in the name of a log.
        let logs = self.place.logs().replace('%', "%%");
        let log = format!("{logs}/%A_%a.log");
        arguments.extend([
            format!("--job-name={}", self.job.name),
            format!("--array={}", ranges(numbers)),
            format!("--output={log}"),
            format!("--error={log}"),
            // Slurm restarts a task after its node has failed.
            "--open-mode=append".to_owned(),
        ]);
        arguments
    }
}

/// Formats ascending numbers as `1-4,7`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let range = |run: &[usize]| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(usize::to_string).collect(),
    };
    runs.map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::sweep::Args;
    use clap::Parser;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        sweep: Args,
    }

    fn script(arguments: &[&str], directory: &str, numbers: &[usize]) -> String {
        let arguments = [&["sweep", "plan.toml", "--slurm"], arguments].concat();
        let options = Typed::parse_from(arguments).sweep.slurm;
        let place = Place {
            program: "/usr/bin/warpmem".to_owned(),
            plan: "/home/me/plan.toml".to_owned(),
            cache: "/scratch/traces".to_owned(),
            directory: directory.to_owned(),
        };
        let job = Job { name: "sweep-plan-0123456789abcdef".to_owned(), tasks: 16 };
        Script { options: &options, place: &place, job: &job }.text(numbers)
    }

    #[test]
    fn without_options_a_task_has_one_processor() {
        let all: Vec<usize> = (1..=16).collect();
        insta::assert_snapshot!(script(&[], "/scratch/results", &all));
    }

    #[test]
    fn options_are_lines_and_names_are_quoted() {
        let arguments = [
            "--partition",
            "long,short",
            "--time=1-00:00:00",
            "--cpus=8",
            "--mem=16G",
            "--account",
            "my lab",
            "--sbatch-option",
            "--constraint=\"a|b\"",
            "--sbatch-option=-q high",
        ];
        insta::assert_snapshot!(script(&arguments, "/scratch/it's 100%", &[3, 7, 8, 9]));
    }

    #[test]
    fn numbers_are_written_as_ranges() {
        for (numbers, text) in
            [(&[4][..], "4"), (&[1, 2], "1-2"), (&[1, 3, 4, 5, 9], "1,3-5,9"), (&[], "")]
        {
            assert_eq!(ranges(numbers), text);
        }
    }
}
