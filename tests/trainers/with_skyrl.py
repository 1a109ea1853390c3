"""skyrl-gym, from its package: environments of its registry, stepped in threads as SkyRL's generator does."""

import harness
import skyrl_gym

skyrl_gym.register(id="assay", entry_point="assay.adapters.skyrl:AssayEnv",
                   kwargs={"plugin": "math@prod", "run": "skyrl"})


def score(_, case):
    environment = skyrl_gym.make("assay", env_config={}, extras={"reward_spec": {"ground_truth": case.label}})
    environment.init([{"role": "user", "content": case.prompt}])
    ended = environment.step(case.response)
    assert ended["done"]
    return ended["reward"]


harness.run("skyrl", score, harness.sums(600))
