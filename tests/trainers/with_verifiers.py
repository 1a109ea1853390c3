"""verifiers, from its package: its NeMo-Gym task, which opens a session and asks for the reward of each rollout. A
rollout whose call fails is an error there, without a reward. (The guide runs `vf-eval` as a whole.)"""

import types

import harness
from verifiers.v1.tasksets.nemo_gym.taskset import NeMoGymData, NeMoGymTask, NeMoGymTaskConfig
from verifiers.v1.tasksets.nemo_gym.toolset import NeMoGymState
from verifiers.v1.types import AssistantMessage


def trace_of(case):
    """What the task reads of a trace."""
    node = types.SimpleNamespace(message=AssistantMessage(content=case.response), sampled=True, timestamp=0.0)
    return types.SimpleNamespace(id=str(case.index), state=NeMoGymState(), info={}, record_metric=lambda *_: None,
                                 branches=[types.SimpleNamespace(nodes=[node])])


async def score(trial, case):
    address = f"{trial.service.url}/compat/nemo-gym/math@prod/verifiers"
    config = NeMoGymTaskConfig(resources_url=address, headers={"Authorization": f"Bearer {trial.service.key}"})
    row = {"responses_create_params": {"input": [{"role": "user", "content": case.prompt}]}, "label": case.label}
    task = NeMoGymTask(NeMoGymData(name=str(case.index), prompt=case.prompt, row=row), config)
    trace = trace_of(case)
    await task.setup(trace, None)
    return await task.nemo_gym(trace)


harness.run("verifiers", score, harness.sums(600), masks=True)
