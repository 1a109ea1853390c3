//! Answers as Slurm 22.05 printed them, and odd ones.

use super::*;

const TICKET: &str = "01997c6e-0000-7000-8000-000000000001";

fn line(id: &str, state: &str, nodes: &str, name: &str, reason: &str) -> String {
    format!("{id}|{state}|{nodes}|{name}|{reason}")
}

fn ours() -> String {
    format!("assay-abcdef01-cpu-{TICKET}")
}

fn one(printed: &str) -> Listed {
    let mut all = listing("abcdef01", printed);
    assert_eq!(all.len(), 1, "{printed:?}: {all:?}");
    all.remove(0)
}

#[test]
fn recorded_jobs_are_read() {
    let name = ours();
    for (printed, state, nodes, reason) in [
        (line("17", "PENDING", "", &name, "Resources"), JobState::Waiting, "", "Resources"),
        (line("17", "CONFIGURING", "n2", &name, "None"), JobState::Waiting, "n2", "None"),
        (line("17", "RUNNING", "n2", &name, "None"), JobState::Running, "n2", "None"),
        (
            line("17", "NODE_FAIL", "n[1-2]", &name, "NodeDown"),
            JobState::Ended("NODE_FAIL".into()),
            "n[1-2]",
            "NodeDown",
        ),
        (
            line("17", "COMPLETING", "n1", &name, "NonZeroExitCode"),
            JobState::Ended("COMPLETING".into()),
            "n1",
            "NonZeroExitCode",
        ),
        (
            line("17", "PENDING", "", &name, "Nodes required for job are DOWN, DRAINED | reserved"),
            JobState::Waiting,
            "",
            "Nodes required for job are DOWN, DRAINED | reserved",
        ),
    ] {
        let read = one(&printed);
        assert_eq!((read.id, read.ticket.to_string().as_str()), (17, TICKET), "{printed}");
        assert_eq!((read.state, &*read.nodes, &*read.reason), (state, nodes, reason), "{printed}");
    }
    assert_eq!(one(&line("9", "NEW_STATE", "n1", &name, "x")).state, JobState::Unknown);
}

#[test]
fn other_lines_are_passed_over() {
    let odd = [
        String::new(),
        "|".repeat(500),
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)".into(),
        line("17", "RUNNING", "n1", "assay-abcdef01-cpu", ""),
        line("17", "RUNNING", "n1", &format!("assay-abcdef01-{TICKET}"), ""),
        line("17", "RUNNING", "n1", &format!("assay-99999999-cpu-{TICKET}"), ""),
        line("17", "RUNNING", "n1", &format!("assay-abcdef01-cpu-{TICKET}0"), ""),
        line("17", "RUNNING", "n1", &format!("assay-abcdef01-cpü-{}", "é".repeat(18)), ""),
        line("17", "RUNNING", "n1", "wrap|assay-abcdef01-cpu", ""),
        line("0", "RUNNING", "n1", &ours(), ""),
        line("-1", "RUNNING", "n1", &ours(), ""),
        line("99999999999", "RUNNING", "n1", &ours(), ""),
        line("17_[1-3]", "PENDING", "", &ours(), ""),
        format!("17|RUNNING|n1|{}", ours()),
    ];
    assert_eq!(listing("abcdef01", &odd.join("\n")), []);
    let among =
        format!("{}\n{}\r\n{}", odd[4], line("18", "RUNNING", "n1", &ours(), "None"), odd[1]);
    assert_eq!((one(&among).id, &*one(&among).reason), (18, "None"));
}

#[test]
fn a_name_holds_its_ticket_whatever_the_pool_is_called() {
    let ticket = TicketId::generate();
    for pool in ["cpu", "gpu-h100-a", "a"] {
        let name = job_name("abcdef01", pool, ticket);
        assert_eq!(worker_of("abcdef01", &name), Some((pool.into(), ticket)));
        assert!(
            ticket.to_string().len() == limits::SLURM_TICKET_BYTES && name.starts_with("assay-")
        );
    }
}

#[test]
fn sbatch_answers_with_an_id() {
    assert_eq!(submitted("17\n"), Ok(17));
    assert_eq!(submitted("17;cluster\n"), Ok(17));
    assert_eq!(submitted("Welcome to the cluster\n\n 4294967295 \n"), Ok(JobId::MAX));
    for printed in ["", "\n\n", "0", "-3", "17 18", "Submitted batch job 17", "\u{1b}[2J", ";17"] {
        let said = submitted(printed).expect_err(printed);
        assert!(said.contains("no job id") && !said.contains('\u{1b}'), "{said:?}");
    }
    assert!(submitted(&"x".repeat(1 << 20)).expect_err("is refused").len() < 2_000);
}

#[test]
fn a_job_that_is_gone_is_cancelled() {
    assert!(is_gone("scancel: error: Kill job error on job id 17: Invalid job id specified"));
    assert!(is_gone("Kill job error on job id 17: Job/step already completing or completed"));
    assert!(!is_gone("scancel: error: Unable to contact slurm controller (connect failure)"));
}

#[test]
fn reasons_are_said_in_words() {
    for (reason, words) in [
        ("Resources", "no node has the requested resources free"),
        ("Priority", "higher priority"),
        ("None", "not looked at it yet"),
        ("", "not looked at it yet (Slurm: no reason)"),
        ("\0\u{7} ", "not looked at it yet (Slurm: no reason)"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "not available (Slurm: ReqNodeNotAvail, "),
        ("Nodes required for job are DOWN", "not available"),
        ("QOSMaxCpuPerUserLimit", "quality of service"),
        ("AssocGrpGRES", "limit of its account"),
        ("PartitionTimeLimit", "above the limit of its partition"),
        ("BadConstraints", "no node can ever"),
        ("launch failed requeued held", "Slurm keeps it waiting (Slurm: launch failed"),
    ] {
        let listed = one(&line("17", "PENDING", "", &ours(), reason));
        assert!(waits(&listed).contains(words), "{reason}: {}", waits(&listed));
    }
    let long = one(&line("17", "PENDING", "", &ours(), &"é\u{7}".repeat(9_999)));
    assert!(waits(&long).chars().count() < 500 && !waits(&long).contains('\u{7}'));
}

#[test]
fn ends_are_said_in_words() {
    let said = |state: &str, nodes: &str, reason: &str| {
        ended(&one(&line("17", state, nodes, &ours(), reason)), state)
    };
    assert_eq!(
        said("TIMEOUT", "n1", "TimeLimit"),
        "Slurm's job 17 on n1 reached the end of its time (TIMEOUT, TimeLimit)"
    );
    assert_eq!(said("CANCELLED", "", "None"), "Slurm's job 17 was cancelled (CANCELLED)");
    assert_eq!(
        said("NODE_FAIL", "n2", "NodeDown"),
        "Slurm's job 17 on n2 lost its node (NODE_FAIL, NodeDown)"
    );
}
