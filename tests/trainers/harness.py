"""A trainer's own reward code against a real server that loses a worker and is killed in the middle.

A trainer's file, `with_NAME.py`, gives `run` a function that scores one case (or several) by the trainer's code, and
`run` compares every reward with what is known here. A third of the way a worker is killed, after two thirds the
server, which then comes back with its data. Both are killed by a caller before its own call, while others wait.

Ends with a line of figures; with status 1 where a reward is wrong or missing.
"""

import asyncio
import concurrent.futures
import importlib.util
import inspect
import os
import pathlib
import queue
import random
import sys
import threading
import time
import types
from dataclasses import dataclass, field
from unittest import mock

from service import Service

# A call that ended so long after the server was back may still have begun while it was away.
MARGIN_S = 5.0
REPEATS_MAX = 200
# The time for which no server is there, beside that of its start.
AWAY_S = 2.0


@dataclass(frozen=True)
class Case:
    """A sample whose reward is known."""

    index: int
    prompt: str
    response: str
    label: str
    reward: float


def sums(count):
    """Sums with a right or a wrong answer, for the plugin `math`."""
    draw = random.Random(7)
    cases = []
    for index in range(count):
        a, b, right = draw.randrange(10_000), draw.randrange(10_000), draw.random() < 0.5
        said = a + b if right else a + b + draw.randrange(1, 100)
        cases.append(Case(index, f"What is {a} + {b}? ", f"It is \\boxed{{{said}}}.", str(a + b), float(right)))
    return cases


def programs(count):
    """Programs in Python that pass both tests, one or none. Tests read two numbers and expect their sum."""
    draw = random.Random(11)
    bodies = {1.0: "print(sum(map(int, input().split())))", 0.5: "print(3)", 0.0: "print('no')"}
    cases = []
    for index in range(count):
        reward = draw.choice(list(bodies))
        # Each program is another one, so that no two share a computation.
        program = f"# {index}\n{bodies[reward]}"
        cases.append(Case(index, "Add two numbers.", f"```python\n{program}\n```", "1 2 3; 3 4 7", reward))
    return cases


@dataclass
class Trial:
    """The cases of a trainer, and what happened to them."""

    name: str
    service: Service
    cases: list
    # What the trainer does where a call fails for good: it writes 0, it stops and is begun again, or it goes on
    # without this sample's reward.
    writes_zero: bool = False
    stops: bool = False
    masks: bool = False
    rewards: dict = field(default_factory=dict)
    zeros: int = 0
    stopped: int = 0
    masked: int = 0
    began: dict = field(default_factory=dict)
    failures: list = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _killed_at: float = float("inf")
    _back_at: float = float("inf")
    _restart: threading.Thread = None

    def address(self, protocol, plugin="math@prod", rest=""):
        return self.service.address(protocol, plugin, self.name, rest)

    def before(self, case):
        """Called before a case is scored; kills what this case is to kill."""
        self.began.setdefault(case.index, time.monotonic())
        if case.index == len(self.cases) // 3:
            self.service.kill_worker()
        if case.index == len(self.cases) * 2 // 3 and self._restart is None:
            self._killed_at = time.monotonic()
            self.service.kill()
            self._restart = threading.Thread(target=self._start_again)
            self._restart.start()

    def _start_again(self):
        time.sleep(AWAY_S)
        self.service.start()
        self._back_at = time.monotonic()

    def got(self, case, reward):
        """Called with each case's reward."""
        reward = float(reward)
        with self._lock:
            if case.index in self.rewards:
                self.failures.append(f"case {case.index} was scored twice")
            self.rewards[case.index] = reward
            if reward == case.reward:
                return
            if self.writes_zero and self._was_away(case) and reward < case.reward:
                self.zeros += 1
            else:
                self.failures.append(f"case {case.index} is worth {case.reward} and got {reward}")

    def lost(self, case, why):
        """Called where the trainer goes on without the reward of a case."""
        with self._lock:
            self.masked += 1
            if not self._was_away(case):
                self.failures.append(f"case {case.index} has no reward: {why!r}")

    def _was_away(self, case):
        """Whether the server was away at some time while a case was scored that ends now."""
        return time.monotonic() >= self._killed_at and self.began[case.index] <= self._back_at + MARGIN_S

    def gave_up(self, case, error):
        """Called where the trainer's code raised. Returns whether the training is begun again from there."""
        if self.masks:
            self.lost(case, error)
            return False
        with self._lock:
            self.stopped += 1
            if self.stops and self.stopped <= REPEATS_MAX:
                return True
            self.failures.append(f"case {case.index}: {type(error).__name__}: {error}")
            return False

    def end(self):
        if self._restart:
            self._restart.join()
        else:
            self.failures.append("the server was never killed")
        missing = len(self.cases) - len(self.rewards) - self.masked
        if missing:
            self.failures.append(f"{missing} cases have no reward")


