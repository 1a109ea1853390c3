"""Plugins as functions and as classes, run natively."""

import json
import random
import unittest
from dataclasses import dataclass

from assay_plugin import (
    Artifact,
    BadRequest,
    Description,
    FunctionPlugin,
    Internal,
    Outcome,
    Plugin,
    Request,
    Scored,
    Stage,
    Unavailable,
    storage,
    testing,
)
from assay_plugin import plugin as plugins
from assay_plugin.host import HostError
from assay_plugin.testing import request


@dataclass
class Settings:
    bonus: float = 0.5


def two_stages() -> FunctionPlugin:
    plugin = FunctionPlugin("two", "0.1.0", summary="two stages", timeout_reward=-1.0)

    @plugin.stage(timeout_ms=50)
    def extract(response: str) -> Outcome:
        if not response:
            return Scored(0.0, "no_answer")
        return Artifact.json({"words": response.split()})

    @plugin.stage("score", pool="big", memory_mib_max=512, retries_max=2)
    def compare(input: dict[str, list[str]], label: list[str], settings: Settings) -> Outcome:
        return Scored(1.0 + settings.bonus, "success") if input["words"] == label else Scored(0.0, "wrong")

    return plugin


def returns(scored: Scored) -> FunctionPlugin:
    plugin = FunctionPlugin("one", "0.1.0")
    plugin.stage("score")(lambda: scored)
    return plugin


class Whole(Plugin):
    """As a class, like the trait of the Rust SDK."""

    def describe(self) -> Description:
        return Description("whole", "0.1.0", stages=[Stage("score")])

    def run_stage(self, stage: str, settings: str, request: Request, input: Artifact | None) -> Outcome:
        if request.response == "missing":
            raise HostError(storage.Error_NotFound("judge/a"))
        if request.response == "away":
            raise HostError(storage.Error_Unavailable("no answer"))
        if request.response == "broken":
            raise ZeroDivisionError("division by zero")
        return Scored(random.random(), "success")


class Stages(unittest.TestCase):
    def test_functions_are_stages_in_order(self) -> None:
        described = two_stages().describe()
        self.assertEqual(
            list(described.stages),
            [Stage("extract", "cpu", 50), Stage("score", "big", 1_000, 512, 2)],
        )
        self.assertEqual(described.timeout_reward, -1.0)
        self.assertEqual(json.loads(described.label_schema), {"type": "array", "items": {"type": "string"}})
        properties = json.loads(described.settings_schema)["properties"]
        self.assertEqual(properties, {"bonus": {"type": "number", "default": 0.5}})

    def test_an_artifact_goes_on_and_a_score_ends(self) -> None:
        run = testing.run
        self.assertEqual(run(two_stages(), request(response="a b", label=["a", "b"])).reward, 1.5)
        self.assertEqual(run(two_stages(), request(response="a", label=["b"])).verdict, "wrong")
        self.assertEqual(run(two_stages(), request(response="", label=["b"])).verdict, "no_answer")
        settled = run(two_stages(), request(response="a", label=["a"]), {"bonus": 2})
        self.assertEqual(settled.reward, 3.0)
        with self.assertRaises(BadRequest):
            run(two_stages(), request(response="a", label="a"))

    def test_parameters_that_no_stage_gets_are_refused_at_once(self) -> None:
        plugin = FunctionPlugin("wrong", "0.1.0")

        def unknown(answer: str) -> Outcome:
            return Scored(0.0, answer)

        def collected(*request: Request) -> Outcome:
            return Scored(0.0, "")

        def odd(label: complex) -> Outcome:
            return Scored(0.0, "")

        for function in (unknown, collected, odd):
            with self.assertRaises(TypeError):
                plugin.stage()(function)
        self.assertEqual(plugin.describe().stages, [])

    def test_two_stages_of_one_name_are_refused(self) -> None:
        plugin = two_stages()
        with self.assertRaises(TypeError):
            plugin.stage("score")(lambda: Scored(0.0, ""))

    def test_errors_of_the_host_stand_for_the_plugin_s(self) -> None:
        with self.assertRaises(BadRequest):
            testing.run(Whole, request(response="missing"))
        with self.assertRaises(Unavailable):
            testing.run(Whole, request(response="away"))
        with self.assertRaises(Internal):
            testing.run(Whole, request(response="broken"))

    def test_randomness_comes_from_the_seed(self) -> None:
        one, again, other = (testing.run(Whole, request(seed=seed)).reward for seed in (1, 1, 2))
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)

    def test_what_the_platform_refuses_fails_in_a_test(self) -> None:
        for scored in (
            Scored(float("nan"), "success"),
            Scored(1.0, "x" * 65),
            Scored(1.0, "a\nb"),
            Scored(1.0, "success", {"part": float("inf")}),
            Scored(1.0, "success", explanation="x" * 5_000),
        ):
            with self.assertRaises(AssertionError):
                testing.run(returns(scored), request())

    def test_one_plugin_is_exported(self) -> None:
        plugins._exported.clear()
        with self.assertRaises(TypeError):
            plugins.exported()
        plugins.export(Whole)
        self.assertIsInstance(plugins.exported(), Whole)
        plugins.export(two_stages())
        with self.assertRaises(TypeError):
            plugins.exported()
        with self.assertRaises(TypeError):
            plugins.export(3)  # type: ignore[call-overload]
        plugins._exported.clear()

    def test_artifacts_say_what_they_are(self) -> None:
        self.assertEqual(Artifact.json(Settings(1.0)).as_json(Settings), Settings(1.0))
        self.assertEqual(Artifact.text("é").as_text(), "é")
        for wrong in (lambda: Artifact.raw(b"\xff").as_text(), lambda: Artifact.text("{").as_json()):
            with self.assertRaises(Internal):
                wrong()
        with self.assertRaises(Internal):
            Artifact.json(object())


if __name__ == "__main__":
    unittest.main()
