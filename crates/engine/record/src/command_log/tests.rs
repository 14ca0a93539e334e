//! Command logs survive a round trip, and other files are refused.

use super::*;
use crate::ResultsError;
use warpmem_dram::standard::Standard;
use warpmem_dram::{CommandKind, GivenTimes};
use warpmem_machine as machine;

fn dram() -> Dram {
    let mut dram = machine::load("li2015", &[]).unwrap().dram;
    let hbm3 = Standard::load("hbm3").unwrap();
    hbm3.apply("HBM3_8Gb_8hi", "HBM3_6400Mbps", &mut dram).unwrap();
    dram
}

/// Returns one command of every kind, spread over the banks of the channel.
fn commands() -> Vec<Command> {
    let command = |(index, kind): (usize, CommandKind)| Command {
        cycle: 1 << (4 * index),
        kind,
        bank: (7 * index) as u16,
        row: 1000 * index as u32,
        burst: index as u16,
        request: (index % 2 == 0).then_some(index as u32),
    };
    CommandKind::ALL.into_iter().enumerate().map(command).collect()
}

fn write(path: &Path, channels: &[u16]) {
    let mut writer = CommandLogWriter::create(path, &dram()).unwrap();
    channels.iter().for_each(|&channel| writer.commands(channel, &commands()));
    writer.finish().unwrap();
}

fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn both_forms_survive_a_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["log.csv", "log.parquet"] {
        let path = dir.path().join(name);
        write(&path, &[0, 5]);
        let reader = CommandLogReader::open(&path).unwrap();
        // A log has times in cycles, not as given.
        let configured = Dram { given: GivenTimes::default(), ..dram() };
        assert_eq!(*reader.dram(), configured);
        let rows: Vec<LoggedCommand> = reader.map(Result::unwrap).collect();
        let expected =
            |channel| commands().into_iter().map(move |command| LoggedCommand { channel, command });
        assert_eq!(rows, expected(0).chain(expected(5)).collect::<Vec<_>>(), "{name}");
    }
    assert_eq!(names(&dir).len(), 2);
}

/// More rows than a Parquet row group holds.
#[test]
fn long_logs_are_written_in_groups() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.parquet");
    write(&path, &[3; 9000]);
    assert_eq!(CommandLogReader::open(&path).unwrap().count(), 81_000);
}

/// A log of channel 2.
fn text() -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    write(&path, &[2]);
    std::fs::read_to_string(&path).unwrap()
}

#[test]
fn the_text_form_is_readable() {
    let text = text();
    assert!(
        text.starts_with("# warpmem command log, version 1\n# [dram]\n# standard = \"hbm3\"\n")
    );
    // Bank 21 is the sixth of the second stack.
    assert!(text.contains("\n4096,WR,2,0,1,1,1,3000,3,\n"), "{text}");
    assert!(text.contains("\n65536,REFPB,2,0,1,0,3,4000,4,4\n"), "{text}");
}

#[test]
fn an_unfinished_log_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["log.csv", "log.parquet"] {
        let mut writer = CommandLogWriter::create(&dir.path().join(name), &dram()).unwrap();
        writer.commands(0, &commands());
        drop(writer);
        let mut writer = CommandLogWriter::create(&dir.path().join(name), &dram()).unwrap();
        let [first, ..] = commands().try_into().unwrap_or([commands()[0]; 9]);
        writer.commands(0, &[Command { bank: 64, ..first }]);
        let message = writer.finish().unwrap_err().to_string();
        assert!(message.ends_with("bank 64 of a channel of 64"), "{message}");
    }
    assert_eq!(names(&dir), [""; 0]);
}

/// Returns the error of the text of a log with `old` replaced by `new`.
fn refusal(old: &str, new: &str) -> String {
    let text = text();
    assert!(text.contains(old), "{old}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    std::fs::write(&path, text.replacen(old, new, 1)).unwrap();
    let rows = CommandLogReader::open(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let message = rows.expect_err(new).to_string();
    message.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn malformed_lines_are_refused_with_their_number() {
    let at = text().lines().position(|line| line.starts_with("4096,WR")).unwrap() + 1;
    let row = "4096,WR,2,0,1,1,1,3000,3,";
    let cases = [
        ("4096,WR,2", "4096,WR,6", "`channel` = 6: expected below `dram.channels` = 6"),
        ("4096,WR,2,0,1", "4096,WR,2,2,1", "`pseudo_channel` = 2: expected below 2"),
        ("4096,WR,2,0,1,1,1", "4096,WR,2,0,1,1,4", "`bank` = 4: expected below 4"),
        ("4096,WR", "-1,WR", "`cycle` = -1: expected a whole number of 64 bits"),
        (
            "4096,WR",
            "18446744073709551615,WR",
            "`cycle` = 18446744073709551615: expected at most 9223372036854775807",
        ),
        (
            "4096,WR",
            "4096,WRITE",
            "`command` = WRITE: expected one of ACT, PRE, RD, WR, REFPB, REF, RDA, WRA, PREA",
        ),
        (row, "4096,WR,2,0,1,1,1,3000,3,x", "`request` = x: expected a whole number of 32 bits"),
        (
            row,
            "4096,WR",
            "2 fields: expected cycle,command,channel,pseudo_channel,stack,group,bank,row,burst,request",
        ),
    ];
    for (old, new, problem) in cases {
        assert_eq!(refusal(old, new), format!("log.csv:{at}: {problem}"));
    }
    assert_eq!(
        refusal("# warpmem command log", "# some other log"),
        "log.csv: not a command log: expected line 1 to be `# warpmem command log, version 1`"
    );
    assert!(refusal("cycle,command", "cycle,cmd").contains(": not a command log: expected line "));
    assert!(
        refusal("# banks = 64\n", "")
            .contains("not a valid configuration in the log: missing field `banks`")
    );
}

#[test]
fn other_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str| CommandLogReader::open(&dir.path().join(name)).err().unwrap();
    assert!(matches!(open("absent.csv"), LogError::Io { .. }));
    assert!(matches!(open("absent.parquet"), LogError::Table(ResultsError::Io { .. })));
    std::fs::write(dir.path().join("x.parquet"), "not Parquet").unwrap();
    assert!(matches!(open("x.parquet"), LogError::Parquet { .. }));
    std::fs::write(dir.path().join("x.csv"), "").unwrap();
    assert!(matches!(open("x.csv"), LogError::NotALog { .. }));
    std::fs::write(dir.path().join("y.csv"), [0xff, 0xfe]).unwrap();
    assert!(matches!(open("y.csv"), LogError::Io { .. }));
}
