//! The numbers that others published, to stand beside those measured here.

/// The published numbers of one policy on one trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) policy: &'static str,
    pub(super) delay_s: f64,
    pub(super) gpu_norm: f64,
    pub(super) cpu_norm: f64,
}

const fn measured(policy: &'static str, delay_s: f64, gpu_norm: f64, cpu_norm: f64) -> Measured {
    Measured { policy, delay_s, gpu_norm, cpu_norm }
}

/// An independent simulator that was written from the paper, on the shared traces with D = 2 s. Its
/// own best policy stands beside `assay`.
pub(super) mod reference {
    use super::{Measured, measured};

    pub(in super::super) const ONE_TASK_BEST: Measured = measured("assay", 0.21, 1.104, 1.091);
    pub(in super::super) const SIX_TASKS_BEST: Measured = measured("assay", 0.42, 1.051, 1.052);

    pub(in super::super) const ONE_TASK: [Measured; 5] = [
        measured("zq", 0.0, 3.802, 3.057),
        measured("history", 15.5, 1.412, 1.524),
        measured("distrs", 5.79, 1.449, 1.867),
        measured("ideal", 1.64, 1.375, 1.474),
        ONE_TASK_BEST,
    ];
    pub(in super::super) const SIX_TASKS: [Measured; 4] = [
        measured("zq", 0.0, 3.843, 3.095),
        measured("distrs", 0.30, 1.298, 1.287),
        measured("ideal", 0.73, 1.106, 1.106),
        SIX_TASKS_BEST,
    ];
    pub(in super::super) const SIX_TASKS_STARTUP: [Measured; 3] = [
        measured("distrs", 0.22, 1.340, 1.337),
        measured("ideal", 0.81, 1.158, 1.262),
        measured("assay", 0.37, 1.168, 1.207),
    ];

    /// ZQ-Dedicated's time over that of DistRS, and the mean delay of DistRS, on a trace of its
    /// own.
    pub(in super::super) const COLOCATED: super::Savings =
        super::Savings { gpu: 2.87, cpu: 2.30, delay_s: 0.05 };
    pub(in super::super) const DISAGGREGATED: super::Savings =
        super::Savings { gpu: 3.00, cpu: 2.68, delay_s: 0.02 };

    /// Algorithm 1 with 16,000 requests.
    pub(in super::super) const PLAN_16K_S: f64 = 0.058;
}

/// The savings of DistRS compared with ZQ-Dedicated, and its extra delay.
#[derive(Debug, Clone, Copy)]
pub(super) struct Savings {
    pub(super) gpu: f64,
    pub(super) cpu: f64,
    pub(super) delay_s: f64,
}

/// Sections 6.2 to 6.4.
pub(super) mod paper {
    use super::Savings;

    pub(in super::super) const COLOCATED: Savings = Savings { gpu: 3.79, cpu: 1.98, delay_s: 0.62 };
    pub(in super::super) const DISAGGREGATED: Savings =
        Savings { gpu: 3.49, cpu: 2.16, delay_s: 0.85 };
    pub(in super::super) const ONE_TASK_HISTORY_DELAY_S: f64 = 14.3;
    pub(in super::super) const ONE_TASK_DELAY_S: f64 = 2.1;
    /// GPUs of FCFS over those of EBF at the same low delay.
    pub(in super::super) const EBF_FACTOR: f64 = 1.5;
    pub(in super::super) const PLAN_16K_S: f64 = 2.0;
}
