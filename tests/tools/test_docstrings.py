"""The docstrings that the site's reference is made of."""

from __future__ import annotations

import pytest

pytest.importorskip("griffe", reason="griffe comes with the extra docs")

from tools.docstrings import with_blocks, with_single_entries, without_files


def test_with_blocks_fences_a_doctest_with_its_output() -> None:
    text = "Sum.\n\n>>> 1 + 1\n2\n\nEnd."
    assert with_blocks(text) == "Sum.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nEnd."


def test_with_blocks_fences_a_doctest_at_the_end() -> None:
    assert with_blocks("Sum.\n\n>>> 1 + 1\n2") == "Sum.\n\n```pycon\n>>> 1 + 1\n2\n```"


def test_with_blocks_keeps_continued_lines_together() -> None:
    text = ">>> for i in range(2):\n...     print(i)\n0\n1\n"
    assert with_blocks(text) == f"```pycon\n{text}```\n"


def test_with_single_entries_repeats_what_is_said_of_several() -> None:
    text = "Args:\n    a, b: numbers,\n        both even.\n    c: a text.\n"
    assert with_single_entries(text) == (
        "Args:\n    a: numbers,\n        both even.\n    b: numbers,\n        both even.\n"
        "    c: a text.\n"
    )


def test_with_single_entries_leaves_prose_alone() -> None:
    text = "Summary: a, b: c.\n\nArgs:\n    a: of x, y: both.\n"
    assert with_single_entries(text) == text


def test_without_files_leaves_out_the_list_of_files() -> None:
    text = (
        "A package.\n\npool.py     tokens\n            and weights\nbpe/        pairs\n\nThe end."
    )
    assert without_files(text) == "A package.\n\nThe end."
    assert without_files("pool.py is a file.") == "pool.py is a file."
