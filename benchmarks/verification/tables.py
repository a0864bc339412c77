"""What was found, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.table import Table

from benchmarks.spread import Spread, duration, ratio

from .plan import Found

_MEGA = 1 << 20


def times_tables(found: Found) -> Iterator[Table]:
    """Tables of all that `speed.measure` found, in the order in which to read them."""
    yield _loading(found)
    yield _masks(found)
    yield _new_masks(found)
    yield _others(found)
    yield _in_full(found)


def _modes(found: Found) -> Iterator[tuple[str, Found, Found]]:
    for tokenizer in found["tokenizers"]:
        for mode, rows in tokenizer.get("modes", {}).items():
            yield f"{tokenizer['name']} {mode}", tokenizer, rows


def _lengths(found: Found) -> Iterator[tuple[str, str, Found]]:
    """Name, tokens of history, and what was found there; the name only on the first line."""
    for name, _, rows in _modes(found):
        for n, (length, here) in enumerate(rows["lengths"].items()):
            yield name if n == 0 else "", length, here


def _loading(found: Found) -> Table:
    table = _table(
        "Making a Verifier, and what it holds (tracemalloc)",
        ["tokenizer", "ids", "built", "its self-test", "from disk", "its self-test", "loaded"],
        ["after a walk", "the list walked"],
    )
    for name, tokenizer, rows in _modes(found):
        cells = [name, f"{tokenizer['vocab_size']:,}"]
        if rows.get("why"):
            table.add_row(*cells, rows["why"])
            continue
        for how in ("built", "from_disk"):
            times = rows.get("load", {}).get(how, {})
            cells += [_cell(times.get(part)) for part in ("whole", "self_test")]
        memory = rows.get("memory", {})
        cells += [
            f"{memory[part] / _MEGA:.1f} MB" if part in memory else ""
            for part in ("loaded", "walked", "list")
        ]
        table.add_row(*cells)
    return table


def _masks(found: Found) -> Table:
    # Where all is in mode `prefix`, the oracle is the paper's way.
    ways = {"tail": "tail", "oracle": "oracle", "paper": "the paper's way"}
    if all("oracle" not in here for _, _, here in _lengths(found)):
        del ways["oracle"]
    table = _table(
        "A mask of the whole vocabulary: median (95 %); ~ scaled from a sample of it",
        ["tokenizer", "history", "again", "as it comes", "what is new", *ways.values()],
        ["paper / again", "paper / new"],
    )
    for name, length, here in _lengths(found):
        again, new = _all(here, "mask_again"), _all(here, "mask_new")
        cells = [_cell(one) for one in (again, _all(here, "mask_as_it_comes"), new)]
        cells += [_scaled(here, way) for way in ways]
        paper = here.get("paper", {}).get("mask")
        for one in (again, new):
            cells.append(ratio(paper["median"] / one["median"]) if paper and one else "")
        table.add_row(name, length, *cells)
    return table


_NEW = {
    "mask_kept": "answer kept from elsewhere",
    "mask_new_token": "new last token, tail known",
    "mask_new_tail": "new tail",
    "mask_by_tokenizer": "no table: asked of the tokenizer",
}


def _new_masks(found: Found) -> Table:
    table = _table(
        "A mask as it comes, by what of it is new: median (95 %) × how often",
        ["tokenizer", "history", *_NEW.values()],
    )
    for name, length, here in _lengths(found):
        spreads = [_all(here, new) for new in _NEW]
        cells = [f"{_cell(one)} × {one['count']:.0f}" if one else "" for one in spreads]
        table.add_row(name, length, *cells)
    return table


def _others(found: Found) -> Table:
    table = _table(
        f"`admits` of {found['settings']['candidates']} candidates, `push` and `rewind` of one: "
        "median (95 %)",
        ["tokenizer", "history", "again", "as it comes", "tail", "the paper's way"],
        ["push, mask known", "push, reading", "rewind"],
    )
    for name, length, here in _lengths(found):
        table.add_row(
            name,
            length,
            *(_cell(_all(here, timing)) for timing in ("admits_again", "admits_as_it_comes")),
            *(_cell(here.get(rung, {}).get("admits")) for rung in ("tail", "paper")),
            *(
                _cell(_all(here, timing))
                for timing in ("push_after_mask", "push_reading", "rewind")
            ),
        )
    return table


def _in_full(found: Found) -> Table:
    table = _table(
        "Masks measured in full, beside the same scaled from a sample",
        ["tokenizer", "way", "text", "history", "in full", "scaled"],
    )
    for name, _, rows in _modes(found):
        for here in rows["lengths"].values():
            for way in ("tail", "paper", "oracle"):
                scaled = {one["text"]: one["seconds"] for one in here.get(way, {}).get("masks", [])}
                for one in here.get(way, {}).get("full", ()):
                    cells = [duration(one["seconds"]), "~" + duration(scaled[one["text"]])]
                    table.add_row(name, way, one["text"], str(one["tokens"]), *cells)
    return table


def _all(here: Found, timing: str) -> Spread | None:
    found: Spread | None = here.get("mask", {}).get(timing, {}).get("all")
    return found


def _scaled(here: Found, way: str) -> str:
    row = here.get(way, {})
    return ("~" if row.get("scaled") else "") + _cell(row["mask"]) if "mask" in row else ""


def _cell(times: Spread | None) -> str:
    if not times:
        return ""
    median, p95 = duration(times["median"]), duration(times["p95"])
    number, _, unit = p95.partition(" ")
    return f"{median} ({number if median.endswith(' ' + unit) else p95})"


def soak_tables(rows: Sequence[Found]) -> Iterator[Table]:
    """A line for each tokenizer and mode, and one for each way to begin; `rows` are cases."""
    by_mode = _sums(rows, "tokenizer", "mode")
    by_opening = _sums(rows, "opening")
    for sums, names in ((by_mode, ("tokenizer", "mode")), (by_opening, ("cases that begin with",))):
        table = _table(
            "The mask rung against the definition",
            [*names, "checks", "admitted", "lists", "too slow to check", "mismatches"],
            ["checks per second"],
        )
        for labels, found in sums.items():
            speed = found["checks"] / max(found["seconds"], 1e-9)
            cells = (f"{found[name]:,.0f}" for name in _SUMS[:-1])
            table.add_row(*labels, *cells, f"{speed:,.0f}")
        yield table


def _sums(rows: Sequence[Found], *names: str) -> dict[tuple[str, ...], dict[str, float]]:
    """What cases that agree in `names` found together."""
    together: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        labels = tuple(row[name] for name in names)
        sums = together.setdefault(labels, dict.fromkeys(_SUMS, 0))
        for name in _SUMS:
            sums[name] += row[name]
    return together


_SUMS = ("checks", "admitted", "lists", "passed_over", "mismatches", "seconds")


def mismatch_text(row: Found, example: dict[str, Any]) -> str:
    """How to see a wrong answer again."""
    ids = example["shortened"]
    asked = {
        "admits": f"admits([{example['candidate']}])",
        "mask": f"mask()[{example['candidate']}]",
        "push": f"push({example['candidate']}), then admissible",
        "lost": "lost, though the list was mended",
        "admissible": "admissible",
        "finished_ok": "finished_ok()",
    }[example["what"]]
    return (
        f"{row['tokenizer']} {row['mode']}, after {example['text']!r}"
        f"{'' if example['candidate'] is None else ', ' + example['spelled']}:\n"
        f"  tokenizer = ticore.load_tokenizer({row['place']!r})\n"
        f"  ticore.Verifier(tokenizer, {row['mode']!r}).start({ids}).{asked}\n"
        f"  found {example['found']}, expected {example['expected']} "
        f"(case {row['case']}, whole list {example['ids']})"
    )


def runs_table(rows: Sequence[Found], lengths: Sequence[int]) -> Table:
    """What a push takes in runs of characters, by their length."""
    table = _table(
        "A push in a run of so many characters without a boundary (CPU)",
        ["tokenizer", "rung", "run"],
        [*(f"{length:,}" for length in lengths), "last / first"],
    )
    before = None
    for row in rows:
        name = f"{row['tokenizer']} {row['mode']}"
        times = list(row["seconds"].values())
        head = [name, row["rung"]] if name != before else ["", ""]
        cells = [*map(duration, times), ratio(times[-1] / times[0])]
        table.add_row(*head, row["kind"], *cells)
        before = name
    return table


def rejections_table(rows: Sequence[Found]) -> Table:
    """Shares by tokenizer and text, modes side by side."""
    modes = list(dict.fromkeys(row["mode"] for row in rows))
    table = _table(
        "True tokens of real text that are rejected (of those asked after an admissible list)",
        ["tokenizer", "text", "tokens", *modes],
    )
    cells: dict[tuple[str, str], dict[str, str]] = {}
    places = {}
    for row in rows:
        key = row["tokenizer"], row["text"]
        places[key] = row["places"]
        rejected = row["rejected"] / row["places"]
        turned_away = row["turned_away"] / max(1, row["asked"])
        cells.setdefault(key, {})[row["mode"]] = f"{rejected:.2%} ({turned_away:.2%})"
    last = ""
    for (tokenizer, text), by_mode in cells.items():
        shares = (by_mode.get(mode, "") for mode in modes)
        name = "" if tokenizer == last else tokenizer
        table.add_row(name, text, f"{places[tokenizer, text]:,}", *shares)
        last = tokenizer
    return table


def _table(title: str, left: Sequence[str], right: Sequence[str] = ()) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for n, name in enumerate((*left, *right)):
        table.add_column(name, justify="left" if n == 0 else "right")
    return table
