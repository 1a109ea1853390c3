//! `assay-reproduce report`: the figures of the DistRS paper and more, as a page with charts.
//!
//! Every number of the page comes from the runs of the same call, or from `published`, where its
//! source is named. A missed goal is reported and is not an error of the command.

mod comparison;
mod end_to_end;
mod expected;
mod operation;
mod ordering;
mod other_workloads;
mod overhead;
mod page;
mod parts;
mod published;
mod readings;
mod robustness;
mod scaling;
mod tenants;
mod within_batch;
mod workloads;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::bail;

use page::Page;
use workloads::{Scale, Workloads, has_shared};

/// Run the figures of the DistRS paper and more, and write a page with charts about them.
///
/// Writes reproduction.md and the folder reproduction/ with SVG charts. It takes some minutes on
/// all cores.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Folder with the traces of the reference simulator; missing traces are replaced by generated
    /// ones
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
    /// Folder for the page
    #[arg(long, value_name = "FOLDER", default_value = "docs")]
    out: PathBuf,
    /// Use small traces and few points, to check the page; its numbers mean nothing
    #[arg(long, conflicts_with = "traces")]
    quick: bool,
}

type Section = (&'static str, fn(&mut Page, &Workloads) -> anyhow::Result<()>);

const SECTIONS: [Section; 11] = [
    ("six tasks at once", end_to_end::add),
    ("one task alone", scaling::add),
    ("the order of queues", ordering::add),
    ("start-up times, groups, quotas, faults", operation::add),
    ("the order of requests inside a batch", within_batch::add),
    ("tenants that share a pool", |page, _| tenants::add(page)),
    ("other seeds and sudden changes", robustness::add),
    ("other rewards and other trainers", other_workloads::add),
    ("the end that is expected of a batch", expected::add),
    ("what each part of assay is worth", parts::add),
    ("how long a plan takes", |page, workloads| {
        overhead::add(page, workloads);
        Ok(())
    }),
];

pub(super) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &options.traces {
        if folder.exists() && !folder.is_dir() {
            bail!("{} is not a folder", folder.display());
        }
        if !has_shared(folder) {
            eprintln!(
                "{} lacks the traces of the reference: drawing others in their place",
                folder.display()
            );
        }
    }
    let scale = if options.quick { Scale::QUICK } else { Scale::FULL };
    let workloads = Workloads::new(options.traces.clone(), scale);
    let mut page = Page::new();
    let started = Instant::now();
    for (number, (name, add)) in SECTIONS.iter().enumerate() {
        eprintln!("{}/{}  {name}", number + 1, SECTIONS.len());
        add(&mut page, &workloads)?;
    }
    readings::add(&mut page);
    let (path, met, goals) = page.write(&options.out, &opening(&workloads, options.quick))?;
    let seconds = started.elapsed().as_secs();
    println!("{}: {met} of {goals} goals met ({seconds} s)", path.display());
    Ok(ExitCode::SUCCESS)
}

fn opening(workloads: &Workloads, quick: bool) -> String {
    let warning =
        if quick { "\n\n**A quick run on tiny workloads: its numbers mean nothing.**" } else { "" };
    format!(
        "# DistRS reproduced, and what goes past it\n\n\
         Written by `make reproduce` (`assay-reproduce report`): every number under \"here\" comes from \
         its runs, on a virtual clock, of the scheduler and planner that run live. Do not edit it.\
         {warning}\n\n\
         - **Workload.** The paper's trace is not public. All traces are synthetic, with the shapes of \
           its section 3. So the order of policies and the shape of curves can agree with the paper; \
           single numbers need not. {}\n\
         - **Reference.** An independent simulator, written from the same paper.\n\
         - **Accounting.** Cost is worker-seconds from when a worker is asked for, start-up billed. \
           *Norm* is allocated over executed time. d is a batch's extra delay over eq. 2; D = 2 s. \
           The first iteration of each task is history and not measured.\n\
         - **Policies.** `zq`: ZQ-Dedicated. `history`: algorithms 1 and 2 without the check of \
           timeouts. `distrs`: as published. `ideal`: knows all requests, planned at batch edges. \
           `assay`: ours. `limit`: `assay` with that knowledge.",
        workloads.described()
    )
}
