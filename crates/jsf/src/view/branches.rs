//! The lines that join the nodes of a tree in a table.

/// The deepest level that is drawn: else the lines of a chain of nodes take the square of its
/// length.
pub(crate) const MAX_LEVELS: usize = 40;

/// The lines before the name of each node, from the depths of the nodes in depth-first order.
/// Deeper nodes than those of the last level are drawn on that level.
pub(crate) fn branches(depths: &[usize]) -> Vec<String> {
    // whether a later node continues the line of a level
    let mut continues = [false; MAX_LEVELS + 1];
    let mut branches = Vec::with_capacity(depths.len());
    for depth in depths.iter().rev() {
        let level = (*depth).min(MAX_LEVELS);
        let mut lines: String = (1..level)
            .map(|above| if continues[above] { "│  " } else { "   " })
            .collect();
        if level > 0 {
            lines.push_str(if continues[level] {
                "├─ "
            } else {
                "└─ "
            });
        }
        branches.push(lines);
        continues[level] = true;
        continues[level + 1..].fill(false);
    }
    branches.reverse();
    branches
}
