//! Frames of a moving picture, and the points to track.

use super::super::prelude::*;
use super::Search;

/// The size of a frame and the limits of the motion.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    width: u32,
    height: u32,
    /// Side of the search area.
    area: u32,
    /// Maximum displacement from the first frame, each way.
    margin: u32,
}

impl Scene {
    /// Between frames the picture moves by at most twice its margin, which keeps every template
    /// within reach.
    pub fn new([width, height]: [u32; 2], search: Search) -> Result<Scene, WorkloadError> {
        let margin = search.reach() / 2;
        let least = search.area + 2 * margin;
        if width.min(height) >= least {
            return Ok(Scene { width, height, area: search.area, margin });
        }
        let message = format!(
            "--width {width} and --height {height} are less than the {least} pixels of a search and its moves"
        );
        Err(WorkloadError::Inconsistent { message })
    }

    /// Returns the upper left corners of the areas around points on two ellipses, the inner and the
    /// outer side of a wall, as indices into a frame.
    pub fn corners(&self, points: u32) -> Vec<u32> {
        let corner = |point: u32| {
            let angle = f64::from(point) / f64::from(points) * 2.0 * std::f64::consts::PI;
            let radius = if point.is_multiple_of(2) { 1.0 } else { 0.6 };
            let [x, y] = [(self.width, libm::cos(angle)), (self.height, libm::sin(angle))].map(
                |(length, along)| {
                    let half = f64::from(length - self.area - 2 * self.margin) / 2.0;
                    self.margin + libm::round(half + half * radius * along) as u32
                },
            );
            y * self.width + x
        };
        (0..points).map(corner).collect()
    }
}

/// A random picture, and the position of each frame in it.
pub struct Film {
    scene: Scene,
    picture: Vec<f32>,
    /// Upper left corners of the frames in the picture.
    offsets: Vec<[u32; 2]>,
}

impl Film {
    pub fn random(scene: Scene, frames: u32, random: &mut Random) -> Film {
        let Scene { width, height, margin, .. } = scene;
        let pixels = (width + 2 * margin) * (height + 2 * margin);
        let picture = (0..pixels).map(|_| random.index(256) as f32).collect();
        let mut offset = |number| match number {
            0 => [margin; 2],
            _ => [(); 2].map(|()| random.index(2 * margin + 1)),
        };
        let offsets = (0..frames).map(&mut offset).collect();
        Film { scene, picture, offsets }
    }

    pub fn frames(&self) -> u32 {
        self.offsets.len() as u32
    }

    pub fn width(&self) -> u32 {
        self.scene.width
    }

    pub fn frame(&self, number: u32) -> Vec<f32> {
        let Scene { width, height, margin, .. } = self.scene;
        let [left, top] = self.offsets[number as usize];
        let row = |y: u32| {
            let first = ((top + y) * (width + 2 * margin) + left) as usize;
            &self.picture[first..first + width as usize]
        };
        (0..height).flat_map(row).copied().collect()
    }

    /// Returns the displacement of frame `number` from the first, in wrapped numbers.
    #[cfg(test)]
    pub fn moved(&self, number: u32) -> [u32; 2] {
        let [from, to] = [0, number].map(|number| self.offsets[number as usize]);
        [0, 1].map(|axis| from[axis].wrapping_sub(to[axis]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_show_one_picture_at_different_offsets() {
        let search = Search::new(2, 6).unwrap();
        let scene = Scene::new([40, 30], search).unwrap();
        let film = Film::random(scene, 5, &mut Random::new(3));
        let first = film.frame(0);
        for number in 1..5 {
            let (frame, [x, y]) = (film.frame(number), film.moved(number));
            // Pixels beyond the reach of the margin.
            for at in [[10, 10], [20, 15], [30, 20]] {
                let there = [at[0] + x as i32, at[1] + y as i32];
                let [from, to] = [at, there].map(|[x, y]: [i32; 2]| (y * 40 + x) as usize);
                assert_eq!(first[from], frame[to], "{number}, {at:?}");
            }
        }
    }

    #[test]
    fn areas_are_disjoint_and_inside_every_frame() {
        let search = Search::new(5, 20).unwrap();
        let scene = Scene::new([640, 480], search).unwrap();
        let corners = scene.corners(51);
        for &corner in &corners {
            let [x, y] = [corner % 640, corner / 640];
            assert!((scene.margin..=640 - 41 - scene.margin).contains(&x), "{x}");
            assert!((scene.margin..=480 - 41 - scene.margin).contains(&y), "{y}");
        }
        let distinct: std::collections::BTreeSet<u32> = corners.iter().copied().collect();
        assert_eq!(distinct.len(), 51);
    }
}
