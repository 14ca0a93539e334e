//! Cluster shapes of launches.

use super::super::Machine;
use crate::{DeviceMemory, Image, Launch, LaunchError, Run};

fn outcome(
    directives: &str,
    grid: [u32; 3],
    cluster: Option<[u32; 3]>,
) -> Result<Option<[u32; 3]>, String> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {directives} {{ ret; }}"
    );
    let mut memory = DeviceMemory::default();
    let image = Image::load(warpmem_ptx::parse(&text).unwrap(), &mut memory).unwrap();
    let launch =
        Launch { grid, cluster, params: crate::Params::default(), ..Machine::new(1).launch(1, 32) };
    let run: Result<_, LaunchError> = Run::new(&image, &launch).map(|run| run.cluster());
    run.map_err(|error| error.to_string())
}

#[test]
fn clusters_come_from_the_launch_or_the_kernel() {
    let grid = [8, 4, 2];
    assert_eq!(outcome("", grid, None), Ok(None));
    assert_eq!(outcome("", grid, Some([1; 3])), Ok(None), "one CTA is not a cluster");
    assert_eq!(outcome("", grid, Some([4, 2, 2])), Ok(Some([4, 2, 2])));
    assert_eq!(outcome(".reqnctapercluster 2, 2", grid, None), Ok(Some([2, 2, 1])));
    assert_eq!(outcome(".reqnctapercluster 2, 2", grid, Some([2, 2, 1])), Ok(Some([2, 2, 1])));
    assert_eq!(outcome(".explicitcluster .reqnctapercluster 2", grid, None), Ok(Some([2, 1, 1])));
    assert_eq!(outcome(".explicitcluster", grid, Some([2, 1, 1])), Ok(Some([2, 1, 1])));
    assert_eq!(outcome(".maxclusterrank 4", grid, Some([2, 2, 1])), Ok(Some([2, 2, 1])));
}

#[test]
fn invalid_clusters_are_refused() {
    let grid = [8, 4, 2];
    for (directives, cluster, reason) in [
        ("", Some([3, 1, 1]), "clusters of 3 x 1 x 1 CTAs do not divide the grid of 8 x 4 x 2"),
        ("", Some([1, 1, 4]), "do not divide the grid"),
        ("", Some([8, 4, 1]), "clusters of 8 x 4 x 1 CTAs; 1 to 16 are possible"),
        ("", Some([2, 0, 1]), "1 to 16 are possible"),
        ("", Some([u32::MAX; 3]), "1 to 16 are possible"),
        (".maxclusterrank 4", Some([8, 1, 1]), "1 to 4 are possible"),
        (".maxclusterrank 32", Some([8, 4, 1]), "1 to 16 are possible"),
        (".reqnctapercluster 2", Some([4, 1, 1]), "compiled for 2 x 1 x 1 (.reqnctapercluster)"),
        (".reqnctapercluster 5", None, "do not divide the grid"),
        (".explicitcluster", None, "a launch must set its cluster shape (.explicitcluster)"),
    ] {
        let error = outcome(directives, grid, cluster).unwrap_err();
        assert!(error.contains("kernel `k`: ") && error.contains(reason), "{directives}: {error}");
    }
}
