//! The points of a paper's map: their kernels, and their gains as claims.

use super::map::{Axis, Map, Place};
use super::{Claim, Paper, PaperError};
use crate::suite::{Planned, SuiteError};
use warpmem_trace::Ranges;
use warpmem_workload::Request;

/// Seed of the kernels.
const SEED: u64 = 1;

impl Paper {
    /// Returns the values of an axis in a run of this size.
    pub fn along<'a>(&'a self, axis: &'a Axis) -> &'a [String] {
        match &axis.setting {
            Some(setting) => self.swept(setting),
            None if self.is_quick && !axis.quick.is_empty() => &axis.quick,
            None => &axis.values,
        }
    }

    /// Returns all points of a map, row by row from the lowest.
    pub fn places(&self, map: &Map) -> Vec<Place> {
        let of_row = |up: &String| {
            let place = move |across: &String| Place {
                across: across.clone(),
                up: up.clone(),
                workload: map.workload(across, up),
            };
            self.along(&map.across).iter().map(place).collect::<Vec<_>>()
        };
        self.along(&map.up).iter().flat_map(of_row).collect()
    }

    /// Returns the distinct kernels of a map.
    ///
    /// # Errors
    /// If the generator or one of its parameters does not exist.
    pub fn map_workloads(&self, map: &Map) -> Result<Vec<Planned>, PaperError> {
        let mut planned: Vec<Planned> = Vec::new();
        for place in self.places(map) {
            if planned.iter().any(|known| known.name == place.workload) {
                continue;
            }
            let axes = [(&map.across, &place.across), (&map.up, &place.up)];
            let of_axes = axes
                .into_iter()
                .filter_map(|(axis, value)| Some((axis.parameter.clone()?, value.clone())));
            let request = Request {
                kernel: map.kernel.clone(),
                parameters: map.parameters.clone().into_iter().chain(of_axes).collect(),
                seed: SEED,
                launches: Ranges::all(),
            };
            request.check().map_err(|source| PaperError::Workloads {
                name: self.name.clone(),
                source: Box::new(SuiteError::Request { workload: place.workload.clone(), source }),
            })?;
            planned.push(Planned {
                name: place.workload,
                about: map.kernel.clone(),
                request,
                recorded: None,
            });
        }
        Ok(planned)
    }

    /// Returns the paper with the gains of a map as its only claims: one for each combination of
    /// settings.
    pub fn on_map(&self, map: &Map) -> Paper {
        let mut claims: Vec<Claim> = Vec::new();
        for place in self.places(map) {
            let claim = map.claim(&map.settings(&place));
            if !claims.iter().any(|known| known.what == claim.what) {
                claims.push(claim);
            }
        }
        self.only(map, claims)
    }

    /// Returns the paper with the gain of a map on its own machine as its only claim.
    pub fn off_map(&self, map: &Map) -> Paper {
        self.only(map, vec![map.claim("")])
    }

    fn only(&self, map: &Map, claims: Vec<Claim>) -> Paper {
        let mut paper = self.clone();
        paper.schemes.values_mut().for_each(|scheme| scheme.extend(map.set.iter().cloned()));
        Paper { claims, figures: Vec::new(), classified: None, ..paper }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{find, names};
    use warpmem_machine::{flatten, load};

    fn paper() -> Paper {
        let text = "title = 'T'\nmachine = 'li2015'\nworkloads.quick = []\n\
            [schemes]\nX = []\nY = []\n[settings.queue]\nset = ['dram.read_queue={}']\nvalues = [16, 64]\n\
            [map]\nabout = 'a'\nof = 'X'\nover = 'Y'\nkernel = 'pointer-chase'\nparameters = { hops = 4 }\n\
            set = ['run.count_row_sharing=true']\nacross = { label = 'queue', setting = 'queue', key = 'dram.read_queue' }\n\
            up = { label = 'nodes', parameter = 'nodes', values = ['2^4', '2^6'], metric = 'l1_miss_rate' }";
        Paper::from_text("t", text).unwrap()
    }

    #[test]
    fn a_map_has_a_place_for_each_pair_of_values_and_a_kernel_for_each_of_parameters() {
        let paper = paper();
        let map = paper.map.as_ref().unwrap();
        let places = paper.places(map);
        let texts: Vec<String> = places
            .iter()
            .map(|place| format!("{} {} {}", place.across, place.up, place.workload))
            .collect();
        assert_eq!(
            texts,
            [
                "16 2^4 pointer-chase.nodes-2p4",
                "64 2^4 pointer-chase.nodes-2p4",
                "16 2^6 pointer-chase.nodes-2p6",
                "64 2^6 pointer-chase.nodes-2p6"
            ]
        );
        let kernels = paper.map_workloads(map).unwrap();
        let nodes: Vec<&str> =
            kernels.iter().map(|kernel| kernel.request.parameters["nodes"].as_str()).collect();
        assert_eq!(nodes, ["2^4", "2^6"]);
        assert_eq!(kernels[0].request.parameters["hops"], "4");
    }

    #[test]
    fn the_gains_of_a_map_are_claims_one_for_each_setting() {
        let paper = paper();
        let map = paper.map.as_ref().unwrap();
        let names = |paper: &Paper| -> Vec<String> {
            paper.configurations().unwrap().into_iter().map(|one| one.name).collect()
        };
        let on = names(&paper.on_map(map));
        assert_eq!(on, ["X @ queue=16", "X @ queue=64", "Y @ queue=16", "Y @ queue=64"]);
        let off = paper.off_map(map);
        assert_eq!(names(&off), ["X", "Y"]);
        assert_eq!(off.configuration("X").unwrap().overrides, ["run.count_row_sharing=true"]);
    }

    /// Every axis states how it positions a workload, and everything named by a map exists.
    #[test]
    fn every_paper_has_a_map() {
        for paper in names().map(|name| find(name).unwrap()) {
            let Some(map) = &paper.map else {
                let is_paper = paper.factorial.is_none() && paper.survey.is_none();
                assert!(!is_paper, "{} has none", paper.name);
                continue;
            };
            for paper in [paper.clone(), paper.clone().quickly()] {
                assert!(paper.places(map).len() >= 4, "{}", paper.name);
                paper.map_workloads(map).unwrap_or_else(|error| panic!("{error:?}"));
                for configuration in paper.on_map(map).configurations().unwrap() {
                    load(&paper.machine, &configuration.overrides).unwrap();
                }
            }
            let machine = flatten(&load(&paper.machine, &[]).unwrap());
            for axis in [&map.across, &map.up] {
                let what = format!("{}: {}", paper.name, axis.label);
                assert_ne!(axis.parameter.is_some(), axis.setting.is_some(), "{what}");
                assert_ne!(axis.metric.is_some(), axis.key.is_some(), "{what}");
                if let Some(wanted) = &axis.key {
                    assert!(machine.iter().any(|(key, _)| key == wanted), "{what}: {wanted}");
                }
            }
        }
    }
}
