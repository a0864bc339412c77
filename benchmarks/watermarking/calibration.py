"""p-values without a watermark, and what is found of a text that is marked in part.

python -m benchmarks.watermarking.calibration --json results/calibration.json
python -m benchmarks.watermarking.calibration --texts 2000 --lengths 20 200 1000

Scores are drawn from what each scheme's null distribution says, or from a scheme itself, with a
new key for every twenty texts. A p-value is right if no more texts than a share of `a` have one of
`a` or less, and of use if not much fewer have. What was "before" is Ville's inequality for each
beginning of a stretch (each stretch, where lists are exact), with a mark of one strength.

What was simulated is kept in a file, and a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.table import Table

import ticore
from benchmarks.about import about
from benchmarks.kept import Kept, code_digest, digest_of
from benchmarks.running import attempt, command, positive, report, write_missing
from benchmarks.workers import Found
from ticore.schemes import Evidence, ExactGreens, Exponential, Greens, Null
from ticore.schemes.evidence import Evidences
from ticore.schemes.readers import TransformersSynthID
from ticore.schemes.readers.table_bits import TableBits
from ticore.watermarking import Detection
from ticore.watermarking.stretches import find_segments

from .ids_alone import IdsAlone

Floats = npt.NDArray[np.float64]

RATES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
LENGTHS = (20, 50, 200, 1000, 10_000)
_TOKENS = 2_000_000  # of the texts that are simulated at a time
_FEWER = 5  # times fewer texts of more than 1,000 tokens
_PLACED = 1000  # tokens of a text that is marked in part
_VOCABULARY = 32_000
_SETTINGS = Path(__file__)


@dataclass(frozen=True)
class Arm:
    """A null distribution.

    Attributes:
        null: itself.
        draw: of a generator, texts, a length, and how strong a watermark is, the scores,
            float64[texts, length]; 0 is none.
        marks: for the texts that are marked in part: how many tokens, and how strongly.
        one_list: whether all tokens of a text are drawn from one list.
    """

    null: Any
    draw: Callable[[np.random.Generator, int, int, float], Floats]
    marks: tuple[tuple[int, float], ...]
    one_list: bool = False


def _greens(share: float) -> Arm:
    """A mark's strength is the share of greens in it."""

    def draw(rng: np.random.Generator, texts: int, length: int, mark: float) -> Floats:
        return (rng.random((texts, length)) < (mark or share)).astype(np.float64)

    most = share * math.exp(2) / (share * math.exp(2) + 1 - share)
    marks = ((60, 0.9), (100, 0.8), (200, 0.7), (400, 0.65))
    if share < 0.5:
        marks = ((40, 0.7), (100, 0.55), (200, 0.45), (400, 0.4))
    return Arm(Greens(share, (share + most) / 2), draw, marks)


