"""Times PyTorch modules of KernelBench on this machine's first GPU: a JSON line for each JSON line of standard input.

    {"module": TEXT}  gives  {"ns": MEDIAN}  or  {"unsupported": WHY}

It begins with `{"device": NAME, "by": PYTORCH}`. As the plugin `cuda` times answers: each run by itself, between events, after
the GPU's cache was overwritten; the median of at least 30 runs after ten others.
"""

import json
import statistics
import sys
import time

import torch

from model import Instance

WARM_UPS, TRIALS_MIN, TRIALS_MAX = 10, 30, 1000
# The standard error of the mean at which it stops, relative to the mean; and seconds after which it stops anyway.
ERROR_MAX, SECONDS_MAX = 0.01, 10


def median_ns(text):
    instance = Instance(text)
    model, inputs = instance.model.cuda(), instance.inputs
    flushed = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8)
    samples, until = [], time.monotonic() + SECONDS_MAX
    with torch.no_grad():
        for trial in range(-WARM_UPS, TRIALS_MAX):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            flushed.fill_(trial % 256)
            begin.record()
            model(*inputs)
            end.record()
            end.synchronize()
            if trial >= 0:
                samples.append(begin.elapsed_time(end))
            if len(samples) >= TRIALS_MIN:
                error = statistics.stdev(samples) / len(samples) ** 0.5
                if error <= ERROR_MAX * statistics.fmean(samples) or time.monotonic() > until:
                    break
    return round(statistics.median(samples) * 1e6)


def main():
    # What a module makes is made there; a processor would take seconds for some gigabytes.
    torch.set_default_device("cuda")
    print(json.dumps({"device": torch.cuda.get_device_name(0), "by": f"PyTorch {torch.__version__}"}), flush=True)
    for line in sys.stdin:
        try:
            answer = {"ns": median_ns(json.loads(line)["module"])}
        except Exception as error:  # noqa: BLE001 - whatever a module raises is its own
            answer = {"unsupported": f"{type(error).__name__}: {error}".strip()[:500]}
        torch.cuda.empty_cache()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
