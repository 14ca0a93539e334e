//! Properties of all readers.

use proptest::prelude::*;

use super::*;
use crate::input::Csr;
use Format::{
    Dimacs, EdgeList, Galois, Gapbs, Konect, MatrixMarket, Metis, Rodinia, WeightedGapbs,
};

/// Sizes that a header only declares take no memory.
#[test]
fn headers_reserve_no_memory() {
    for (format, text) in [
        (
            MatrixMarket,
            "%%MatrixMarket matrix coordinate pattern general\n67108864 67108864 268435456\n",
        ),
        (Dimacs, "p sp 67108864 268435456\n"),
        (Metis, "67108864 134217728\n"),
    ] {
        let refused = read_text::<u32>(format, text).unwrap_err();
        assert!(refused.contains("the file ends after 0 of "), "{refused}");
    }
}

/// An undirected graph as the entries of its matrix, (row, column, weight), in both directions and without loops.
fn any_graph() -> impl Strategy<Value = (u32, Vec<(u32, u32, u32)>)> {
    (2u32..12).prop_flat_map(|nodes| {
        let edges = prop::collection::btree_map((0..nodes, 0..nodes), 0u32..100, 0..20);
        edges.prop_map(move |edges| {
            let edges = edges.into_iter().filter(|((from, to), _)| from < to);
            let both = edges.flat_map(|((a, b), weight)| [(a, b, weight), (b, a, weight)]);
            (nodes, both.collect())
        })
    })
}

fn written(format: Format, nodes: u32, entries: &[(u32, u32, u32)]) -> String {
    let count = entries.len();
    let lines = |start: &str, base: u32| {
        let line = |&(row, column, value): &(u32, u32, u32)| {
            format!("{start}{} {} {value}\n", row + base, column + base)
        };
        entries.iter().map(line).collect::<String>()
    };
    match format {
        MatrixMarket => {
            let banner = "%%MatrixMarket matrix coordinate integer general";
            format!("{banner}\n{nodes} {nodes} {count}\n{}", lines("", 1))
        }
        // The loop names the last vertex.
        EdgeList => format!("{}{1} {1} 0\n", lines("", 0), nodes - 1),
        Dimacs => format!("p sp {nodes} {count}\n{}", lines("a ", 1)),
        Konect => {
            // KONECT's weights are not weights of a graph.
            let line =
                |&(row, column, _): &(u32, u32, u32)| format!("{} {}\n", row + 1, column + 1);
            let lines: String = entries.iter().map(line).collect();
            format!("% asym unweighted\n{lines}{nodes} {nodes}\n")
        }
        Rodinia => {
            let of = |vertex: u32| entries.iter().filter(move |&&(row, ..)| row == vertex);
            let first = |vertex: u32| entries.iter().filter(|&&(row, ..)| row < vertex).count();
            let vertex = |v: u32| format!("{} {}\n", first(v), of(v).count());
            let vertices: String = (0..nodes).map(vertex).collect();
            let edges = (0..nodes).flat_map(of).map(|(_, to, value)| format!("{to} {value}\n"));
            format!("{nodes}\n{vertices}\n0\n\n{count}\n{}", edges.collect::<String>())
        }
        Galois | Gapbs | WeightedGapbs => unreachable!("not text"),
        Metis => {
            let neighbours = |of: u32| {
                let own = entries.iter().filter(|&&(row, ..)| row == of);
                let line: String =
                    own.map(|(_, to, value)| format!("{} {value} ", to + 1)).collect();
                line + "\n"
            };
            let body: String = (0..nodes).map(neighbours).collect();
            format!("{nodes} {} 001\n{body}", count / 2)
        }
    }
}

proptest! {
    #[test]
    fn written_files_read_back_in_every_format((nodes, entries) in any_graph()) {
        let csr = |listing: &[(u32, u32, u32)]| {
            let edges = listing.iter().copied().filter(|(from, to, _)| from != to);
            Csr::from_entries(nodes, edges, |a, _| a)
        };
        for format in [MatrixMarket, EdgeList, Dimacs, Metis, Rodinia] {
            let listing = edges(format, written(format, nodes, &entries));
            prop_assert_eq!((listing.rows, listing.columns), (nodes, nodes));
            prop_assert_eq!(csr(&listing.entries), csr(&entries), "{:?}", format);
        }
        let konect = edges(Konect, written(Konect, nodes, &entries));
        prop_assert_eq!(csr(&konect.entries).0, csr(&entries).0);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[%pac0-9 .,\n-]{0,80}") {
        let banner = "%%MatrixMarket matrix coordinate real general\n";
        let headers =
            ["", banner, "p sp 5 3\n", "p edge 5 3\n", "5 3 011\n", "% bip weighted\n", "2\n0 1\n1 0\n0\n1\n"];
        for header in headers {
            read_as_every_format(format!("{header}{text}").as_bytes());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        at in 0usize..93, byte: u8, end in 0usize..93, version in 1u64..=2, width in 0usize..=2
    ) {
        let mut file = galois::galois_file(version, 4 * width, &[5, 6, 7]);
        if let Some(place) = file.get_mut(at) {
            *place = byte;
        }
        read_as_every_format(&file[..end.min(file.len())]);
    }

    /// Renumbered vertices keep the numeric order of the file. In tests, numbers from 2^12 on are renumbered.
    #[test]
    fn renumbered_vertices_keep_their_order(
        pairs in prop::collection::vec(
            (prop_oneof![0u64..20, (1u64 << 12) - 3..(1 << 12) + 3, any::<u64>()], 0u64..1 << 13), 1..20
        )
    ) {
        let text: String = pairs.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
        let listing = edges(EdgeList, text);
        let numbers: std::collections::BTreeSet<u64> =
            pairs.iter().flat_map(|&(from, to)| [from, to]).collect();
        let highest = *numbers.last().unwrap();
        let name = |place: u32| match highest < 1 << 12 {
            true => u64::from(place),
            false => *numbers.iter().nth(place as usize).unwrap(),
        };
        let read: Vec<_> = listing.entries.iter().map(|&(from, to, _)| (name(from), name(to))).collect();
        prop_assert_eq!(read, pairs);
        let nodes = if highest < 1 << 12 { highest + 1 } else { numbers.len() as u64 };
        prop_assert_eq!(u64::from(listing.rows), nodes);
    }
}
