"""Everything that is timed, for one tokenizer."""

from __future__ import annotations

from benchmarks.spread import timed
from ticore.consistency.mask import table_engine
from ticore.consistency.oracle import Oracle

from .loading import loads, memory
from .places import Place
from .plan import Found, Plan, Track, empty_cache
from .retokenising import retokenise
from .texts import Texts
from .walks import draw_walks, walk


def measure(place: Place, plan: Plan, texts: Texts, track: Track, found: Found) -> None:
    """Fill `found`, which holds at every moment what is known so far.

    Raises TicoreError where the tokenizer cannot be opened.
    """
    seconds, tokenizer = timed(place.open)
    found |= {
        "name": place.name,
        "place": place.where,
        "vocab_size": tokenizer.vocab_size,
        "digest": tokenizer.digest(),
        "open": seconds,
        "modes": {},
    }
    for mode in plan.modes:
        rows: Found = found["modes"].setdefault(mode, {"lengths": {}})
        label = f"{place.name} {mode}"
        with empty_cache():
            engine = table_engine(Oracle(tokenizer, mode))
            by_table = not isinstance(engine, str)
            rows["why"] = "" if by_table else engine
            if by_table:
                rows["load"] = loads(place.open, mode, plan, track, label)
                rows["memory"] = memory(place.open, mode, plan, texts)
            for length in plan.lengths:
                here: Found = rows["lengths"].setdefault(str(length), {})
                label = f"{place.name} {mode}, {length} tokens"
                walks = draw_walks(tokenizer, plan, texts, length)
                if by_table:
                    here["mask"] = walk(tokenizer, mode, walks, track, label)
                here |= retokenise(tokenizer, mode, plan, walks, track, label)
