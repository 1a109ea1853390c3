//! Charts of a comparison as SVG files.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use assay_sim::Run;
use assay_sim::plot::policies::{delays, norms, queue, workers};

pub(super) fn write(folder: &Path, runs: &[Run]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let write = |name: &str, chart: String| {
        let path = folder.join(name);
        fs::write(&path, chart).with_context(|| format!("cannot write {}", path.display()))
    };
    write("delays.svg", delays("Extra delay of each batch", runs))?;
    write("norms.svg", norms(runs))?;
    for pool in 0..runs.first().map_or(0, |run| run.pools.len()) {
        let name = &runs[0].pools[pool].pool;
        let chart = workers(&format!("Workers of {name}"), runs, pool);
        write(&format!("workers-{}.svg", file_name(name)), chart)?;
    }
    for run in runs {
        for used in &run.pools {
            let name = format!("{}-{}", run.policy, used.pool);
            let chart = queue(&name, &used.timeline.samples);
            write(&format!("stage-{}.svg", file_name(&name)), chart)?;
        }
    }
    Ok(())
}

/// The name with every character replaced that might have a meaning in a path.
fn file_name(name: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    name.chars().map(|letter| if keep(letter) { letter } else { '_' }).collect()
}
