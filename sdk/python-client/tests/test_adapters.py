"""Each adapter, called as its trainer calls it; what a trainer brings along is stood in for."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

import assay
from assay import adapters
from assay.adapters import areal, openrlhf, response_of, skyrl, slime, text_of, trl, verifiers, verl

pytestmark = pytest.mark.usefixtures("environment")


class Noting(assay.AsyncClient):
    """Keeps the batches that it made."""

    def batch(self, *arguments: Any, **options: Any) -> assay.AsyncBatch:
        self.made = super().batch(*arguments, **options)
        return self.made


def test_trl(client: assay.Client, run: str) -> None:
    noting = Noting()
    f = trl.reward_func("math@prod", run, label="answer", metadata=["source"], client=noting)
    # As `GRPOTrainer` asks, of what it may be given.
    assert inspect.iscoroutinefunction(f)
    assert f.__name__ == "math"
    columns: dict[str, list[Any]] = {}
    metrics: dict[str, float] = {}
    rewards = asyncio.run(
        f(
            prompts=[[{"role": "user", "content": "6*7?"}]] * 4,
            completions=[[{"role": "assistant", "content": f"A: {42 - at % 2}"}] for at in range(4)],
            completion_ids=[[1]] * 4,
            trainer_state=types.SimpleNamespace(global_step=17),
            log_extra=columns.__setitem__,
            log_metric=metrics.__setitem__,
            answer=["42"] * 4,
            source=["x"] * 4,
        )
    )
    assert rewards == [1.0, 0.0, 1.0, 0.0]
    made = client.batch_info(noting.made.id, wait=60)
    assert (made.state, made.iteration, made.run, made.counts.scored) == ("done", 17, run, 4)
    assert columns["assay_verdict"][1] == "wrong"
    assert metrics == {"assay/timed_out": 0.0}


def test_trl_scores_nothing_that_a_tool_said(run: str) -> None:
    said = [
        {"role": "assistant", "content": "I ask.", "tool_calls": [{"function": {"name": "solve"}}]},
        {"role": "tool", "name": "solve", "content": "A: 42"},
    ]
    answers = [[*said, {"role": "assistant", "content": text}] for text in ("A: 42", "I do not know.")]
    f = trl.reward_func("math@prod", run)
    prompt = [{"role": "user", "content": "6*7?"}]
    rewards = f(prompts=[prompt] * 3, completions=[*answers, said], answer=["42"] * 3)
    assert asyncio.run(rewards) == [1.0, 0.0, 0.0]  # type: ignore[arg-type]


def test_trl_raises_where_there_is_no_reward(run: str) -> None:
    f = trl.reward_func("liar@prod", run, label=None)
    with pytest.raises(assay.BatchErrors):
        asyncio.run(f(prompts=["a", "a"], completions=["panic", "random"]))
    with pytest.raises(ValueError, match="no column 'answer'"):
        asyncio.run(trl.reward_func("math@prod", run)(prompts=["a"], completions=["b"], label=["c"]))


def test_trl_gives_none_for_verdicts_that_do_not_apply(run: str) -> None:
    f = trl.reward_func("math@prod", run, not_applicable={"wrong"})
    rewards = f(prompts=["a"] * 2, completions=["A: 42", "A: 41"], answer=["42"] * 2)
    assert asyncio.run(rewards) == [1.0, None]  # type: ignore[arg-type]


def test_verl(run: str) -> None:
    # verl passes the configured arguments with each call.
    f = functools.partial(verl.compute_score, plugin="math@prod", run=run, components=["length"])
    assert inspect.iscoroutinefunction(f)

    async def step() -> list[dict[str, Any]]:
        return await asyncio.gather(
            *(
                f(
                    data_source="openai/gsm8k", solution_str=f"A: {42 - at % 2}", ground_truth="42",
                    extra_info={"index": at // 4, "num_turns": None, "rollout_reward_scores": {}},
                )
                for at in range(32)
            )
        )  # fmt: skip

    scores = asyncio.run(step())
    assert [score["score"] for score in scores] == [1.0, 0.0] * 16
    assert {tuple(score) for score in scores} == {("score", "acc", "verdict", "timed_out", "length")}
    assert math.isnan(scores[0]["length"])
    # One batch for all that came together.
    assert len(adapters.scorer("math@prod", run)._open) == 1


def test_verl_groups_by_data_set_split_and_index(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = []

    class Scorer:
        async def ascore(self, **asked: Any) -> types.SimpleNamespace:
            groups.append(asked["group"])
            return types.SimpleNamespace(reward=1.0, verdict="", timed_out=False, components={})

    monkeypatch.setattr(verl, "scorer", lambda *_, **__: Scorer())
    for source, extra in [
        ("openai/gsm8k", {"split": "train", "index": 0}),
        ("openai/gsm8k", {"split": "test", "index": 0}),
        ("math", {"split": "train", "index": 0}),
        ("math", {"index": 0}),
        ("math", {"split": "train"}),
        ("https://example.com/" + "x" * 300, {"split": "train", "index": 0}),
    ]:
        asyncio.run(verl.compute_score(source, "A: 42", "42", extra))
    *groups, long = groups
    assert groups == ["openai/gsm8k/train/0", "openai/gsm8k/test/0", "math/train/0", "math/0", None]
    assert len(long) <= 256


def test_a_misspelt_argument_of_verl_is_named(run: str) -> None:
    with pytest.raises(TypeError, match="no argument 'plugn'; 'plugin' is meant"):
        asyncio.run(verl.compute_score("x", "A: 42", "42", plugn="math@prod", run=run))
    # verl's own are left alone.
    own = {"sandbox_fusion_url": None, "reward_router_address": "a", "reward_model_tokenizer": None}
    score = verl.compute_score("x", "A: 42", "42", plugin="math@prod", run=run, memory_limit_mb=1, **own)
    assert asyncio.run(score)["score"] == 1.0


def test_expected_times_are_passed_on(run: str) -> None:
    # The server's word on one that it does not take shows that it came through.
    endless = 1e9
    of_slime = slime.custom_rm(
        types.SimpleNamespace(reward_key=None), Sample("", "A: 42", "42", metadata={"expected_ms": endless})
    )
    of_verl = verl.compute_score("x", "A: 42", "42", {"expected_ms": endless}, plugin="math@prod", run=run)
    f = trl.reward_func("math@prod", run, expected_ms="cost")
    of_trl = f(prompts=["6*7?"], completions=["A: 42"], answer=["42"], cost=[endless])
    for call in (of_slime, of_verl, of_trl):
        with pytest.raises(assay.AssayError, match="the limit is 86400000"):
            asyncio.run(call)
    reward = f(prompts=["6*7?"], completions=["A: 42"], answer=["42"], cost=[5.5])
    assert asyncio.run(reward) == [1.0]


def test_verl_raises_where_there_is_no_reward(run: str) -> None:
    score = verl.compute_score("x", "panic", None, {}, plugin="liar@prod", run=run)
    with pytest.raises(assay.RequestFailedError, match="plugin_trap"):
        asyncio.run(score)


@dataclass
class Trace:
    """As much of a verifiers trace as a reward function sees."""

    last_reply: str
    info: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    def record_metric(self, name: str, value: float) -> None:
        self.metrics[name] = value


def test_verifiers(run: str) -> None:
    judge = verifiers.Judge("math@prod", run)
    traces = [Trace("A: 42"), Trace("A: 41")]

    async def score() -> list[float]:
        return await asyncio.gather(*(judge(trace, label="42", prompt="6*7?") for trace in traces))

    assert asyncio.run(score()) == [1.0, 0.0]
    assert traces[1].info["assay"]["verdict"] == "wrong"


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(tensor=list))  # type: ignore[arg-type]


@pytest.mark.usefixtures("torch")
def test_openrlhf() -> None:
    def fetch(answer: str) -> Any:
        # The query is the decoded tokens: special ones are in it.
        return openrlhf.reward_func([f"<s>6*7? {answer}</s>"], ["6*7? "], ["42"])

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(fetch, ["A: 42", "A: 41"] * 8))
    assert [answer["rewards"] for answer in answers] == [[1.0], [0.0]] * 8
    assert answers[0] == {"rewards": [1.0], "scores": [1.0], "extra_logs": {"timed_out": [0.0]}}
    assert openrlhf.reward_func([], [], [])["rewards"] == []


@pytest.mark.usefixtures("torch")
def test_openrlhf_has_scores_from_0_to_1(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = [-1.5, 0.25, 3.0]
    given = types.SimpleNamespace(scores=lambda samples: [assay.Score(reward, "") for reward in rewards])
    monkeypatch.setattr(openrlhf, "scorer", lambda: given)
    answer = openrlhf.reward_func(["6*7? A: 42"] * 3, ["6*7? "] * 3, ["42"] * 3)
    assert (answer["rewards"], answer["scores"]) == (rewards, [0.0, 0.25, 1.0])


@pytest.mark.usefixtures("torch")
def test_openrlhf_scores_no_prompt_as_an_answer() -> None:
    with pytest.raises(ValueError, match="does not contain its prompt"):
        openrlhf.reward_func(["A: 42"], ["6*7? Say A: 42"], ["42"])


@dataclass
class Sample:
    """As much of slime's as a reward function sees."""

    prompt: Any
    response: str
    label: str
    group_index: int | None = 0
    metadata: dict[str, Any] = field(default_factory=dict)


