"""open-instruct, from its sources: the verifier of its code rewards, which asks `/test_program` and writes 0 where that
fails, whatever the reason."""

import harness

harness.source("open-instruct", "open_instruct")
# Its package asks for a version that a checkout lacks; its other verifiers are not used.
harness.bare("open_instruct")
harness.absent("open_instruct.context_window_checker", "open_instruct.if_functions", "open_instruct.IFEvalG",
               "open_instruct.judge_utils", "open_instruct.math_utils", "open_instruct.rubrics",
               "open_instruct.rubrics.prompts", "open_instruct.rubrics.run_utils", "open_instruct.utils")
from open_instruct.ground_truth_utils import CodeVerifier, CodeVerifierConfig  # noqa: E402


async def score(trial, case):
    config = CodeVerifierConfig(
        code_api_url=trial.address("open-instruct", "run@prod", "/test_program_stdio"), code_max_execution_time=2.0,
        code_pass_rate_reward_threshold=0.0, code_apply_perf_penalty=False)
    pairs = [test.rsplit(" ", 1) for test in case.label.split("; ")]
    tests = [{"input": numbers, "output": total} for numbers, total in pairs]
    return (await CodeVerifier(config).async_call([], case.response, tests)).score


harness.run("open-instruct", score, harness.programs(300), at_once=16, plugins=("run",), writes_zero=True)
