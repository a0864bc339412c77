"""What a step of writing and a text of detection take: `python -m benchmarks.watermarking.lists`.

Both versions of each scheme, side by side in one run, and beside them what a step does in any case:
`softmax` of the logits. Ratios are what to look at; CPU time on one thread, the least of several.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ticore.schemes import SCHEMES, scheme_named

_KEY = bytes(range(32))
_VARIANTS = [
    (name, greens)
    for name in SCHEMES
    for greens in (("independent",) if name == "gumbel" else ("independent", "exact"))
]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=152_064, help="of the vocabulary")
    parser.add_argument("--repeats", type=int, default=30, help="of which the fastest counts")
    given = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    logits = rng.normal(size=given.size).astype(np.float32)
    libraries: dict[str, Any] = {"numpy": logits}
    softmax: dict[str, Callable[[], Any]] = {"numpy": lambda: np.exp(logits) / np.exp(logits).sum()}
    if find_spec("torch") is not None:
        torch = import_module("torch")
        torch.set_num_threads(1)
        libraries["torch"] = tensor = torch.tensor(logits)
        softmax["torch"] = lambda: tensor.softmax(-1)
    text = rng.integers(0, given.size, 200)
    base = {name: _least(work, given.repeats) for name, work in softmax.items()}
    print(f"{'':36s}", *(f"{name:>10s} (x softmax)" for name in libraries), "  200 tokens read")
    for name, greens in _VARIANTS:
        for version in (1, 2):
            more: dict[str, Any] = {} if name == "gumbel" else {"greens": greens}
            scheme = scheme_named(name, _KEY, given.size, version=version, **more)
            context = [3, 1, 4, 1, 5][: scheme.context]
            shown = []
            for library, array in libraries.items():
                spent = _least(partial(scheme.bias, context, array), given.repeats)
                shown.append(f"{spent * 1e3:7.2f} ms ({spent / base[library]:7.1f})")
            read = _least(partial(scheme.evidence, text), 5 * given.repeats)
            title = f"{name}, {greens}, version {version}"
            print(f"{title:36s}", *shown, f"{read * 1e6:9.0f} us", flush=True)
    return 0


def _least(work: Callable[[], object], repeats: int) -> float:
    """Seconds of CPU, once what is kept is there."""
    work()
    found = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
