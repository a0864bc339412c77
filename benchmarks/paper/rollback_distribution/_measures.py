"""How far what an algorithm writes is from the model conditioned on consistent texts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from ._algorithms import Written, algorithm_4, frontier_rollback, plain, rejected_windows
from ._text_tree import TextTree
from ._toys import Toy, make_toys

OBSERVATIONS = tuple(range(21))
PUBLISHED_OBSERVATIONS = (2, 10)
"""The observation periods that the paper recommends."""

_WINDOWS = (2, 4, 8, 16)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class RollbackRow:
    """One algorithm on one toy. All values are such that JSON has them.

    Attributes:
        kind, seed, length, caution, choices: of the toy, see `Toy`.
        consistent_share: Z, the share of the model's texts that are consistent.
        algorithm: its name.
        setting: the observation period q or the number of tokens in a window; None without one.
        tv: the total variation from the target, the model conditioned on consistent texts. What is
            not finished differs from every text of the target.
        tv_per_inconsistent: `tv` / (1 - Z).
        kl_bits: the divergence D(algorithm || target) in bits; None where it is infinite, since
            the algorithm writes inconsistent texts or does not end.
        kl_per_inconsistent: `kl_bits` / (1 - Z).
        inconsistent: the share of its texts that are not consistent.
        unfinished: the probability that it does not end.
        cost: expected forward passes per token written, as a multiple of the model's without
            rollback.
    """

    kind: str
    seed: int
    length: int
    caution: float
    choices: int | None
    consistent_share: float
    algorithm: str
    setting: int | None
    tv: float
    tv_per_inconsistent: float
    kl_bits: float | None
    kl_per_inconsistent: float | None
    inconsistent: float
    unfinished: float
    cost: float


@dataclass(frozen=True)
class SummaryRow:
    """One algorithm on all toys of a kind: means, and the lowest and highest value of some.

    Attributes:
        kind, algorithm, setting: as in `RollbackRow`.
        toys: how many.
        tv_per_inconsistent, kl_bits, kl_per_inconsistent, inconsistent, unfinished, cost: means; of
            divergences None if one is infinite.
        tv_per_inconsistent_range, cost_range: the lowest and the highest.
    """

    kind: str
    algorithm: str
    setting: int | None
    toys: int
    tv_per_inconsistent: float
    tv_per_inconsistent_range: tuple[float, float]
    kl_bits: float | None
    kl_per_inconsistent: float | None
    inconsistent: float
    unfinished: float
    cost: float
    cost_range: tuple[float, float]


def measure(
    seed: int,
    toys: Iterable[Toy] | None = None,
    observations: Sequence[int] = OBSERVATIONS,
) -> list[RollbackRow]:
    """All algorithms on some toys.

    Args:
        seed: of the toys' logits.
        toys: None: those of `make_toys(seed)`; otherwise `seed` is not used.
        observations: the periods of the frontier's rollback.

    Raises:
        ValueError: a toy has no inconsistent text, so there is nothing to measure.
    """
    rows = []
    for toy in make_toys(seed) if toys is None else toys:
        tree = TextTree.of(toy)
        if tree.consistent_share > 1 - _ROUNDING:
            raise ValueError(f"expected a toy with inconsistent texts, found {toy} without")
        alone = plain(tree)
        for algorithm, setting, written in _written(tree, alone, observations):
            rows.append(_row(tree, alone, algorithm, setting, written))
    return rows


def summarize(rows: Iterable[RollbackRow]) -> list[SummaryRow]:
    """The means over all toys of a kind: by kind, then by algorithm in the order of the rows."""
    groups: defaultdict[tuple[str, str, int | None], list[RollbackRow]] = defaultdict(list)
    for row in rows:
        groups[row.kind, row.algorithm, row.setting].append(row)
    algorithms = list(dict.fromkeys(algorithm for _, algorithm, _ in groups))
    order = sorted(groups, key=lambda g: (g[0], algorithms.index(g[1]), g[2] or 0))
    return [_summary(groups[group]) for group in order]


def _written(
    tree: TextTree, alone: Written, observations: Sequence[int]
) -> Iterator[tuple[str, int | None, Written]]:
    """Name and setting of each algorithm, and what it writes."""
    length = tree.toy.length
    yield "none", None, alone
    for observation in PUBLISHED_OBSERVATIONS:
        yield "algorithm 4", observation, algorithm_4(tree, observation, "steps")
        yield "algorithm 4 to T tokens", observation, algorithm_4(tree, observation, "tokens")
    # No more tokens can be pending than a text has, so longer periods change nothing.
    frontier = {q: frontier_rollback(tree, q) for q in {min(q, length) for q in observations}}
    for observation in observations:
        yield "frontier rollback", observation, frontier[min(observation, length)]
    for observation in PUBLISHED_OBSERVATIONS:
        written = frontier_rollback(tree, observation, bans=False)
        yield "frontier rollback without bans", observation, written
    yield "masking", None, rejected_windows(tree, 1)
    for window in _WINDOWS:
        if window < length:
            yield "rejected windows", window, rejected_windows(tree, window)
    yield "whole-text rejection", None, rejected_windows(tree, length)


def _row(
    tree: TextTree, alone: Written, algorithm: str, setting: int | None, written: Written
) -> RollbackRow:
    toy, target, lost = tree.toy, tree.target, 1 - tree.consistent_share
    texts = target.keys() | written.shares.keys()
    apart = sum(abs(written.shares.get(text, 0.0) - target.get(text, 0.0)) for text in texts)
    tv = (apart + written.unfinished) / 2
    inconsistent = sum(share for text, share in written.shares.items() if text not in target)
    kl = None
    if inconsistent + written.unfinished < _ROUNDING:
        logs = (p * math.log2(p / target[text]) for text, p in written.shares.items() if p > 0)
        kl = max(0.0, sum(logs))
    return RollbackRow(
        kind=toy.kind,
        seed=toy.seed,
        length=toy.length,
        caution=toy.caution,
        choices=toy.choices,
        consistent_share=tree.consistent_share,
        algorithm=algorithm,
        setting=setting,
        tv=tv,
        tv_per_inconsistent=tv / lost,
        kl_bits=kl,
        kl_per_inconsistent=None if kl is None else kl / lost,
        inconsistent=inconsistent,
        unfinished=written.unfinished,
        cost=(written.forwards / written.tokens) / (alone.forwards / alone.tokens),
    )


def _summary(rows: Sequence[RollbackRow]) -> SummaryRow:
    distances, costs = [row.tv_per_inconsistent for row in rows], [row.cost for row in rows]
    return SummaryRow(
        kind=rows[0].kind,
        algorithm=rows[0].algorithm,
        setting=rows[0].setting,
        toys=len(rows),
        tv_per_inconsistent=fmean(distances),
        tv_per_inconsistent_range=(min(distances), max(distances)),
        kl_bits=_mean([row.kl_bits for row in rows]),
        kl_per_inconsistent=_mean([row.kl_per_inconsistent for row in rows]),
        inconsistent=fmean(row.inconsistent for row in rows),
        unfinished=fmean(row.unfinished for row in rows),
        cost=fmean(costs),
        cost_range=(min(costs), max(costs)),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None if one of them is infinite."""
    finite = [value for value in values if value is not None]
    return fmean(finite) if len(finite) == len(values) else None
