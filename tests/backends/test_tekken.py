"""A tekken.json of Mistral: the ids of mistral-common."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support.tokenizers import O200K_PATTERN, TIKTOKEN, ranks_of_trained, sample_text
from ticore.consistency import Verifier
from ticore.errors import ModelFilesError
from ticore.interfaces import NamingTokenizer, Tokenizer
from ticore.registry import load_tokenizer
from ticore.testing import TokenizerContract

SPECIAL, CUT = 30, 20  # special tokens; tokens at the end of the file that get no id


def tekken(change: Callable[[dict[str, Any]], object] = lambda state: None) -> dict[str, Any]:
    """A tekken.json with the ranks of a trained tokenizer, without gaps."""
    singles = [bytes([byte]) for byte in range(256)]
    tokens = sorted(ranks_of_trained(), key=ranks_of_trained().__getitem__)
    tokens = singles + [token for token in tokens if len(token) > 1]
    state: dict[str, Any] = {
        "config": {
            "pattern": O200K_PATTERN,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": len(tokens) - CUT + SPECIAL,
            "default_num_special_tokens": SPECIAL,
            "version": "v3",
        },
        "vocab": [
            {
                "rank": rank,
                "token_bytes": b64encode(token).decode(),
                "token_str": token.decode(errors="ignore") or None,
            }
            for rank, token in enumerate(tokens)
        ],
    }
    change(state)
    return state


def named(state: dict[str, Any]) -> None:
    state["special_tokens"] = [
        {"rank": i, "token_str": name, "is_control": i != 1}
        for i, name in enumerate(["<unk>", "<s>", "</s>", "[THINK]"])
    ]
    state["config"]["version"] = "v13"


def write(folder: Path, state: object) -> Path:
    file = folder / "tekken.json"
    file.write_text(json.dumps(state))
    return file


class TestContract(TokenizerContract):
    examples = ((226, 150, 129), (SPECIAL + 226, 0, SPECIAL + 150))

    @pytest.fixture
    def tokenizer(self, tmp_path: Path) -> Tokenizer:
        return load_tokenizer(f"tiktoken:{write(tmp_path, tekken())}")


def test_special_tokens_have_the_first_ids_and_ranks_follow(tmp_path: Path) -> None:
    state = tekken()
    found = load_tokenizer(f"tiktoken:{write(tmp_path, state)}")
    assert isinstance(found, NamingTokenizer)
    assert found.vocab_size == state["config"]["default_vocab_size"]
    assert found.special_ids == set(range(SPECIAL))
    assert [found.token_name(i) for i in (1, 19, 20, SPECIAL)] == [
        *("<s>", "[TOOL_CONTENT]", "<SPECIAL_20>", "")
    ]
    assert [found.token_bytes(i) for i in (0, SPECIAL, SPECIAL + 65)] == [b"", b"\0", b"A"]
    assert found.encode("<s>") == [SPECIAL + ord(letter) for letter in "<s>"]
    assert found.decode([1, SPECIAL + 65]) == "A"
    plain = TIKTOKEN["tiktoken-small"]()
    for text in sample_text(5):
        ids = found.encode(text)
        assert found.decode(ids) == text
        # Fewer tokens have an id, so there may be more of them in the text.
        assert len(ids) >= len(plain.encode(text))


def test_a_file_names_its_special_tokens(tmp_path: Path) -> None:
    found = load_tokenizer(f"tiktoken:{write(tmp_path, tekken(named))}")
    assert isinstance(found, NamingTokenizer)
    names = [found.token_name(i) for i in range(5)]
    assert names == ["<unk>", "<s>", "</s>", "[THINK]", "<SPECIAL_4>"]
    other = tmp_path / "other"
    other.mkdir()
    assert found.digest() != load_tokenizer(f"tiktoken:{write(other, tekken())}").digest()


@pytest.mark.parametrize(
    ("pattern", "method"), [(r"\p{L}+|\s+", "retokenize"), (r"\p{L}+|\s+|.", "table")]
)
def test_a_pattern_that_drops_text_is_not_verified_by_tables(
    tmp_path: Path, pattern: str, method: str
) -> None:
    state = tekken(lambda state: state["config"].update(pattern=pattern))
    found = load_tokenizer(f"tiktoken:{write(tmp_path, state)}")
    assert Verifier(found).method == method


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda state: state.pop("config"), "found no vocab, or no config"),
        (lambda state: state["config"].update(pattern=None), "no config with a pattern"),
        (lambda state: state["config"].update(pattern="("), "an expression that tiktoken"),
        (lambda state: state["config"].update(version="v11"), "version 'v11' and no special"),
        (
            lambda state: state["config"].update(default_num_special_tokens=15),
            "names of 15 special",
        ),
        (lambda state: state["config"].update(default_vocab_size=10**6), "found the id 1,000,000"),
        (lambda state: state["config"].update(default_vocab_size=1000), "of which 970 have an id"),
        (lambda state: state["config"].update(default_vocab_size=200), "of which 170 have an id"),
        (lambda state: state["config"].update(default_num_special_tokens=2**63), "of which -9,"),
        (lambda state: state["config"].update(default_num_special_tokens=-7), "of which 602 have"),
        (lambda state: state["vocab"].pop(7), "no token of rank 7"),
        (lambda state: state["vocab"][7].update(token_bytes="?"), "not base64"),
        (lambda state: state["vocab"][7].update(token_bytes="IQ=="), "b'!' as token of rank 7"),
        (lambda state: state["vocab"][300].update(token_bytes=""), "b'' as token of rank 300"),
        (lambda state: state["vocab"][300].update(token_bytes="IQ=="), "b'!' as token of rank 300"),
        (lambda state: state.update(special_tokens=[{"rank": 1}]), "no special token of rank 0"),
        (
            lambda state: state.update(special_tokens=[{"rank": 0, "token_str": ""}]),
            "no special token of rank 0",
        ),
        (
            lambda state: state.update(special_tokens=[{"rank": 0, "token_str": "<SPECIAL_3>"}]),
            "29 names of 30 special tokens",
        ),
    ],
)
def test_from_tekken_refuses_a_damaged_file(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], found: str
) -> None:
    file = write(tmp_path, tekken(change))
    with pytest.raises(ModelFilesError, match=found) as caught:
        load_tokenizer(f"tiktoken:{file}")
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"[" * 100_000, b'{"model": {}}'])
def test_from_tekken_refuses_another_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ModelFilesError, match=r"expected a tekken.json of Mistral"):
        load_tokenizer(f"tiktoken:{tmp_path}/a.json")
    with pytest.raises(ModelFilesError, match="check the path"):
        load_tokenizer(f"tiktoken:{tmp_path}/absent.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_ids_are_those_of_mistral_common(name: str) -> None:
    spec = find_spec("mistral_common")
    if spec is None or spec.origin is None:
        pytest.skip("the package mistral-common is not installed")
    module = import_module("mistral_common.tokens.tokenizers.tekken")
    file = Path(spec.origin).parent / "data" / name
    theirs, ours = module.Tekkenizer.from_file(file), load_tokenizer(f"tiktoken:{file}")
    assert theirs.n_words == ours.vocab_size
    for text in [*sample_text(20), "<s>[INST] naïve e\u0301 \U0001f600 東京\n\n  x 123"]:
        ids = theirs.encode(text, bos=False, eos=False)
        assert ours.encode(text) == ids
        assert ours.decode(ids) == theirs.decode(ids) == text
    for token in range(1000, ours.vocab_size, 97):
        assert ours.token_bytes(token) == theirs.id_to_byte_piece(token)
    assert isinstance(ours, NamingTokenizer)
    assert [ours.token_name(i) for i in range(1000)] == [*map(theirs.id_to_piece, range(1000))]
