//! Vertices by the numbers that a file gives them, which may be large and far apart.

use std::collections::HashMap;

use super::NODES;
use super::lines::{Failure, Field};
use crate::parameters::show_count;

/// Vertices keep numbers below this one, so the highest number sets the size of the graph.
const KEPT: u64 = if cfg!(any(test, fuzzing)) { 1 << 12 } else { 1 << 24 };

/// The vertices that a file names. A number from [`KEPT`] on gets the next free place while the file is read. If
/// there is one, all vertices are renumbered at the end.
pub struct Vertices {
    /// The number of the file's first vertex.
    first: u64,
    /// One more than the highest place below [`KEPT`].
    kept: u32,
    /// Places of the others, counted from [`KEPT`].
    places: HashMap<u64, u32>,
    /// Their numbers, by place.
    numbers: Vec<u64>,
}

impl Vertices {
    pub fn counted_from(first: u64) -> Vertices {
        Vertices { first, kept: 0, places: HashMap::new(), numbers: Vec::new() }
    }

    /// The place of the vertex that `field` names.
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

    /// The number of vertices. Renumbers all in the order of their numbers if some are not kept, and says so in
    /// `notes`; `each` visits every place that was given out.
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

/// [`Vertices::settle`] of both ends of all edges.
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
