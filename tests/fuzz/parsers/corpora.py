"""Files with many texts, the saved results of a scan, and tables in the cache."""

from __future__ import annotations

import io
import json
import shutil
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.mutations import damaged_bytes, damaged_json, damaged_lines
from tests.support.tokenizers import TRAINED
from ticore._support import table_cache
from ticore.consistency import Verifier
from ticore.corpus._base import Problem
from ticore.corpus._formats import open_corpus, open_writer
from ticore.corpus._results import Result
from ticore.corpus._saved_batches import SavedBatches

from .base import Parser

ROWS = [
    {"id": 1, "text": "A text.", "more": {"a": [1, 2.5, None], "b": "x"}},
    {"id": 2, "text": "日本語 \U0001f600", "more": {"a": [], "b": None}},
    {"id": 3, "text": None, "more": {"a": [1e300], "b": ""}},
]


def lines() -> list[bytes]:
    return [b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)]


def tables() -> list[bytes]:
    columns = {
        "text": pa.array(["A text.", None, "日本語 \U0001f600"]),
        "when": pa.array([datetime(2024, 5, 6, tzinfo=UTC)] * 3),
        "what": pa.array([Decimal("1.25"), None, Decimal("3.50")]),
        "more": pa.array([{"a": [1, 2]}, {"a": None}, None]),
    }
    file = BytesIO()
    pq.write_table(pa.table(columns), file)
    return [file.getvalue()]


def scan(ending: str, outputs: str, content: bytes, path: Path) -> None:
    """Read all rows and write them again with results."""
    source = path.with_suffix(ending)
    source.write_bytes(content)
    corpus = open_corpus(source, "text", 2, None)
    with io.BytesIO() as file:
        writer = open_writer(Path(f"out{outputs}"), file, corpus)
        rows = 0
        for batch in corpus.batches():
            results = [
                Result(error=text.error) if isinstance(text, Problem) else Result(tokens=len(text))
                for text in batch.texts
            ]
            writer.write(batch, results)
            rows += len(results)
        writer.close()
        if outputs == ".jsonl":
            found = [json.loads(line) for line in file.getvalue().splitlines()]
            assert len(found) == rows, f"{len(found)} rows of {rows}"
            assert all("tokens" in row for row in found), "a row without a result"


def read_part(content: bytes, path: Path) -> None:
    output = path.with_name("out.jsonl")
    with SavedBatches(output, "digest", lambda _: None) as saved:
        (saved.folder / "000000.json").write_bytes(content)
        assert saved.get(0, b"texts") in (None, RESULTS), "other results"


def read_manifest(content: bytes, path: Path) -> None:
    output = path.with_name("other.jsonl")
    shutil.rmtree(output.with_name("other.jsonl.parts"), ignore_errors=True)
    output.with_name("other.jsonl.parts").mkdir()
    (output.with_name("other.jsonl.parts") / "manifest.json").write_bytes(content)
    with SavedBatches(output, "digest", lambda _: None) as saved:
        saved.remove()


RESULTS = [Result("watermarked", 0.01, 0.5, 10, 7, 12, 0, 12, 0.02), Result(error="line 2: no")]


@cache
def part() -> bytes:
    """The saved results of a batch, as a scan writes them."""
    with (
        TemporaryDirectory() as folder,
        SavedBatches(Path(folder) / "out.jsonl", "digest", lambda _: None) as saved,
    ):
        saved.put(0, b"texts", RESULTS)
        content = (saved.folder / "000000.json").read_bytes()
        saved.remove()
    return content


@cache
def stored() -> tuple[str, bytes]:
    """The name and content of the tables of a tokenizer, as a Verifier stores them."""
    Verifier(TRAINED["hf-gpt2"]())
    file = next(iter(sorted(table_cache.folder().glob("*.tables"))))
    return file.name, file.read_bytes()


def read_tables(content: bytes, _: Path) -> None:
    """Damaged tables count as missing: the answers are the same."""
    name, sound = stored()
    (table_cache.folder() / name).write_bytes(content)
    found = table_cache.load(name.removesuffix(".tables"))
    if found is not None:
        (table_cache.folder() / name).write_bytes(sound)
        expected = table_cache.load(name.removesuffix(".tables"))
        assert found.keys() == expected.keys(), "other tables"
        assert all(np.array_equal(found[key], expected[key]) for key in found), "other numbers"


PARSERS = [
    Parser("rows of JSONL", lines, damaged_lines, partial(scan, ".jsonl", ".jsonl")),
    Parser("rows of JSONL as Parquet", lines, damaged_lines, partial(scan, ".jsonl", ".parquet")),
    Parser("Parquet", tables, damaged_bytes, partial(scan, ".parquet", ".parquet")),
    Parser("Parquet as JSONL", tables, damaged_bytes, partial(scan, ".parquet", ".jsonl")),
    # The second one is as earlier versions wrote them, without a seal.
    Parser(
        "part of a scan",
        lambda: [part(), json.dumps(RESULTS).encode()],
        damaged_bytes,
        read_part,
    ),
    Parser("manifest of a scan", lambda: [b'{"digest": "x"}'], damaged_json, read_manifest),
    Parser("tables", lambda: [stored()[1]], damaged_bytes, read_tables),
]
