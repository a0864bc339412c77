"""One stage of the survey in a process of its own: python -m benchmarks.verification.survey_stages

The argument is a request as JSON: `stage`, `tokenizer` (what `tokenizer_sources` is asked for),
`cache` (the folder for tables), `found` (the file that receives the results, after each
measurement), `cases` (the store of the soak's cases), `seed`, `checks`, `data`, `texts`.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import ticore
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.corpora import Corpora, load_corpora, passage
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import write_json
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode, Verification, Verifier
from ticore.interfaces import Tokenizer

from .cache_probe import mask_work
from .modes import MODES
from .plan import CHARACTERS_PER_TOKEN
from .soak import play_cases
from .soak_cases import CasePlayer
from .tokenizer_sources import TokenizerSource, tokenizer_sources

_ADAPTERS = ("ticore_tokenizers", "ticore_sentencepiece", "ticore_tiktoken")
_LANGUAGES = ("English", "Japanese", "Chinese")
_TOKENS = 400  # of each passage that is pushed
_PASSAGES = 3  # of each language, of which the median counts
_MASK_TOKENS = 120  # of each language, after which masks are asked for
_SAMPLE = 128  # ids that a method without tables is asked about
# The share of the checks in each mode.
_SHARES: dict[Mode, float] = {"prefix": 0.76, "open": 0.12, "viable": 0.12}


def cold(request: JsonObject) -> Iterator[JsonObject]:
    """Opening the tokenizer, and the first Verifier of each mode, with an empty cache."""
    adapters()  # what importing them takes does not count
    before = peak_bytes()
    tokenizer: Tokenizer
    try:
        seconds, tokenizer = _timed(_source(request).open)
    except ticore.TicoreError as error:
        yield {"refused": str(error)}
        return
    peak = peak_bytes()
    yield {"opened": seconds}
    if peak is not None and before is not None:
        yield {"opening_bytes": peak - before}
    structure = tokenizer.structure()
    yield {
        "vocab_size": tokenizer.vocab_size,
        "tokenizer_digest": tokenizer.digest(),
        "kind": "unknown" if structure is None else structure.kind,
        "special": len(tokenizer.special_ids),
        "added": 0 if structure is None else len(structure.added_tokens),
    }
    modes: JsonObject = {}
    for mode in MODES:
        try:
            seconds, verifier = _timed(Verifier, tokenizer, mode=mode)
        except ticore.TicoreError as error:
            yield {"refused": str(error)}
            return
        found = {"method": verifier.method, "why": verifier.why, "tested": verifier.checks}
        modes[mode] = found | {"first": seconds}
        yield {"modes": modes}
    yield {"peak_bytes": peak_bytes()}


def warm(request: JsonObject) -> Iterator[JsonObject]:
    """The Verifier with tables on disk; then masks and pushes, in mode prefix."""
    tokenizer = _source(request).open()
    seconds, verifier = _timed(Verifier, tokenizer)
    yield {"from_disk": seconds}
    corpora = _corpora(request)
    draw = random.Random(request["seed"])
    yield {"pushes": _push_times(verifier, corpora, draw)}
    yield {"masks": _mask_times(verifier, corpora, draw)}


def soak(request: JsonObject) -> Iterator[JsonObject]:
    """Answers compared with the definition, in the modes that have tables."""
    tokenizer = _source(request).open()
    texts = list(_corpora(request, every=True).values())
    store = SampleStore(Path(request["cases"]))
    sums: JsonObject = {"checks": 0, "beyond_prefix": 0, "mismatches": 0, "seconds": 0.0}
    sums["examples"] = []
    for mode in MODES:
        share = round(_SHARES[mode] * request["checks"])
        verifier = Verifier(tokenizer, mode=mode)
        if verifier.method != "table" or not share:
            continue
        code = code_digest(CasePlayer, tokenizer)
        digest = digest_of(request["seed"], mode, tokenizer.digest(), digest_of(texts), code)
        player = CasePlayer(verifier, texts)
        prefix = f"{request['seed']} {tokenizer.digest()} {mode}"
        for case in play_cases(store, digest, player, prefix, share):
            sums["checks"] += case["checks"]
            sums["beyond_prefix"] += case["checks"] * (mode != "prefix")
            sums["mismatches"] += case["mismatches"]
            sums["seconds"] += case["seconds"]
            sums["examples"] += [{"mode": mode} | example for example in case["examples"]][:2]
            if case["case"] % 20 == 0:
                yield {"soak": sums}
    yield {"soak": sums}


STAGES: dict[str, Callable[[JsonObject], Iterator[JsonObject]]] = {
    stage.__name__: stage for stage in (cold, warm, soak)
}


def adapters() -> list[ModuleType]:
    """The packages that open tokenizers, of those whose libraries are installed."""
    found = []
    for name in _ADAPTERS:
        with suppress(ImportError):
            found.append(import_module(name))
    return found


def _source(request: JsonObject) -> TokenizerSource:
    (source,) = tokenizer_sources([request["tokenizer"]], _data(request))
    return source


def _data(request: JsonObject) -> Path | None:
    return None if request["data"] is None else Path(request["data"])


def _corpora(request: JsonObject, *, every: bool = False) -> Corpora:
    files = [Path(file) for file in request["texts"]]
    return load_corpora(files, _data(request), () if every else _LANGUAGES)


def _push_times(verifier: Verifier, corpora: Corpora, draw: random.Random) -> JsonObject:
    """The seconds of a push and of what follows from it, by language: the median of passages."""
    found = {}
    for language, text in corpora.items():
        seconds = []
        for _ in range(_PASSAGES):
            some = passage(text, CHARACTERS_PER_TOKEN * _TOKENS, draw)
            ids = verifier.tokenizer.encode(some)[:_TOKENS]
            if verifier.method != "table":
                ids = ids[: _TOKENS // 10]
            verification = verifier.start()
            seconds.append(_timed(_push_all, verification, ids)[0] / max(1, len(ids)))
        found[language] = statistics.median(seconds)
    return found


def _push_all(verification: Verification, ids: list[int]) -> None:
    for token in ids:
        verification.push(token)
        _ = verification.admissible


def _mask_times(verifier: Verifier, corpora: Corpora, draw: random.Random) -> JsonObject:
    """The median seconds of a mask, by what has to be computed for it."""
    if verifier.method != "table":
        return {"scaled": _scaled_mask(verifier, next(iter(corpora.values())))}
    times: dict[str, list[float]] = defaultdict(list)
    for text in corpora.values():
        some = passage(text, CHARACTERS_PER_TOKEN * _MASK_TOKENS, draw)
        verification = verifier.start()
        for token in verifier.tokenizer.encode(some)[:_MASK_TOKENS]:
            verification.push(token)
            if verification.admissible:
                work = mask_work(verification)
                times["seen" if work == "cached" else work].append(_timed(verification.mask)[0])
                times["seen"].append(_timed(verification.mask)[0])
    return {work: statistics.median(seconds) for work, seconds in times.items()}


def _scaled_mask(verifier: Verifier, text: str) -> float:
    """The seconds of a mask by a method without tables, scaled from a sample of ids."""
    tokenizer = verifier.tokenizer
    verification = verifier.start(tokenizer.encode(text[:400])[:50])
    while not verification.admissible and len(verification.ids):
        verification = verifier.start(verification.ids[:-1])
    ids = np.random.default_rng(0).integers(0, tokenizer.vocab_size, _SAMPLE)
    return _timed(verification.admits, ids)[0] * tokenizer.vocab_size / _SAMPLE


def _timed(work: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[float, Any]:
    """The CPU seconds of a call, and its result."""
    started = time.process_time()
    result = work(*args, **kwargs)
    return time.process_time() - started, result


def peak_bytes() -> int | None:
    """The most memory that this process has held so far; None where the system does not say."""
    with suppress(ImportError, OSError):
        import resource  # noqa: PLC0415  # not on every system

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return None


def _main(request: JsonObject) -> None:
    os.environ["TICORE_CACHE"] = request["cache"]
    found: JsonObject = {}
    for measured in STAGES[request["stage"]](request):
        found |= measured
        write_json(Path(request["found"]), found)


if __name__ == "__main__":
    _main(json.loads(sys.argv[1]))
