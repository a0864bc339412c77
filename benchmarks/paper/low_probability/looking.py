"""The texts of other parts, looked at with the model that wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.paper.analysis import AnalysisOptions, Collection
from benchmarks.paper.stand_ins import StandIn
from ticore.candidates import Candidates, PoolSettings
from ticore.evaluation import rate
from ticore.interfaces import LanguageModel

from .comparison import compared
from .tails import Tails, TextDistribution, log2_of_pool

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker


Kind = tuple[str, int | None]
"""A method and its number of candidates (k), or covers."""


def run(
    rows: Mapping[str, Sequence[JsonObject]], options: AnalysisOptions, collection: Collection
) -> JsonObject:
    """How improbable tokens compare in each kind of texts.

    Args:
        rows: of the parts `messages` and `covers`.
        options: say which model it is.
        collection: keeps what is found of each kind.

    Returns:
        `kinds`: what `look_at_kind` says of the covers, and of each method and number of
        candidates.
    """
    kinds: dict[Kind, list[JsonObject]] = {}
    for row in (row for part in ("covers", "messages") for row in rows[part] if _is_seen(row)):
        kinds.setdefault((row.get("method", "covers"), row.get("k")), []).append(row)
    worker = partial(make_worker, options.model, kinds)
    return {"kinds": collection.samples("kinds", list(kinds), ("method", "k"), worker)}


def make_worker(model: StandIn, kinds: Mapping[Kind, Sequence[JsonObject]]) -> Worker:
    """The worker of these texts: `look_at_kind` with their model."""
    # As the messages were written: the last bits of logits decide which token is the k-th.
    return partial(look_at_kind, Looker(model.open("float64")), kinds)


class Looker:
    """Looks at texts with the model that wrote them.

    Args:
        model: that wrote them, at temperature 1.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._distribution = TextDistribution(model)
        self._candidates = lru_cache(lambda k: Candidates(model, PoolSettings(top_k=k)))

    def look(self, text: str, ids: Sequence[int], k: int | None) -> dict[str, JsonObject]:
        """The improbable tokens of a text.

        Args:
            text: the whole of it, which begins with its prompt.
            ids: its last tokens: those to look at, and no longer than the model's context.
            k: how many candidates there were; None: the text is a free sample.

        Returns:
            `whole`, and `pool` where there is a k: see `Tails.as_json`.
        """
        whole = self._model.tokenizer.encode(text)
        found = {"whole": Tails()} | ({} if k is None else {"pool": Tails()})
        scored = np.asarray(self._model.score(whole))[len(whole) - len(ids) :]
        for token, logits in zip(ids, scored, strict=True):
            found["whole"].add(self._distribution.log2(logits), token)
            if k is not None:
                pool = self._candidates(k).pool(logits)
                (places,) = np.nonzero(pool.ids == token)
                place = int(places[0]) if len(places) else None
                found["pool"].add(log2_of_pool(pool), place)
        return {name: tails.as_json() for name, tails in found.items()}


def look_at_kind(
    looker: Looker, kinds: Mapping[Kind, Sequence[JsonObject]], method: str, k: int | None
) -> Sample:
    """How improbable tokens compare in the texts of one kind.

    Returns:
        `method` and `k`; `texts` and `tokens`, their numbers; `whole`, see `compared`, under
        the distribution that covers are sampled from; for messages also `pool`, under that of
        the k candidates which their tokens were chosen from, and `outside`, the share of tokens
        that are not among them.
    """
    rows = kinds[method, k]
    texts = [looker.look(row["text"], row["read"]["ids"], k) for row in rows]
    tokens = sum(text["whole"]["steps"] for text in texts)
    found: Sample = {
        "method": method,
        "k": k,
        "texts": len(texts),
        "tokens": tokens,
        "whole": compared([text["whole"] for text in texts]),
    }
    if k is not None:
        pools = [text["pool"] for text in texts]
        outside = sum(pool["outside"] for pool in pools)
        found["outside"] = asdict(rate(outside, tokens))
        found["pool"] = compared(pools)
    return found


def _is_seen(row: JsonObject) -> bool:
    """Whether there is a text, and the model's context has room for it."""
    return row["read"] is not None and row["read"]["statistics"] is not None


def comparisons(kinds: Iterable[JsonObject], reference: str) -> list[JsonObject]:
    """All comparisons with one reference that say something."""
    return [each for kind in kinds for each in kind.get(reference, ()) if each["ratio"] is not None]