def test_slime() -> None:
    samples = [Sample("6*7?", f"A: {42 - at % 2}", "42") for at in range(4)]
    plain = types.SimpleNamespace(reward_key=None)
    keyed = types.SimpleNamespace(reward_key="score")

    async def work() -> None:
        assert await asyncio.gather(*(slime.custom_rm(plain, one) for one in samples)) == [1.0, 0.0] * 2
        assert await slime.custom_rm(plain, samples) == [1.0, 0.0] * 2
        detailed = await slime.custom_rm(keyed, samples[1])
        assert (detailed["score"], detailed["verdict"]) == (0.0, "wrong")

    asyncio.run(work())


def test_areal(monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    assert areal.reward_fn("6*7?", "A: 42", [1], [2], answer="42", id=3) == 1.0
    from_tool = [{"role": "assistant", "content": "A: 41"}, {"role": "tool", "content": "A: 42"}]
    assert areal.reward_fn("6*7?", from_tool, [1], [2], answer="42") == 0.0  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ASSAY_LABEL"):
        areal.reward_fn("6*7?", "A: 42", [1], [2], solution="42")
    # AReaL writes 0 after 15 s: what is late must raise before.
    monkeypatch.setenv("ASSAY_TIMEOUT", "0.001")
    monkeypatch.setenv("ASSAY_PLUGIN", "liar@prod")
    monkeypatch.setenv("ASSAY_RUN", f"{run}-late")
    with pytest.raises(assay.AssayError, match=r"not finished|after") as raised:
        areal.reward_fn("", "spin", [], [], answer="")
    # That one, too, it turns into 0.
    assert not isinstance(raised.value, TimeoutError)


def test_skyrl(monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    stand_in = types.ModuleType("skyrl_gym.envs.base_text_env")
    stand_in.BaseTextEnv = type("BaseTextEnv", (), {"turns": 0})  # type: ignore[attr-defined]
    for name in ("skyrl_gym", "skyrl_gym.envs"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    row = {"reward_spec": {"method": "rule", "ground_truth": "42"}, "max_turns": 1}
    environment = skyrl.AssayEnv(plugin="math@prod", run=run, env_config={}, extras=row)
    prompt = [{"role": "user", "content": "6*7?"}]
    assert environment.init(prompt) == (prompt, {})
    output = environment.step("A: 41")
    assert (output["reward"], output["done"], output["observations"]) == (0.0, True, [])
    assert output["metadata"]["verdict"] == "wrong"
    assert environment.get_metrics() == {"boxed": 0.0, "correct": 0.0, "timed_out": 0.0}
    with pytest.raises(ValueError, match="ground_truth"):
        skyrl.AssayEnv(env_config={}, extras={})


def test_what_the_environment_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_RUN")
    with pytest.raises(assay.ConfigurationError, match="ASSAY_RUN"):
        areal.reward_fn("", "", answer="")


def test_messages_become_text() -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}]
    assert text_of([*parts, {"role": "assistant", "content": "b"}]) == "a\n\nb"
    assert (text_of("c"), text_of(None)) == ("c", "")


def test_a_response_is_what_the_model_said() -> None:
    roles = ["system", "user", "assistant", "tool", None]
    assert response_of([{"role": role, "content": str(role)} for role in roles]) == "assistant\n\nNone"
    assert response_of([{"content": "a"}, {"role": "assistant", "content": None}]) == "a"
    assert (response_of("c"), response_of(None), response_of([])) == ("c", "", "")
