"""How much of real text each mode rejects.

At each position i of ids = encode(text): is ids[:i+1] admissible in this mode? Where it is not, the
true token is *rejected*. A writer in this mode writes the text until a token is rejected after an
admissible list: there it is *blocked* and has to choose another token.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table

from benchmarks._harness.corpora import Corpora, load_corpora, passage
from benchmarks._harness.progress import track
from benchmarks._harness.report import new_report
from benchmarks._harness.tables import text_table, without_repeats
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode, Verifier
from ticore.interfaces import Tokenizer

from .modes import modes_to_check
from .per_tokenizer import finish, measure_each
from .plan import CHARACTERS_PER_TOKEN
from .tokenizer_sources import TokenizerSource

_CORPORA = ("English", "Japanese", "Chinese", "English novels", "code")
_PASSAGE_LENGTH = 500  # tokens


def run(options: argparse.Namespace) -> int:
    """Count rejections with all tokenizers."""
    corpora = load_corpora(options.texts, options.data, _CORPORA)
    modes = modes_to_check(options.mode)

    def measure(source: TokenizerSource) -> Iterator[JsonObject]:
        counts = rejections(source.open(), modes, corpora, options.tokens, options.seed)
        for row in track(counts, source.name, len(modes) * len(corpora)):
            yield {"tokenizer": source.name} | row

    settings = {"modes": modes, "tokens": options.tokens, "seed": options.seed}
    report = new_report(settings, complete=False)
    rows = measure_each(options, report, "rejections", measure)
    return finish(options, report, rows, [rejections_table(rows)])


@dataclass
class RejectionCount:
    """Tokens of some text, and how many of them a mode rejects.

    Attributes:
        token_count: tokens looked at.
        rejected_count: those after which the list is not admissible.
        reached_count: tokens that follow an admissible list.
        blocked_count: those of `reached_count` that are rejected.
        passage_count: passages looked at.
        clean_passage_count: passages in which no token is rejected.
    """

    token_count: int = 0
    rejected_count: int = 0
    reached_count: int = 0
    blocked_count: int = 0
    passage_count: int = 0
    clean_passage_count: int = 0

    def add(self, verifier: Verifier, ids: Sequence[int]) -> None:
        """Count one passage."""
        verification, before = verifier.start(), self.rejected_count
        for token in ids:
            reached = verification.admissible
            verification.push(token)
            rejected = not verification.admissible
            self.token_count += 1
            self.rejected_count += rejected
            self.reached_count += reached
            self.blocked_count += reached and rejected
        self.passage_count += 1
        self.clean_passage_count += self.rejected_count == before


def rejections(
    tokenizer: Tokenizer, modes: Iterable[Mode], corpora: Corpora, token_count: int, seed: int
) -> Iterator[JsonObject]:
    """A row for each mode and text, about `token_count` tokens of it."""
    for mode in modes:
        verifier = Verifier(tokenizer, mode=mode)
        for label, text in corpora.items():
            draw = random.Random(f"{seed} {label}")
            count = RejectionCount()
            while count.token_count < token_count:
                length = min(_PASSAGE_LENGTH, token_count - count.token_count)
                ids = tokenizer.encode(passage(text, CHARACTERS_PER_TOKEN * length, draw))
                count.add(verifier, ids[:length])
            yield {"mode": mode, "text": label, "method": verifier.method, **asdict(count)}


def rejections_table(rows: Sequence[JsonObject]) -> Table:
    """The shares of rejected tokens by tokenizer and text, with a column per mode."""
    modes = list(dict.fromkeys(row["mode"] for row in rows))
    table = text_table(
        "Tokens of real text that are rejected (blocked: of those after an admissible list)",
        ["tokenizer", "text"],
        ["tokens", *modes],
    )
    shares: dict[tuple[str, str], dict[str, str]] = {}
    token_counts = {}
    for row in rows:
        key = row["tokenizer"], row["text"]
        token_counts[key] = row["token_count"]
        rejected = row["rejected_count"] / row["token_count"]
        blocked = row["blocked_count"] / max(1, row["reached_count"])
        shares.setdefault(key, {})[row["mode"]] = f"{rejected:.2%} ({blocked:.2%})"
    above = ""
    for (tokenizer, text), by_mode in shares.items():
        cells = (by_mode.get(mode, "") for mode in modes)
        name = without_repeats(tokenizer, above)
        table.add_row(name, text, f"{token_counts[tokenizer, text]:,}", *cells)
        above = tokenizer
    return table
