"""ROLL, from its sources: the handler by which its reward workers ask a remote reward system, with its own threads."""

import harness

harness.source("ROLL", "roll")
# Its package imports Ray and the engines; the worker around the handler is not made.
harness.bare("roll", "roll.pipeline", "roll.pipeline.rlvr", "roll.pipeline.rlvr.rewards", "roll.utils")
harness.absent("roll.configs", "roll.configs.worker_config", "roll.distributed", "roll.distributed.executor",
               "roll.distributed.executor.worker", "roll.distributed.scheduler", "roll.distributed.scheduler.decorator",
               "roll.distributed.scheduler.protocol", "roll.models", "roll.models.model_providers")
from roll.pipeline.rlvr.rewards.remote_reward_system_worker import RewardSystemHandler  # noqa: E402


def drive(trial):
    url = f"{trial.service.url}/compat/roll/math@prod/roll"
    config = {"xrl_authorization": trial.service.key, "submit_url": f"{url}/submit_task",
              "get_result_url": f"{url}/task_result"}

    class Watched(RewardSystemHandler):
        """Tells the trial of each sample."""

        def get_reward(self, **sample):
            trial.before(trial.cases[int(sample["data_id"])])
            return super().get_reward(**sample)

    samples = [("sums", "first", 0, str(case.index), str(case.index), {"ground_truth": case.label}, case.prompt,
                case.response) for case in trial.cases]
    rewards = Watched(config, {}).multi_thread_request_reward_system(samples)
    for case, reward in zip(trial.cases, rewards, strict=True):
        trial.got(case, reward)


harness.run_whole("roll", drive, harness.sums(320))
