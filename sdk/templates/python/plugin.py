"""1 when the last line of the response is the label, else 0; half of it where only the case is wrong.

What stands at the top of a module runs once, as the plugin is built; each call starts from there.
"""

from dataclasses import dataclass

from assay_plugin import FunctionPlugin, Scored, export, log


@dataclass
class Settings:
    """What a run may set. Its JSON schema goes with the plugin."""

    case_bonus: float = 0.5


plugin = FunctionPlugin("__NAME__", "0.1.0", summary="compares the last line with the label")


@plugin.stage(timeout_ms=1_000)
def score(response: str, label: str, settings: Settings) -> Scored:
    lines = response.strip().splitlines()
    if not lines:
        return Scored(0.0, "no_answer")
    answer = lines[-1].strip()
    log.info(f"compared {answer!r} with {label!r}")
    if answer == label:
        return Scored(1.0, "success")
    if answer.casefold() == label.casefold():
        return Scored(settings.case_bonus, "wrong_case", explanation=f"expected {label}")
    return Scored(0.0, "wrong", explanation=f"expected {label}")


export(plugin)
