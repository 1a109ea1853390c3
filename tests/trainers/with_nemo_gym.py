"""NeMo-Gym, from its package: the client by which its agents ask a resources server. It repeats a call without end
where no server is there; an answer of 503, as a server gives while it starts, fails the rollout."""

import harness
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import ServerClient, raise_for_status
from omegaconf import OmegaConf

client = None


def row(case):
    said = {"type": "output_text", "text": case.response, "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [said]}
    return {"responses_create_params": {"input": [{"role": "user", "content": case.prompt}]}, "label": case.label,
            "response": {"id": "r", "created_at": 1, "model": "m", "object": "response", "parallel_tool_calls": True,
                         "tool_choice": "auto", "tools": [], "output": [message]}}


async def score(trial, case):
    global client
    if client is None:
        host = trial.address("nemo-gym").removeprefix("http://")
        server = {"resources_servers": {"assay": {"host": host, "port": 80}}}
        client = ServerClient(head_server_config=BaseServerConfig(host="127.0.0.1", port=1),
                              global_config_dict=OmegaConf.create({"assay_math": server}))
    answer = await client.post("assay_math", "/verify", json=row(case))
    await raise_for_status(answer)
    return (await answer.json())["reward"]


harness.run("nemo-gym", score, harness.sums(600), stops=True)
