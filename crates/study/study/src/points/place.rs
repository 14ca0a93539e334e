//! The machines of points.

use super::error::PointsError;
use super::file::{Point, PointsFile};
use std::path::{Path, PathBuf};
use warpmem_machine::{Machine, load, preset_text};

/// A point and the machine that runs it.
pub struct Placed<'p> {
    pub point: &'p Point,
    /// The machine with all overrides.
    pub machine: Machine,
    /// Name or file of the machine, and its overrides, for the command that runs it alone.
    pub machine_name: String,
    pub overrides: Vec<String>,
}

/// Loads the machine of every point: that named in the file or, if `map` has this name, another.
/// `overrides` apply after those of the point.
///
/// # Errors
/// If a machine or an override is not valid; names the line.
pub fn place<'p>(
    file: &PointsFile,
    points: &[&'p Point],
    map: &[(String, String)],
    overrides: &[String],
) -> Result<Vec<Placed<'p>>, PointsError> {
    let placed = |point: &&'p Point| {
        let mapped = map.iter().rev().find(|(name, _)| *name == point.machine);
        let machine_name = match mapped {
            Some((_, other)) => other.clone(),
            None => beside(file, &point.machine),
        };
        let overrides = [point.overrides.as_slice(), overrides].concat();
        let machine = load(&machine_name, &overrides).map_err(|source| PointsError::Machine {
            path: file.path.clone(),
            line: point.line,
            machine: machine_name.clone(),
            source: Box::new(source),
        })?;
        Ok(Placed { point, machine, machine_name, overrides })
    };
    points.iter().map(placed).collect()
}

/// Returns the machine's name, or its file relative to the points file.
fn beside(file: &PointsFile, machine: &str) -> String {
    if preset_text(machine).is_some() || !machine.ends_with(".toml") {
        return machine.to_owned();
    }
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let path: PathBuf = folder.join(machine);
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> PointsFile {
        let text = "gpu,machine,set,workload,figure,unit,value\n\
                    V,v100,sm.max_ctas=2,vecadd,f,cycles,5\n";
        PointsFile::from_text(text, Path::new("some/p.csv")).unwrap()
    }

    fn placed(map: &[(&str, &str)], overrides: &[&str]) -> Result<(String, u32), String> {
        let file = file();
        let points: Vec<&Point> = file.points.iter().collect();
        let map: Vec<_> = map.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let overrides: Vec<_> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let placed = place(&file, &points, &map, &overrides).map_err(|error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error}: {}", source.unwrap_or_default())
        })?;
        Ok((placed[0].machine.name.clone(), placed[0].machine.sm.max_ctas))
    }

    #[test]
    fn maps_and_overrides_replace_the_machine_of_the_file() {
        assert_eq!(placed(&[], &[]), Ok(("v100".to_owned(), 2)));
        assert_eq!(placed(&[("v100", "a100")], &[]), Ok(("a100".to_owned(), 2)));
        assert_eq!(placed(&[("a100", "h100")], &["sm.max_ctas=3"]), Ok(("v100".to_owned(), 3)));
        let refused = placed(&[], &["sm.max_cta=3"]).unwrap_err();
        assert!(refused.starts_with("some/p.csv:2: machine `v100`: "), "{refused}");
        assert!(refused.contains("sm.max_ctas"), "{refused}");
    }
    #[test]
    fn the_points_of_the_project_have_valid_machines() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/points.csv");
        let file = PointsFile::read(&path).unwrap();
        let points: Vec<&Point> = file.points.iter().collect();
        assert!(points.len() > 200);
        let placed = place(&file, &points, &[], &[]).unwrap();
        assert!(placed.iter().all(|placed| placed.machine.validate().is_ok()));
    }
}
