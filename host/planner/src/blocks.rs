//! The strongly connected components of the pools, in topological order: the pools of one block have to be
//! simulated together.

use crate::problem::Problem;

/// Pools between which work goes in a circle share a block; a block comes after all that feed it.
/// Returns the blocks, and the block of each pool.
pub(crate) fn blocks(problem: &Problem) -> (Vec<Vec<usize>>, Vec<usize>) {
    let reaches = reachable(problem);
    let count = problem.pools.len();
    // Who is reached by fewer pools outside its own block comes first.
    let feeders = |pool: usize| {
        (0..count).filter(|&other| reaches[other][pool] && !reaches[pool][other]).count()
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&pool| feeders(pool));
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut block_of = vec![usize::MAX; count];
    for pool in order {
        if block_of[pool] != usize::MAX {
            continue;
        }
        let together =
            |&other: &usize| other == pool || (reaches[pool][other] && reaches[other][pool]);
        let block: Vec<usize> = (0..count).filter(together).collect();
        block.iter().for_each(|&pool| block_of[pool] = blocks.len());
        blocks.push(block);
    }
    (blocks, block_of)
}

/// Whether work goes from a pool to another, over any number of stages.
fn reachable(problem: &Problem) -> Vec<Vec<bool>> {
    let count = problem.pools.len();
    let mut reaches = vec![vec![false; count]; count];
    for flow in &problem.flows {
        for pair in flow.stages.windows(2) {
            reaches[pair[0].pool][pair[1].pool] = true;
        }
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
            }
        }
    }
    reaches
}

#[cfg(test)]
mod tests {
    use assay_core::time::Micros;

    use super::*;
    use crate::problem::{Flow, FlowStage, ProblemPool};

    fn check(pools: usize, flows: &[&[usize]], wanted: &[&[usize]]) {
        let stage = |pool: &usize| FlowStage { pool: *pool, timeout: Micros::ZERO };
        let problem = Problem {
            now: Micros::ZERO,
            pools: vec![ProblemPool { name: "p".into(), cost: 1.0, max: 1 }; pools],
            flows: flows
                .iter()
                .map(|stages| Flow { stages: stages.iter().map(stage).collect() })
                .collect(),
            batches: Vec::new(),
            requests: Vec::new(),
            service: Vec::new(),
            stages_max: 1,
        };
        let (blocks, block_of) = blocks(&problem);
        assert_eq!(blocks, wanted);
        for (at, block) in blocks.iter().enumerate() {
            assert!(block.iter().all(|&pool| block_of[pool] == at));
        }
    }

    #[test]
    fn feeders_come_first_and_circles_share_a_block() {
        check(2, &[&[1, 0]], &[&[1], &[0]]);
        check(3, &[&[2, 1], &[1, 0]], &[&[2], &[1], &[0]]);
        check(3, &[&[2, 1], &[1, 2, 0]], &[&[1, 2], &[0]]);
        check(2, &[&[0, 0]], &[&[0], &[1]]);
    }
}
