//! Maps the vertex numbers of a file, which may be large and sparse, to indices.

use std::collections::HashMap;

use super::NODES;
use super::lines::{Failure, Field};
use crate::parameters::show_count;

/// Vertices below this number keep it, so the highest one sets the size of the graph.
const KEPT: u64 = if cfg!(any(test, fuzzing)) { 1 << 12 } else { 1 << 24 };

/// The vertices that a file names. Numbers from [`KEPT`] on get the next free index while the file
/// is read; if there are any, all vertices are renumbered at the end.
pub struct Vertices {
    /// Number of the file's first vertex.
    first: u64,
    /// Highest index below [`KEPT`], plus one.
    kept: u32,
    /// Indices of the others, counted from [`KEPT`].
    places: HashMap<u64, u32>,
    /// Their numbers, by index.
    numbers: Vec<u64>,
}

impl Vertices {
    pub fn counted_from(first: u64) -> Vertices {
        Vertices { first, kept: 0, places: HashMap::new(), numbers: Vec::new() }
    }

    /// Returns the index of the vertex that `field` names.
    pub fn place(&mut self, field: &Field) -> Result<u32, Failure> {
        let number = field.count("a vertex", (self.first, u64::MAX))?;
        let place = number - self.first;
        if place < KEPT {
            self.kept = self.kept.max(place as u32 + 1);
            return Ok(place as u32);
        }
        if let Some(&place) = self.places.get(&number) {
            return Ok(place);
        }
        if self.numbers.len() as u64 + u64::from(self.kept) >= NODES.1 {
            let most = show_count(NODES.1);
            return Err(field.refusal(format_args!("more than {most} vertices")));
        }
        let place = KEPT as u32 + self.numbers.len() as u32;
        self.places.insert(number, place);
        self.numbers.push(number);
        Ok(place)
    }

    /// Returns the number of vertices. If some are not kept, renumbers all in numeric order and
    /// adds a note; `each` visits every index in use.
    pub fn settle(
        self,
        notes: &mut Vec<String>,
        mut each: impl FnMut(&mut dyn FnMut(&mut u32)),
    ) -> u32 {
        let Some(highest) = self.numbers.iter().max() else { return self.kept };
        const UNNAMED: u32 = u32::MAX;
        let mut places = vec![UNNAMED; KEPT as usize + self.numbers.len()];
        each(&mut |place| places[*place as usize] = 0);
        let mut others: Vec<u32> = (0..self.numbers.len() as u32).collect();
        others.sort_unstable_by_key(|&other| self.numbers[other as usize]);
        let kept = (0..self.kept).filter(|&place| places[place as usize] != UNNAMED);
        let others = others.into_iter().map(|other| KEPT as u32 + other);
        let order: Vec<u32> = kept.chain(others).collect();
        for (new, &place) in (0..).zip(&order) {
            places[place as usize] = new;
        }
        each(&mut |place| *place = places[*place as usize]);
        let (count, most) = (order.len() as u32, show_count(KEPT));
        notes.push(format!(
            "vertices renumbered in the order of their numbers, as the highest, {highest}, is not below {most}: {count}"
        ));
        count
    }
}

/// Calls [`Vertices::settle`] on both ends of all edges.
pub fn settle_both<V>(
    vertices: Vertices,
    edges: &mut [(u32, u32, V)],
    notes: &mut Vec<String>,
) -> u32 {
    vertices.settle(notes, |visit| {
        for (from, to, _) in &mut *edges {
            visit(from);
            visit(to);
        }
    })
}
