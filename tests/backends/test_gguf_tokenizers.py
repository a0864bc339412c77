"""Tokenizers of GGUF files give the ids of the tokenizers that the files were made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gguf", reason="gguf is not installed")

from tokenizers import Regex, pre_tokenizers
from tokenizers import Tokenizer as Library

from tests.support.gguf_files import merges_of, pieces_of, write_tokenizer
from tests.support.sample_texts import PASSAGES
from tests.support.tokenizers import (
    DATA,
    HUGGING_FACE,
    O200K_PATTERN,
    SENTENCEPIECE,
    sample_text,
    train_byte_level,
)
from ticore.consistency import Verifier
from ticore.errors import ModelFilesError
from ticore.interfaces import Tokenizer
from ticore.registry import load_tokenizer
from ticore_tokenizers import HuggingFaceTokenizer

TEXTS = (
    *PASSAGES.values(),
    *sample_text(20),
    "",
    " a  b \n\n 12 345\r\n\n 6",
    "<doc>the the <|endoftext|>[PAR] (sh ells",
    "it's IT'S naïve e\u0301 \u2581 \x00 \U0001f600½ a1b2\t",
)


def assert_alike(found: Tokenizer, original: Tokenizer) -> None:
    """Everything that a tokenizer answers, but for its digest."""
    for text in TEXTS:
        ids = original.encode(text)
        assert found.encode(text) == ids, text[:50]
        assert found.decode(ids) == original.decode(ids)
    assert found.special_ids == original.special_ids
    assert found.unknown_ids == original.unknown_ids
    size = original.vocab_size
    assert [*map(found.token_bytes, range(size))] == [*map(original.token_bytes, range(size))]
    # A GGUF file has a character map without its name; not every map is read without one.
    assert (found.structure() is None) >= (original.structure() is None)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Tokenizer]:
    """`opened(write, backend)`: the tokenizer that `write` writes."""

    def opened(write: Callable[[Any], object], backend: str = "tokenizers") -> Tokenizer:
        return load_tokenizer(f"{backend}:{write_tokenizer(tmp_path / 'model.gguf', write)}")

    return opened


@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_pieces_are_those_of_the_sentencepiece_model(
    name: str, opened: Callable[..., Tokenizer]
) -> None:
    original = SENTENCEPIECE[name]()
    assert_alike(opened(pieces_of(original), "sentencepiece"), original)


def state_of(tokenizer: HuggingFaceTokenizer) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(tokenizer._library.to_str())
    return state


def splits(*expressions: str, then: pre_tokenizers.PreTokenizer | None = None) -> Any:
    """As the tokenizer.json files of these models have them."""
    last = then or pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    steps = [pre_tokenizers.Split(Regex(each), "isolated") for each in expressions]
    return pre_tokenizers.Sequence([*steps, last])


def digits_apart() -> Any:
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), words])


def deepseek_coder() -> Any:
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    digits = pre_tokenizers.Digits(individual_digits=True)
    return splits(
        r"[\r\n]",
        r"\s?\p{L}+",
        r"\s?\p{P}+",
        "[一-龥ࠀ-一가-퟿]+",
        then=pre_tokenizers.Sequence([digits, bytes_]),
    )


def tekken() -> Any:
    spec = find_spec("mistral_common")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package mistral-common is not installed")
    file = Path(spec.submodule_search_locations[0], "data", "tekken_240718.json")
    return splits(json.loads(file.read_text())["config"]["pattern"])


SPLITTINGS = {
    "gpt-2": partial(pre_tokenizers.ByteLevel, add_prefix_space=False),
    "smollm": digits_apart,
    "starcoder": digits_apart,
    "gpt-4o": partial(splits, O200K_PATTERN),
    "deepseek-coder": deepseek_coder,
    "tekken": tekken,
}


@pytest.mark.parametrize("name", SPLITTINGS)
def test_texts_are_split_as_the_name_says(name: str, opened: Callable[..., Tokenizer]) -> None:
    original = train_byte_level(SPLITTINGS[name]())
    assert_alike(opened(merges_of(state_of(original), name)), original)


def test_parts_that_are_tokens_stay_whole(opened: Callable[..., Tokenizer]) -> None:
    original = HUGGING_FACE["hf-ignore-merges"]()
    assert_alike(opened(merges_of(state_of(original), "llama-bpe")), original)


REAL_FILES = {
    "phi-2": "phi-2/tokenizer.json",
    "qwen2": "qwen2.5/tokenizer.derived.json",
    "deepseek-v3": "deepseek-v3/tokenizer.json",
}


@pytest.mark.parametrize("name", REAL_FILES)
def test_texts_are_split_as_by_the_model_of_this_name(
    name: str, opened: Callable[..., Tokenizer]
) -> None:
    """Its own normalizer and pretokenizer, over a small vocabulary."""
    path = DATA / "tokenizers" / REAL_FILES[name]
    if not path.exists():
        pytest.skip(f"{path} is absent; TICORE_DATA names the folder that holds tokenizers/")
    real, state = json.loads(path.read_text()), state_of(HUGGING_FACE["hf-gpt2"]())
    state |= {field: real[field] for field in ("normalizer", "pre_tokenizer")}
    original = HuggingFaceTokenizer(Library.from_str(json.dumps(state)))
    assert_alike(opened(merges_of(state, name)), original)


def test_added_tokens_keep_their_kinds(opened: Callable[..., Tokenizer]) -> None:
    state = state_of(HUGGING_FACE["hf-gpt2"]())
    added = dict(state["added_tokens"][0])
    first = max(state["model"]["vocab"].values()) + 1
    state["added_tokens"] += [
        added | {"id": first, "content": "<a b>", "special": False},
        added | {"id": first + 2, "content": "<end>", "special": True},  # one id is not used
    ]
    found = opened(merges_of(state, "gpt-2"))
    assert found.vocab_size == first + 3
    assert found.special_ids == {added["id"], first + 1, first + 2}
    assert found.encode("x<a b>y")[1:2] == [first]
    assert found.decode([first, first + 1, first + 2]) == "<a b>"
    assert Verifier(found).start(found.encode("x<a b>")).consistent


def test_unknown_token_may_be_marked_as_a_control_token(opened: Callable[..., Tokenizer]) -> None:
    original = SENTENCEPIECE["sp-bpe"]()
    write = pieces_of(original)

    def marked(writer: Any) -> None:
        write(writer)
        kinds = writer.kv_data[0]["tokenizer.ggml.token_type"].value
        assert kinds[0] == 2
        kinds[0] = 3

    assert_alike(opened(marked, "sentencepiece"), original)


class TestRefusals:
    def test_unknown_name_of_a_pretokenizer(self, opened: Callable[..., Tokenizer]) -> None:
        state = state_of(HUGGING_FACE["hf-gpt2"]())
        for name in ("default", "command-r"):
            with pytest.raises(ModelFilesError, match=f"one of gpt-2, .*, found '{name}', of whi"):
                opened(merges_of(state, name))

    def test_tokenizer_of_another_backend(self, opened: Callable[..., Tokenizer]) -> None:
        pieces = pieces_of(SENTENCEPIECE["sp-bpe"]())
        with pytest.raises(ModelFilesError, match="found 'llama'; open it with sentencepiece:FILE"):
            opened(pieces)
        merges = merges_of(state_of(HUGGING_FACE["hf-gpt2"]()), "gpt-2")
        with pytest.raises(ModelFilesError, match="found 'gpt2'; open it with tokenizers:FILE"):
            opened(merges, "sentencepiece")

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("tokens", ["<unk>", "a", "a"], "tokens to be different from each other, found 'a'"),
            ("tokens", [], "a list of tokens"),
            ("token_type", [1, 1], "token_type to be a list of 3 finite numbers"),
            ("token_type", [1, 1, 9], "numbers from 1 to 6, found 9"),
            ("scores", [0.0, 0.0, float("nan")], "scores to be a list of 3 finite numbers"),
            ("scores", ["a", "b", "c"], "scores to be a list of 3 finite numbers"),
            ("merges", [1, 2], "merges to be a list of strings"),
            ("unknown_token_id", 7, "unknown_token_id to be token ids from 0 to 2, found 7"),
            ("precompiled_charsmap", [1.0], "precompiled_charsmap to be bytes"),
            ("add_space_prefix", 3, "add_space_prefix to be true or false, found 3"),
            ("pre", 3, "pre to be text, found 3"),
        ],
    )
    def test_damaged_vocabulary(
        self, key: str, value: Any, message: str, opened: Callable[..., Tokenizer]
    ) -> None:
        given = {"tokens": ["<unk>", "a", "b"], "token_type": [2, 1, 1], key: value}

        def write(writer: Any) -> None:
            writer.add_tokenizer_model("llama")
            for name, each in given.items():
                if each != []:
                    add = writer.add_array if isinstance(each, list) else writer.add_uint32
                    add(f"tokenizer.ggml.{name}", each)

        with pytest.raises(ModelFilesError, match=message) as refusal:
            opened(write, "sentencepiece")
        assert "\n" not in str(refusal.value)
