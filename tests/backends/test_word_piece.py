"""WordPiece tokenizers, such as BERT's: they lose text, and serve detection and `compare`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

import ticore
from tests.backends.test_tokenizers import TestContract as _HuggingFaceContract
from tests.support.tokenizers import FRAGMENTS
from ticore.consistency import Verifier, audit, compare
from ticore.errors import ModelFilesError
from ticore_tokenizers import HuggingFaceTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
UNKNOWN, START, END = 1, 2, 3


@cache
def made(lowercase: bool) -> str:
    """A small BERT's tokenizer.json, with a decoder that tidies spaces up."""
    characters = sorted(set("".join(FRAGMENTS).lower()) - {" ", "\n", "\t"})
    words = sorted({word.lower() for text in FRAGMENTS for word in text.split() if word.isalpha()})
    names = [*SPECIAL, *characters, *(f"##{c}" for c in characters), *words, "##ing", "##s"]
    vocabulary = {name: i for i, name in enumerate(dict.fromkeys(names))}
    library = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    library.add_special_tokens(SPECIAL)
    return library.to_str()


def bert(lowercase: bool = True) -> HuggingFaceTokenizer:
    return HuggingFaceTokenizer(Tokenizer.from_str(made(lowercase)))


class TestContract(_HuggingFaceContract):
    examples = ()
    # The library writes the prefix of a first token that is not a word.
    test_decode_writes_the_bytes_of_the_tokens = None

    @pytest.fixture
    def tokenizer(self) -> HuggingFaceTokenizer:
        return bert()


def test_each_token_has_its_bytes_with_the_space_of_a_word() -> None:
    tokenizer = bert()
    text = "the quick brown fox isn't lazy."
    ids = tokenizer.encode(text)
    written = b"".join(map(tokenizer.token_bytes, ids)).decode()
    assert written == " the quick brown fox isn ' t lazy ."
    assert tokenizer.decode(ids) == written.removeprefix(" ")
    assert tokenizer.encode(written) == ids


@pytest.mark.parametrize(
    ("lowercase", "lost"), [(True, "case, accents, control characters"), (False, "control")]
)
def test_what_is_lost_is_said(lowercase: bool, lost: str) -> None:
    tokenizer = bert(lowercase)
    assert tokenizer.losses.startswith("WordPiece keeps no white space")
    assert lost in tokenizer.losses
    assert ("case" in tokenizer.losses) == lowercase
    assert tokenizer.structure() is None
    assert "WordPiece, which loses text" in tokenizer.no_structure_reason


def test_compare_reads_a_list_with_its_special_tokens() -> None:
    tokenizer = bert()
    ids = tokenizer.encode("she sells sea shells")
    found = compare(tokenizer, [START, *ids, END])
    assert (found.consistent, found.specials) == (True, (0, len(ids) + 1))
    assert found.text == "she sells sea shells"


def test_compare_reports_unknown_words_and_other_ways_to_write_a_word() -> None:
    tokenizer = bert()
    ids = tokenizer.encode("the ☃ fox")
    assert UNKNOWN in ids
    assert compare(tokenizer, ids).unknowns == (ids.index(UNKNOWN),)
    names = {tokenizer.token_name(i): i for i in range(tokenizer.vocab_size)}
    letters = [names["t"], names["##h"], names["##e"]]
    found = compare(tokenizer, letters)
    assert (found.text, found.consistent, found.sits) == ("the", False, (0, 1, 2))
    assert found.again == tuple(tokenizer.encode("the"))


def test_load_tokenizer_opens_the_file(tmp_path: Path) -> None:
    file = tmp_path / "bert.json"
    file.write_text(made(lowercase=True))
    tokenizer = ticore.load_tokenizer(f"tokenizers:{file}")
    assert tokenizer.digest() == bert().digest()
    assert Verifier(tokenizer).method == "retokenize"


def test_audit_says_what_is_lost() -> None:
    found = audit(bert())
    assert found.losses == bert().losses
    assert "which loses text" in found.why


def test_a_decoder_with_another_prefix_is_refused() -> None:
    state = json.loads(made(lowercase=True))
    state["decoder"]["prefix"] = "@@"
    with pytest.raises(ModelFilesError, match="found WordPiece"):
        HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))