def run(name, score, cases, *, at_once=32, batch=1, plugins=("math",), **words):
    """Scores all cases by `score(trial, case)`, a function or coroutine function, `at_once` at a time.

    With `batch`, `score` gets so many cases at once and returns their rewards.
    """

    def drive(trial):
        parts = queue.SimpleQueue()
        for at in range(0, len(cases), batch):
            parts.put(cases[at:at + batch])
        if inspect.iscoroutinefunction(score):
            asyncio.run(_in_tasks(trial, score, parts, at_once, batch))
        else:
            with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
                done = [pool.submit(_in_thread, trial, score, parts, batch) for _ in range(at_once)]
                for one in done:
                    one.result()

    run_whole(name, drive, cases, plugins=plugins, **words)


def run_whole(name, drive, cases, *, plugins=("math",), **words):
    """Runs `drive(trial)`, which tells the trial before each case and after it."""
    began = time.monotonic()
    with Service() as service:
        service.publish(*plugins)
        os.environ |= {"ASSAY_URL": service.url, "ASSAY_API_KEY": service.key, "ASSAY_RUN": name}
        os.environ.setdefault("ASSAY_PLUGIN", "math@prod")
        trial = Trial(name, service, cases, **words)
        try:
            drive(trial)
        finally:
            trial.end()
        _report(trial, time.monotonic() - began)
    sys.exit(1 if trial.failures else 0)


def _report(trial, seconds):
    away = trial._back_at - trial._killed_at
    print(f"figures: {trial.name}: {len(trial.rewards)} rewards of {len(trial.cases)}, "
          f"{len(trial.failures)} wrong or missing, "
          f"of the trainer while the server was away ({away:.1f} s): {trial.zeros} zeros, {trial.stopped} stops, "
          f"{trial.masked} samples without a reward; {seconds:.0f} s")
    for failure in trial.failures[:10]:
        print(f"  {failure}")
    if trial.failures:
        print(trial.service.log.read_text()[-3000:])


async def _in_tasks(trial, score, parts, at_once, batch):
    async def one():
        while part := _next(parts):
            await asyncio.to_thread(lambda part=part: [trial.before(case) for case in part])
            while True:
                try:
                    rewards = await score(trial, part if batch > 1 else part[0])
                    break
                except Exception as error:
                    rewards = None
                    if not trial.gave_up(part[0], error):
                        break
                    await asyncio.sleep(0.5)
            _keep(trial, part, rewards, batch)

    await asyncio.gather(*(one() for _ in range(at_once)))


def _in_thread(trial, score, parts, batch):
    while part := _next(parts):
        for case in part:
            trial.before(case)
        while True:
            try:
                rewards = score(trial, part if batch > 1 else part[0])
                break
            except Exception as error:
                rewards = None
                if not trial.gave_up(part[0], error):
                    break
                time.sleep(0.5)
        _keep(trial, part, rewards, batch)


def _next(parts):
    try:
        return parts.get_nowait()
    except queue.Empty:
        return None


def _keep(trial, part, rewards, batch):
    if rewards is None:
        return
    for case, reward in zip(part, rewards if batch > 1 else [rewards], strict=True):
        trial.got(case, reward)


def source(name, *package):
    """Makes the packages below a checkout of a trainer importable: those in `$ASSAY_TRAINERS_SOURCES/NAME`."""
    folder = pathlib.Path(os.environ.get("ASSAY_TRAINERS_SOURCES", "/nonexistent"), name)
    if not folder.joinpath(*package).is_dir():
        print(f"SKIPPED: no {name}: it is in no package index; name the folder of a checkout in ASSAY_TRAINERS_SOURCES")
        raise SystemExit(0)
    sys.path.insert(0, str(folder))


def bare(*packages):
    """Makes the modules of packages importable without running each package's own `__init__`, which would import all
    of a trainer."""
    for name in packages:
        spec = importlib.util.find_spec(name)
        package = types.ModuleType(name)
        package.__path__, package.__spec__ = list(spec.submodule_search_locations), spec
        sys.modules[name] = package


def absent(*modules):
    """Modules that the reward code imports and never calls."""
    for name in modules:
        sys.modules[name] = mock.MagicMock(name=name)
