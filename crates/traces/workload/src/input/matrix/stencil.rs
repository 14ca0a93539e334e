//! Matrices of discretised operators: a row per grid point, with an entry for each point of its
//! stencil.

use crate::input::largest_side;

/// The neighbours in a stencil, besides the point itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stencil {
    /// Square grid, along the axes.
    Points5,
    /// Cubic grid, along the axes.
    Points7,
    /// Square grid, including diagonals.
    Points9,
    /// Cubic grid, including diagonals.
    Points27,
}

impl Stencil {
    pub fn points(self) -> u32 {
        match self {
            Stencil::Points5 => 5,
            Stencil::Points7 => 7,
            Stencil::Points9 => 9,
            Stencil::Points27 => 27,
        }
    }

    fn dimensions(self) -> u32 {
        match self {
            Stencil::Points5 | Stencil::Points9 => 2,
            Stencil::Points7 | Stencil::Points27 => 3,
        }
    }

    /// Returns whether the stencil has no diagonals.
    fn is_star(self) -> bool {
        matches!(self, Stencil::Points5 | Stencil::Points7)
    }

    /// Returns the entries of a matrix of `rows` rows. The side of the grid is the root of `rows`,
    /// rounded down; its last row or plane may be short.
    pub fn entries(self, rows: u32) -> Vec<(u32, u32)> {
        let points = i64::from(rows);
        let side = i64::from(largest_side(rows, self.dimensions()));
        let height = if self.dimensions() == 3 { side } else { points };
        let grid = Grid { sides: [side, height, points], points };
        let steps = self.steps();
        let mut entries = Vec::with_capacity(rows as usize * steps.len());
        for row in 0..rows {
            entries
                .extend(steps.iter().filter_map(|&step| Some((row, grid.neighbour(row, step)?))));
        }
        entries
    }

    fn steps(self) -> Vec<[i64; 3]> {
        let deep = if self.dimensions() == 3 { -1..=1 } else { 0..=0 };
        let all = deep.flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z])));
        let distance = |step: &[i64; 3]| step.iter().map(|part| part.abs()).sum::<i64>();
        all.filter(|step| !self.is_star() || distance(step) <= 1).collect()
    }
}

/// Points row by row, plane by plane.
struct Grid {
    sides: [i64; 3],
    points: i64,
}

impl Grid {
    fn neighbour(&self, point: u32, step: [i64; 3]) -> Option<u32> {
        let [width, height, _] = self.sides;
        let point = i64::from(point);
        let place = [point % width, point / width % height, point / width / height];
        let within = |axis: usize| (0..self.sides[axis]).contains(&(place[axis] + step[axis]));
        let to = point + step[0] + width * (step[1] + height * step[2]);
        ((0..3).all(within) && to < self.points).then_some(to as u32)
    }
}