def _one_list(size: int) -> Arm:
    """Half of one list is green, and none of it is drawn twice."""
    independent = _greens(0.5)

    def draw(rng: np.random.Generator, texts: int, length: int, mark: float) -> Floats:
        if mark:
            return independent.draw(rng, texts, length, mark)
        scores = np.empty((texts, length))
        green = np.zeros(texts)
        for at in range(length):
            scores[:, at] = rng.random(texts) < (size // 2 - green) / (size - at)
            green += scores[:, at]
        return scores

    null = ExactGreens(0.5, independent.null.marked_share, size // 2, size)
    return Arm(null, draw, independent.marks, one_list=True)


def _exponential() -> Arm:
    """A mark's strength is the mean of its scores."""

    def draw(rng: np.random.Generator, texts: int, length: int, mark: float) -> Floats:
        return rng.exponential(mark or 1.0, (texts, length))

    return Arm(Exponential(), draw, ((15, 4.0), (25, 3.0), (60, 2.0), (140, 1.6)))


def _bits(weighted: bool) -> Arm:
    """A mark's strength is by how many standard deviations it lifts scores, nearly."""
    null = TransformersSynthID(list(range(400, 430)), 5, weighted=weighted).null
    places = np.arange(null.unit + 1)
    spread = math.sqrt(null.chances @ places**2 - (null.chances @ places) ** 2)

    def draw(rng: np.random.Generator, texts: int, length: int, mark: float) -> Floats:
        tilted = np.cumsum(null.chances * np.exp(mark / spread * (places - null.unit)))
        drawn = np.searchsorted(tilted / tilted[-1], rng.random((texts, length)), side="right")
        return np.minimum(drawn, null.unit) / null.unit

    return Arm(null, draw, ((40, 1.2), (100, 0.75), (200, 0.5), (400, 0.35)))


ARMS: dict[str, Callable[[], Arm]] = {
    "greens, 1 of 2": lambda: _greens(0.5),
    "greens, 1 of 4": lambda: _greens(0.25),
    "one list of 32,000": lambda: _one_list(32_000),
    "one list of 4,096": lambda: _one_list(4096),
    "exponential": _exponential,
    "synthid, weighted": lambda: _bits(weighted=True),
    "synthid, mean": lambda: _bits(weighted=False),
}
SCHEMES: dict[str, dict[str, Any]] = {
    "left_hash": {},
    "self_hash": {},
    "unigram": {},
    "gumbel": {},
    "left_hash exact": {"greens": "exact"},
    "unigram exact": {"greens": "exact"},
    "vllm": {},
    "sglang": {},
    "synthid": {},
}


class Simulation:
    """Simulates texts, one part of an arm at a time."""

    def __init__(self) -> None:
        self._arms: dict[str, Arm] = {}

    def part(self, kind: str, name: str, length: int, mark: float, texts: int, part: int) -> Found:
        """The p-values of some texts.

        Args:
            kind: `null`, `scheme`, or `marked`: in the middle of 1,000 tokens.
            name: of the arm or the scheme.
            length: of the texts, or of the mark in them.
            mark: how strong it is.
            texts: how many.
            part: a number, which with the rest decides about all that is random.

        Returns:
            For each of `whole`, `stretch`, `ville` and `verdict` how many p-values are as low as
            each of the rates; `found`: at each rate but the first how many stretches detectors
            would find, with Ville's bound and now; the lowest of the stretch.
        """
        seed = [part, length, round(mark * 1000), *f"{kind} {name}".encode()]
        rng = np.random.default_rng(seed)
        found = {"kind": kind, "name": name, "length": length, "mark": mark, "texts": texts}
        if kind == "scheme":
            whole, stretch = _of_scheme(name, rng, texts, length)
            ville = np.ones(texts)
        else:
            if name not in self._arms:
                self._arms[name] = ARMS[name]()
            arm = self._arms[name]
            if kind == "marked":
                scores = arm.draw(rng, texts, _PLACED, 0.0)
                begin = (_PLACED - length) // 2
                scores[:, begin : begin + length] = arm.draw(rng, texts, length, mark)
            else:
                scores = arm.draw(rng, texts, length, 0.0)
            evidences = _texts(scores, arm.one_list)
            whole = arm.null.p_values(evidences)
            stretch = np.array([one.p_value for one in find_segments(arm.null, evidences)])
            ville = _ville(arm.null, scores)
        counts = {
            "whole": whole,
            "stretch": stretch,
            "ville": ville,
            "verdict": np.minimum(2 * np.minimum(whole, stretch), 1.0),
        }
        return found | {
            "part": part,
            **{key: [int((one <= rate).sum()) for rate in RATES] for key, one in counts.items()},
            "found": [
                [int((one <= rate / 2).sum()) for one in (ville, stretch)] for rate in RATES[1:]
            ],
            "lowest": np.sort(stretch)[: max(1, texts // 50)].tolist(),
        }


def _texts(scores: Floats, one_list: bool) -> Evidences:
    texts, length = scores.shape
    places = np.tile(np.arange(length), texts)
    seeds = np.zeros_like(places) if one_list else places
    evidence = Evidence(places, seeds, np.arange(scores.size), scores.ravel())
    return Evidences(evidence, np.arange(texts + 1) * length)


def _ville(null: Null, scores: Floats) -> Floats:
    """The bound as it was: Ville's inequality for each beginning, or each stretch."""
    length = scores.shape[1]
    if isinstance(null, Greens):
        green = math.log(null.marked_share / null.share)
        red = math.log((1 - null.marked_share) / (1 - null.share))
        ratios = np.where(scores > 0.5, green, red)
    elif isinstance(null, Exponential):
        ratios = scores / 2 - math.log(2)
    else:
        assert isinstance(null, TableBits), "an arm has one of these four"
        chances, places = null.chances, np.arange(null.unit + 1) / null.unit
        tilt = 0.5 / math.sqrt(chances @ places**2 - (chances @ places) ** 2)
        ratios = tilt * scores - math.log(chances @ np.exp(tilt * places))
    sums = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(ratios, axis=1)], axis=1)
    highest = (sums - np.minimum.accumulate(sums, axis=1)).max(axis=1)
    count = length * (length + 1) / 2 if isinstance(null, ExactGreens) else length
    p_values: Floats = np.minimum(1.0, count * np.exp(-highest))
    return p_values


def _of_scheme(
    name: str, rng: np.random.Generator, texts: int, length: int
) -> tuple[Floats, Floats]:
    """p-values of whole texts and of stretches; tokens are as frequent as words are."""
    whole, stretch = [], []
    for at in range(0, texts, 20):
        lists = [rng.zipf(1.25, length) % _VOCABULARY for _ in range(min(20, texts - at))]
        given: dict[str, Any] = {"key": rng.bytes(32), **SCHEMES[name]}
        key = int(rng.integers(1 << 62))
        if name == "vllm":
            given = {"config": {"key": key}}
        elif name == "sglang":
            given = {"config": {"key": f"{key:x}"}}
        elif name == "synthid":
            keys = rng.integers(1 << 62, size=30).tolist()
            given = {"config": {"keys": keys, "ngram_len": 5}}
        scheme = name.split(maxsplit=1)[0]
        detector = ticore.WatermarkDetector(IdsAlone(_VOCABULARY), scheme, **given)
        for found in detector.detect_ids_batch(lists):
            if isinstance(found, Detection):
                whole.append(found.p_value)
                stretch.append(found.segment.p_value)
    return np.array(whole), np.array(stretch)


def wanted(texts: int, lengths: Sequence[int]) -> list[tuple[str, str, int, float, int, int]]:
    """The parts that make up a run; texts without a watermark come last, long ones after short."""
    parts = []

    def add(kind: str, name: str, length: int, mark: float, texts: int, tokens: int) -> None:
        at_a_time = max(1, _TOKENS // tokens)
        for part, begin in enumerate(range(0, texts, at_a_time)):
            count = min(at_a_time, texts - begin)
            parts.append((kind, name, length, mark, count, part))

    for name, arm in ARMS.items():
        for length, mark in arm().marks:
            add("marked", name, length, mark, -(-texts // 20), _PLACED)
    for name in SCHEMES:
        few = 10 if name in ("synthid", "unigram exact", "left_hash exact") else 1
        add("scheme", name, 200, 0.0, -(-texts // few), 200)
    for length in sorted(lengths):
        for name in ARMS:
            if name != "one list of 4,096" or length <= 1000:  # it has no more tokens
                fewer = _FEWER if length > 1000 else 1
                add("null", name, length, 0.0, -(-texts // fewer), length)
    return parts


def figures(rows: Sequence[Found]) -> list[Found]:
    """The shares of texts with p-values as low as each rate, of each arm."""
    groups: dict[tuple[Any, ...], list[Found]] = defaultdict(list)
    for row in rows:
        groups[row["kind"], row["name"], row["length"], row["mark"]].append(row)
    found = []
    for (kind, name, length, mark), parts in groups.items():
        texts = sum(part["texts"] for part in parts)
        lowest = sorted(value for part in parts for value in part["lowest"])
        one: Found = {"kind": kind, "name": name, "length": length, "mark": mark, "texts": texts}
        for key in ("whole", "stretch", "ville", "verdict"):
            counts = np.sum([part[key] for part in parts], axis=0)
            one[key] = (counts / texts).tolist()
        one["found"] = (np.sum([part["found"] for part in parts], axis=0) / texts).tolist()
        # What the p-value says of texts of which there are one in a hundred, and in a thousand.
        one["claimed"] = [lowest[min(int(texts * rate), len(lowest) - 1)] for rate in (0.01, 0.001)]
        found.append(one)
    return found


def tables(found: Sequence[Found]) -> Iterator[Table]:
    """What a person reads."""

    def table(title: str, *columns: str) -> Table:
        made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        for at, column in enumerate(columns):
            made.add_column(column, justify="right" if at > 1 else "left")
        return made

    stretch = table(
        "Without a watermark, the stretch: the share of texts with a p-value of a or less, and "
        "what it says of texts of which there are one in a hundred and one in a thousand",
        "scores", "tokens", "texts", *(f"{rate:.0e}" for rate in RATES), "at 1 %", "at 0.1 %",
    )  # fmt: skip
    whole = table(
        "Without a watermark, the whole text, and at false-positive rates of a the verdict",
        "scores", "tokens", *(f"{rate:.0e}" for rate in RATES),
        *(f"fpr {rate:.0e}" for rate in RATES),
    )  # fmt: skip
    marked = table(
        "1,000 tokens of which some are marked: the share that is found at a false-positive rate, "
        "before and now",
        "scores", "marked", *(f"{when} {rate:.0e}" for rate in RATES[1:] for when in ("was", "is")),
    )  # fmt: skip
    for one in found:
        if one["kind"] != "marked":
            name, length = one["name"], f"{one['length']:,}"
            shares = [f"{share:.2g}" for share in one["stretch"] + one["claimed"]]
            stretch.add_row(name, length, f"{one['texts']:,}", *shares)
            whole.add_row(name, length, *(f"{rate:.2g}" for rate in one["whole"] + one["verdict"]))
        else:
            pairs = [f"{share:.0%}" for pair in one["found"] for share in pair]
            marked.add_row(one["name"], f"{one['length']} at {one['mark']:g}", *pairs)
    yield stretch
    yield whole
    yield marked


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.calibration", __doc__)
    parser.add_argument("--texts", type=positive, default=100_000, help="of each kind")
    parser.add_argument("--lengths", type=positive, nargs="+", default=LENGTHS, metavar="TOKENS")
    parser.add_argument("--processes", type=positive, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/calibration.jsonl"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all figures go")
    return parser.parse_args(arguments)


def _run(given: argparse.Namespace) -> int:
    code = code_digest(("schemes", "watermarking/stretches.py"), _SETTINGS)
    parts = wanted(given.texts, given.lengths)
    rows, complete = write_missing(
        Kept(given.out, digest_of(code)),
        parts,
        ("kind", "name", "length", "mark", "texts", "part"),
        _open,
        given.processes,
    )
    found = figures(rows)
    given.plot = None
    all_of_it = about(("ticore", "numpy", "scipy")) | {
        "complete": complete,
        "code": code,
        "settings": {"texts": given.texts, "lengths": list(given.lengths)},
        "figures": found,
    }
    return report(all_of_it, tables(found), lambda *_: None, given)


def _open() -> Callable[..., Found]:
    return Simulation().part


def main(arguments: Sequence[str] | None = None) -> int:
    return attempt(_run, _parse(arguments))


if __name__ == "__main__":
    sys.exit(main())
