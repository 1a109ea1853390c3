"""verl, from its package: its reward manager, with the adapter as `reward.custom_reward_function`."""

import harness
import numpy
import torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager

CONFIG = OmegaConf.create({"reward": {
    "reward_manager": {"source": "register", "name": "naive"},
    "custom_reward_function": {"path": "pkg://assay.adapters.verl", "name": "compute_score",
                               "reward_kwargs": {"plugin": "math@prod", "run": "verl"}}}})
manager = None


class Letters:
    """A tokenizer of single characters."""

    def decode(self, ids, **_):
        return "".join(map(chr, ids.tolist()))


async def score(_, case):
    global manager
    manager = manager or load_reward_manager(CONFIG, Letters())
    letters = torch.tensor([list(map(ord, case.response))])
    row = DataProto.from_dict(
        tensors={"responses": letters, "attention_mask": torch.ones_like(letters)},
        non_tensors={"data_source": numpy.array(["sums"], object),
                     "reward_model": numpy.array([{"ground_truth": case.label}], object),
                     "extra_info": numpy.array([{"index": case.index}], object)})
    return (await manager.run_single(row))["reward_score"]


harness.run("verl", score, harness.sums(600))
