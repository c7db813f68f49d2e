//! From places in generated code back to places in the source as written.

/// One stretch of generated code: (generated line, generated column, source line, source column), all from 0.
type Stretch = (u32, u32, u32, u32);

/// A source map reduced to what stacks need.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineMap(Vec<Stretch>);

impl LineMap {
    /// Makes a map of stretches in any order.
    pub(crate) fn new(mut stretches: Vec<Stretch>) -> Self {
        stretches.sort_unstable();
        Self(stretches)
    }

    /// Finds where `line` and `column` (from 1) of the generated code were written (from 1).
    pub(crate) fn find(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let wanted = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self.0.partition_point(|&(to_line, to_column, ..)| (to_line, to_column) <= wanted);
        // The stretch that holds the place; before the first one of its line, that first one.
        let stretch = after
            .checked_sub(1)
            .and_then(|index| self.0.get(index))
            .filter(|stretch| stretch.0 == wanted.0)
            .or_else(|| self.0.get(after).filter(|stretch| stretch.0 == wanted.0))
            .or_else(|| after.checked_sub(1).and_then(|index| self.0.get(index)))?;
        Some((stretch.2 + 1, stretch.3 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_stretch_of_the_line_wins() {
        let map = LineMap::new(vec![(2, 0, 7, 0), (0, 0, 0, 4), (0, 10, 3, 2)]);
        assert_eq!(map.find(1, 1), Some((1, 5)));
        assert_eq!(map.find(1, 11), Some((4, 3)));
        assert_eq!(map.find(1, 99), Some((4, 3)));
        assert_eq!(map.find(2, 1), Some((4, 3)), "a line of its own falls to what stands before it");
        assert_eq!(map.find(3, 5), Some((8, 1)));
        assert_eq!(map.find(0, 0), None);
        assert_eq!(LineMap::default().find(1, 1), None);
    }
}
