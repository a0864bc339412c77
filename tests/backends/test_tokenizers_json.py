"""A tokenizer.json that is read in parts is the same as one that is read as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models

from ticore_tokenizers import HuggingFaceTokenizer, _json
from ticore_tokenizers._json import Merges, parse, read

# What the parts of a file look like from within a string.
_TRAPS = (
    "]",
    "[",
    "]]",
    '"',
    '"]]',
    '"],["',
    '"]]}',
    ",",
    ",[",
    ':5,"',
    '":5}',
    "{",
    "}",
    "\\",
    '\\"',
)
_NAMES = (
    *_TRAPS,
    '"merges":[',
    '"vocab":{"a":1}',
    "merges",
    "vocab",
    "#version",
    "\n",
    "é",
    "\U0001f600",
)
names = st.sampled_from(_NAMES) | st.text(st.sampled_from('ab"[]{},:\\ \n1é\U0001f600'), max_size=4)
layouts = st.sampled_from(
    [
        {"separators": (",", ":"), "ensure_ascii": False},
        {"ensure_ascii": True},
        {"indent": 2, "ensure_ascii": False},
        {"indent": "\t", "separators": (" ,\r\n", " :\n")},
    ]
)


def whole(state: Any) -> Any:
    """`state` with its merges as a list."""
    if isinstance(state, dict) and isinstance(state.get("model"), dict):
        merges = state["model"].get("merges")
        if isinstance(merges, Merges):
            return state | {"model": state["model"] | {"merges": list(merges)}}
    return state


def bpe(tokens: list[str]) -> Tokenizer:
    """BPE with these tokens, and merges that give all their beginnings."""
    vocab: dict[str, int] = {}
    merges: dict[tuple[str, str], None] = {}
    for token in tokens:
        for n, letter in enumerate(token, start=1):
            vocab.setdefault(letter, len(vocab))
            vocab.setdefault(token[:n], len(vocab))
            if n > 1:
                merges[token[: n - 1], letter] = None
    return Tokenizer(models.BPE(vocab, list(merges), unk_token=None))


@given(
    vocab=st.dictionaries(names, st.integers(0, 99)),
    merges=st.lists(st.tuples(names, names)) | st.lists(names),
    layout=layouts,
    after=st.dictionaries(names, st.none() | names | st.lists(st.lists(names))),
    last=st.booleans(),
)
@example({"a": 1}, [("a", "[")], {}, {"b": [["x"]]}, False)
@example({"a,": 1}, [("a", "b")], {}, {"vocab": []}, True)
def test_parse_reads_what_json_reads(
    vocab: dict[str, int], merges: Any, layout: dict[str, Any], after: Any, last: bool
) -> None:
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
    first, second = (after, {"model": model}) if last else ({"model": model}, after)
    data = json.dumps(first | second, **layout).encode()
    for part in (1, 30, _json._PART):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_json, "_PART", part)
            try:
                assert whole(parse(data)) == json.loads(data)
            except ValueError:  # What is no merge is noticed, at the latest, when it is parsed.
                assert whole(read(data)[0]) == json.loads(data)


@given(tokens=st.lists(names, min_size=1), layout=layouts)
@example(["#version", "ab"], {})
@example(["a b", "ab"], {})
def test_short_merges_give_the_same_tokenizer(tokens: list[str], layout: dict[str, Any]) -> None:
    library = bpe(tokens)
    data = json.dumps(json.loads(library.to_str()), **layout).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_json, "_PART", 40)
        state, short = read(data)
    assert whole(state) == json.loads(data)
    assert len(state["model"]["merges"]) == len(json.loads(data)["model"]["merges"])
    assert Tokenizer.from_buffer(short).to_str() == library.to_str()


def test_merges_are_strings_where_they_can_be() -> None:
    short = read(bpe(["abc"]).to_str(pretty=True).encode())[1]
    assert json.loads(short)["model"]["merges"] == ["a b", "ab c"]
    for kept in (["a b"], ["#versions"]):
        data = bpe(kept).to_str().encode()
        assert read(data)[1] == data


@pytest.mark.parametrize("damage", ['["a", "b", "c"]', '["a"]', "[]", "null", '["a", 1]', '"a b"'])
def test_merges_that_are_no_pairs_are_read_as_a_whole(damage: str) -> None:
    data = bpe(["abc"]).to_str().replace('["a","b"]', damage).encode()
    assert damage in data.decode()
    state, short = read(data)
    assert whole(state) == json.loads(data)
    assert json.loads(short) == json.loads(data)


def test_a_file_with_a_name_twice_is_read_as_a_whole() -> None:
    data = bpe(["abc"]).to_str()[:-1] + ',"more":{"merges":[["a","b"]]}}'
    assert read(data.encode()) == (json.loads(data), data.encode())


def test_a_tokenizer_has_the_digest_of_its_text() -> None:
    """Tables and agreements are found by it, so it never changes."""
    library = bpe(["the", "naïve\U0001f600"])
    library.decoder = decoders.ByteLevel()
    assert library.__getstate__() == library.to_str().encode()
    assert HuggingFaceTokenizer(library).digest() == (
        "7ea53979a5961dc1c93f03704b2e4551d22190eee8a25e0056ac64de7de1f1a9"
    )
