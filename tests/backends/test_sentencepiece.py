"""The SentencePiece adapter against the library, on trained and on real models."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from tests.support import tokenizer_contract as contract
from tests.support.reference_encoder import UNKNOWN, ReferenceEncoder
from tests.support.slow import FEW_TOKENIZERS, slow_unless
from tests.support.tokenizers import REAL_SENTENCEPIECE, SENTENCEPIECE, sample_text
from ticore import Verifier
from ticore.backend_kit import NoStructure
from ticore.errors import ModelFilesError
from ticore.interfaces import NamingTokenizer
from ticore.registry import load_tokenizer, wrap
from ticore.testing import TokenizerContract
from ticore_sentencepiece import SentencePieceTokenizer
from ticore_sentencepiece._symbols import require_known_scores

ModelProto = sentencepiece_model_pb2.ModelProto
Piece, BPE, UNIGRAM = ModelProto.SentencePiece, 2, 1

ALL = SENTENCEPIECE | REAL_SENTENCEPIECE
IDENTITY = {name: ALL[name] for name in ALL if not name.endswith(("nfkc", "swallow"))}

any_tokenizer = pytest.mark.parametrize("name", ALL)
trained_tokenizer = pytest.mark.parametrize("name", SENTENCEPIECE)


def handmade(model_type: int = BPE, **normalizer: object) -> ModelProto:
    """A model of seven pieces, to be changed and serialized by a test.

    Ids: 0 unknown, 1 control, 2 to 4 letters a, b and ab, 5 a space, 6 a space and a.
    """
    model = ModelProto()
    for name, score, kind in [
        ("<unk>", 0, Piece.UNKNOWN),
        ("<s>", 0, Piece.CONTROL),
        ("a", -3, Piece.NORMAL),
        ("b", -3, Piece.NORMAL),
        ("ab", -1, Piece.NORMAL),
        ("▁", -3, Piece.NORMAL),
        ("▁a", -2, Piece.NORMAL),
    ]:
        model.pieces.add(piece=name, score=score, type=kind)
    model.trainer_spec.model_type = model_type
    settings = {"name": "identity", "remove_extra_whitespaces": False} | normalizer
    for field, value in settings.items():
        setattr(model.normalizer_spec, field, value)
    return model


def opened(model: ModelProto) -> SentencePieceTokenizer:
    return SentencePieceTokenizer(model.SerializeToString())


def charsmap() -> bytes:
    """The NFKC map, borrowed from a trained model."""
    return trained_proto("sp-bpe-nfkc").normalizer_spec.precompiled_charsmap


def trained_proto(name: str) -> ModelProto:
    return ModelProto.FromString(library_of(SENTENCEPIECE[name]()).serialized_model_proto())


def library_of(tokenizer: SentencePieceTokenizer) -> sentencepiece.SentencePieceProcessor:
    return tokenizer._library


class TestContract(TokenizerContract):
    examples = (
        (35, 300),  # the byte piece of a space comes first: decode keeps it
        (229, 1, 153, 132),  # a control id inside a character spelled in bytes
        (229, 153, 132),  # U+2581 spelled in bytes is no space
        (240, 163, 131),  # the bytes of a lone surrogate
    )

    @pytest.fixture(
        params=slow_unless(FEW_TOKENIZERS, [name for name in ALL if not name.endswith("-nfkc")])
    )
    def tokenizer(self, request: pytest.FixtureRequest) -> SentencePieceTokenizer:
        return ALL[request.param]()


class TestContractWhereSpacesAreSqueezed(TestContract):
    removes_all_leading_spaces = True

    @pytest.fixture(params=[name for name in ALL if name.endswith("-nfkc")])
    def tokenizer(self, request: pytest.FixtureRequest) -> SentencePieceTokenizer:
        return ALL[request.param]()


@pytest.mark.slow
@any_tokenizer
def test_vocab_size_is_that_of_the_library(name: str) -> None:
    tokenizer = ALL[name]()
    assert tokenizer.vocab_size == len(library_of(tokenizer))


# Token bytes and texts


@pytest.mark.slow
@pytest.mark.parametrize("name", IDENTITY)
@given(text=contract.texts)
@example(text="")
@example(text=" ")
@example(text="▁")
@example(text="a\x00b")
def test_encode_gives_tokens_whose_bytes_are_the_text(name: str, text: str) -> None:
    tokenizer = IDENTITY[name]()
    ids = tokenizer.encode(text)
    structure = tokenizer.structure()
    assert structure is not None
    if tokenizer.special_ids.isdisjoint(ids):  # without byte fallback, much is unknown
        prefix = " " if text and structure.dummy_prefix else ""
        expected = (prefix + text).replace("▁", " ")
        assert contract.joined_bytes(tokenizer, ids) == expected.encode()


@pytest.mark.slow
@any_tokenizer
@given(text=contract.texts, draws=contract.numbers)
def test_encode_and_decode_equal_the_library(name: str, text: str, draws: list[int]) -> None:
    tokenizer = ALL[name]()
    library = library_of(tokenizer)
    assert tokenizer.encode(text) == library.encode(text)
    ids = [i for i in contract.any_ids(tokenizer, draws) if not library.is_control(i)]
    assert tokenizer.decode(ids) == library.decode(ids)


def test_decode_removes_a_leading_space_only_when_a_piece_spells_it() -> None:
    tokenizer = SENTENCEPIECE["sp-bpe"]()
    byte, piece = (library_of(tokenizer).piece_to_id(p) for p in ("<0x20>", "▁"))
    assert tokenizer.token_bytes(byte) == tokenizer.token_bytes(piece) == b" "
    assert tokenizer.decode([byte]) == " "
    assert tokenizer.decode([piece]) == ""
    assert tokenizer.decode([piece, piece]) == " "


def test_decode_removes_all_leading_spaces_where_spaces_are_squeezed() -> None:
    tokenizer = opened(handmade(remove_extra_whitespaces=True, add_dummy_prefix=False))
    assert tokenizer.encode("  a  b ") == tokenizer.encode("a b")
    assert tokenizer.decode([5, 5, 6, 5, 5, 3]) == "a  b"


def test_decode_writes_unknown_and_unused_pieces_though_they_are_special() -> None:
    model = handmade()
    model.pieces.add(piece="▁un", type=Piece.UNUSED)
    tokenizer = opened(model)
    assert tokenizer.special_ids == {0, 1, 7}
    assert [tokenizer.token_bytes(i) for i in (0, 1, 7)] == [" ⁇ ".encode(), b"", b" un"]
    assert tokenizer.decode([2, 0, 7, 1]) == "a ⁇  un"


def test_decode_writes_the_unknown_surface_as_it_is() -> None:
    model = handmade()
    model.trainer_spec.unk_surface = "▁?"
    tokenizer = opened(model)
    assert tokenizer.decode([0]).encode() == tokenizer.token_bytes(0) == "▁?".encode()


def test_what_is_no_id_and_no_text_is_refused() -> None:
    contract.check_refusals(SENTENCEPIECE["sp-bpe"]())


def test_encode_raises_an_error_of_ticore_when_the_library_fails() -> None:
    proto = SENTENCEPIECE["sp-bpe"]()._library.serialized_model_proto()
    contract.check_failures(SentencePieceTokenizer(proto))


# Structure


BPE_TRAITS = {"kind": "bpe", "atoms": "characters", "dummy_prefix": True}
UNIGRAM_TRAITS = BPE_TRAITS | {"kind": "unigram"}
SQUEEZED = {"normalizer": "nmt_nfkc", "keeps_whitespace": False}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "traits"),
    [
        ("sp-bpe", BPE_TRAITS),
        ("sp-bpe-no-bytes", BPE_TRAITS),
        ("sp-bpe-no-prefix", {"kind": "bpe", "atoms": "characters"}),
        ("sp-bpe-nfkc", BPE_TRAITS | SQUEEZED),
        ("sp-bpe-added", BPE_TRAITS | {"added_tokens": {"<doc>": 3, " the ": 4, "[PAR]": 5}}),
        ("sp-unigram", UNIGRAM_TRAITS),
        ("sp-unigram-no-bytes-no-prefix", {"kind": "unigram", "atoms": "characters"}),
        ("sp-unigram-nfkc", UNIGRAM_TRAITS | SQUEEZED),
        ("llama-2", BPE_TRAITS),
        ("swallow", BPE_TRAITS | {"normalizer": "nfkc"}),
        ("llm-jp", UNIGRAM_TRAITS),
        ("mistral-v1", BPE_TRAITS),
    ],
)
def test_structure_states_the_traits_of_the_model(name: str, traits: dict[str, object]) -> None:
    structure = ALL[name]().structure()
    assert contract.traits(structure) == traits
    assert structure is not None
    assert len(structure.byte_ids) == (0 if "no-bytes" in name else 256)


def test_structure_has_the_added_tokens_of_a_real_model() -> None:
    tokenizer = REAL_SENTENCEPIECE["mistral-v3"]()
    structure = tokenizer.structure()
    assert structure is not None
    token = structure.added_tokens["[REFERENCE_DOC_0]"]
    assert tokenizer.token_bytes(token) == b"[REFERENCE_DOC_0]"
    assert not structure.pieces[token]


def test_structure_ranks_equal_scores_equally() -> None:
    model = handmade()
    model.pieces.add(piece="ba", score=-1 - 1e-9, type=Piece.NORMAL)  # as a float32, it is -1
    structure = opened(model).structure()
    assert structure is not None
    assert structure.ranks is not None
    assert structure.ranks[2:].tolist() == [3, 3, 1, 3, 2, 1]


@pytest.mark.parametrize("model_type", [BPE, UNIGRAM])
def test_normalize_squeezes_spaces_without_a_character_map(model_type: int) -> None:
    structure = opened(handmade(model_type, remove_extra_whitespaces=True)).structure()
    assert structure is not None
    assert structure.normalize is not None
    assert structure.normalize("  a   b ") == "a b"
    assert (structure.normalizer, structure.keeps_whitespace) == ("identity", False)


def test_normalize_applies_the_character_map_and_no_prefix() -> None:
    """Neither the dummy prefix nor U+2581 is seen from outside."""
    structure = SENTENCEPIECE["sp-bpe-nfkc"]().structure()
    assert structure is not None
    assert structure.normalize is not None
    assert structure.normalize(" ﾊﾝｶｸ\u3000 １\u2581x ") == "ハンカク 1 x"


def test_structure_names_the_normalizer_by_its_character_map() -> None:
    mapped = handmade(name="identity", precompiled_charsmap=charsmap())
    named = handmade(name="nfkc")
    structures = [opened(model).structure() for model in (mapped, named)]
    assert [s and s.normalizer for s in structures] == ["character_map", "identity"]


def _with_piece(name: str, kind: int, model_type: int = BPE) -> ModelProto:
    model = handmade(model_type)
    model.pieces.add(piece=name, score=-1, type=kind)
    return model


def _without_space_piece() -> ModelProto:
    model = handmade()
    del model.pieces[5]
    return model


def _mapped_with_added_token(
    name: str = "own", text: str = "ba", model_type: int = BPE
) -> ModelProto:
    model = _with_piece(text, Piece.USER_DEFINED, model_type)
    model.normalizer_spec.name = name
    model.normalizer_spec.precompiled_charsmap = charsmap()
    return model


def _with_both_zeros() -> ModelProto:
    model = handmade()
    model.pieces[4].score, model.pieces[6].score = 0.0, -0.0
    return model


def _suffixed() -> ModelProto:
    model = handmade()
    model.trainer_spec.treat_whitespace_as_suffix = True
    return model


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(handmade(3), id="word model"),
        pytest.param(handmade(4), id="character model"),
        pytest.param(handmade(escape_whitespaces=False), id="spaces as they are"),
        pytest.param(_suffixed(), id="a space more after each text"),
        pytest.param(_without_space_piece(), id="no piece for a space"),
        pytest.param(_with_piece("ba", Piece.UNUSED), id="bpe through an unused piece"),
        pytest.param(_with_piece("x", Piece.UNUSED), id="bpe, an unused character"),
        pytest.param(_with_piece("a b", Piece.NORMAL, UNIGRAM), id="unigram, piece never found"),
        pytest.param(_mapped_with_added_token(), id="added token in a text that is rewritten"),
        pytest.param(
            _mapped_with_added_token("nmt_nfkc", "a b"), id="rewritten around an added token"
        ),
        pytest.param(_mapped_with_added_token("nmt_nfkc", "▁b"), id="added token with a space"),
        pytest.param(_mapped_with_added_token("nmt_nfkc", "\u0301"), id="added token of a mark"),
        pytest.param(_mapped_with_added_token("own", "\ufb01", UNIGRAM), id="unigram, symbol kept"),
        pytest.param(_with_both_zeros(), id="scores of 0.0 and -0.0"),
    ],
)
def test_structure_is_none_where_none_is_exact(model: ModelProto) -> None:
    assert opened(model).structure() is None


@pytest.mark.parametrize("name", ["[PAD7]", "ba!?", "!!!"])
def test_an_unused_piece_that_no_two_pieces_make_is_in_no_ones_way(name: str) -> None:
    """As in many GGUF files, which fill the vocabulary up."""
    tokenizer = opened(_with_piece(name, Piece.UNUSED))
    structure = tokenizer.structure()
    assert structure is not None
    never = tokenizer.vocab_size - 1
    assert never in tokenizer.special_ids
    assert not structure.pieces[never]
    assert never not in tokenizer.encode(f"a{name}b {name}")
    assert Verifier(tokenizer).method == "table"


@pytest.mark.parametrize("kind", [Piece.USER_DEFINED, Piece.NORMAL])
def test_a_piece_with_a_plain_space_is_never_found(kind: int) -> None:
    tokenizer = opened(_with_piece("a b", kind))
    never = tokenizer.vocab_size - 1
    structure = tokenizer.structure()
    assert structure is not None
    assert tokenizer.token_bytes(never) == b"a b"
    assert never not in tokenizer.encode("a b a\u2581b")
    assert not structure.pieces[never]
    assert never not in structure.added_tokens.values()


def test_bpe_merges_a_character_that_is_no_piece() -> None:
    tokenizer = opened(_with_piece("ax", Piece.NORMAL))
    assert tokenizer.encode("ax") == [5, 7]
    structure = tokenizer.structure()
    assert structure is not None
    assert ReferenceEncoder(tokenizer, structure).encode("axx") == [5, 7, UNKNOWN]
    assert tokenizer.encode("x") == [5, 0]


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("ba", {}, ""),
        ("(", {"precompiled_charsmap": True}, ""),
        ("b\u2581", {"remove_extra_whitespaces": True}, "holds a space, and spaces are dropped"),
        ("a\u0301", {"remove_extra_whitespaces": True}, "a character that joins another one"),
        ("\ufb01", {"precompiled_charsmap": True}, "found before its normalizer changes"),
        ("=", {"precompiled_charsmap": True}, "found before its normalizer changes"),
    ],
)
def test_a_symbol_of_unigram_that_would_be_normalized_is_named(
    name: str, settings: dict[str, bool], why: str
) -> None:
    try:
        require_known_scores()
    except NoStructure as reason:
        pytest.skip(str(reason))
    model = _with_piece(name, Piece.USER_DEFINED, UNIGRAM)
    if name == "=":  # it is changed together with this one
        model.pieces.add(piece="\u0338", score=-1, type=Piece.NORMAL)
    for setting in settings:
        value = charsmap() if setting == "precompiled_charsmap" else True
        setattr(model.normalizer_spec, setting, value)
    tokenizer = opened(model)
    assert (tokenizer.structure() is None) == bool(why)
    assert why in tokenizer.no_structure_reason
    assert not why or repr(name) in tokenizer.no_structure_reason


def test_unigram_may_avoid_a_user_defined_symbol() -> None:
    """Why such a symbol is a piece with a score; BPE always takes it."""
    by_kind = {}
    for model_type in (BPE, UNIGRAM):
        model = handmade(model_type)
        model.pieces.add(piece="ba", score=-1, type=Piece.USER_DEFINED)
        model.pieces.add(piece="bab", score=-0.5, type=Piece.NORMAL)
        tokenizer = opened(model)
        by_kind[model_type] = 7 in tokenizer.encode("bab")
    assert by_kind == {BPE: True, UNIGRAM: False}


# Digest and files


def test_digest_tells_tokenizers_apart() -> None:
    digests = {SENTENCEPIECE[name]().digest() for name in SENTENCEPIECE}
    assert len(digests) == len(SENTENCEPIECE)
    proto = trained_proto("sp-bpe").SerializeToString()
    assert SentencePieceTokenizer(proto).digest() == SentencePieceTokenizer(proto).digest()


def test_digest_is_that_of_the_model_whatever_the_order_of_its_fields() -> None:
    """A writer of protobuf may write the pieces last."""
    model = trained_proto("sp-bpe")
    pieces = ModelProto(pieces=model.pieces)
    specs = ModelProto(trainer_spec=model.trainer_spec, normalizer_spec=model.normalizer_spec)
    proto = specs.SerializeToString() + pieces.SerializeToString()
    assert proto != model.SerializeToString()
    tokenizer = SentencePieceTokenizer(proto)
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
    same = pickle.loads(pickle.dumps(tokenizer)), wrap(processor), opened(model)
    assert {found.digest() for found in same} == {tokenizer.digest()}


def test_load_tokenizer_opens_a_model_file(tmp_path: Path) -> None:
    tokenizer = SENTENCEPIECE["sp-bpe"]()
    file = tmp_path / "tokenizer.model"
    file.write_bytes(library_of(tokenizer).serialized_model_proto())
    again = load_tokenizer(f"sentencepiece:{file}")
    assert again.digest() == tokenizer.digest()
    assert again.encode_batch(sample_text(3)) == tokenizer.encode_batch(sample_text(3))


def _cut_between_pieces() -> bytes:
    model = ModelProto()
    model.pieces.extend(handmade().pieces)
    return model.SerializeToString()


def _denormalizing() -> bytes:
    model = handmade()
    model.denormalizer_spec.precompiled_charsmap = charsmap()
    return model.SerializeToString()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "empty or ends too early"),
        (b"#version: 0.2\n", "something else"),
        (b'{"model": null}', "something else"),
        (handmade().SerializeToString()[:-2], "something else"),
        (_cut_between_pieces(), "empty or ends too early"),
        (handmade().SerializeToString().replace(b"ab", b"\xa0b"), "damaged"),
    ],
)
def test_from_file_refuses_a_damaged_file(tmp_path: Path, content: bytes, found: str) -> None:
    file = tmp_path / "tokenizer.model"
    file.write_bytes(content)
    with pytest.raises(ModelFilesError, match=found) as caught:
        SentencePieceTokenizer.from_file(file)
    assert str(file) in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_model_with_a_denormalizer_is_refused() -> None:
    with pytest.raises(ModelFilesError, match="denormalizer"):
        SentencePieceTokenizer(_denormalizing())


@pytest.mark.parametrize("name", ["absent.model", "."])
def test_from_file_refuses_a_missing_file_and_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelFilesError, match="check the path"):
        SentencePieceTokenizer.from_file(tmp_path / name)


@pytest.mark.slow
@given(where=st.floats(0, 1, exclude_max=True))
@settings(max_examples=30)
def test_a_truncated_model_is_refused(where: float) -> None:
    proto = trained_proto("sp-bpe").SerializeToString()
    with pytest.raises(ModelFilesError):
        SentencePieceTokenizer(proto[: int(where * len(proto))])


# Opened by others


def test_wrap_takes_a_processor() -> None:
    ours = SENTENCEPIECE["sp-bpe"]()
    proto = ours._library.serialized_model_proto()
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
    adopted = wrap(processor)
    assert adopted.digest() == ours.digest()
    assert wrap(processor) is adopted


class Slow:
    """A slow tokenizer of transformers, as far as it is looked at."""

    def __init__(self, sp_model: Any, moved: int = 0, added: int = 0) -> None:
        self.sp_model, self._moved, self._added = sp_model, moved, added

    def __len__(self) -> int:
        return int(self.sp_model.get_piece_size()) + self._added

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        pieces: list[str] = self.sp_model.id_to_piece([max(0, i - self._moved) for i in ids])
        return pieces


def test_wrap_takes_a_slow_tokenizer_only_with_the_ids_of_its_model() -> None:
    ours = SENTENCEPIECE["sp-bpe"]()
    assert wrap(Slow(ours._library)).digest() == ours.digest()
    for other in (Slow(ours._library, moved=1), Slow(ours._library, added=1)):
        with pytest.raises(ModelFilesError, match="found a Slow that moves or adds some"):
            wrap(other)


def test_token_name_and_unknown_ids_are_those_of_the_model() -> None:
    ours = SENTENCEPIECE["sp-bpe"]()
    assert [ours.token_name(i) for i in range(3)] == ["<unk>", "<s>", "</s>"]
    assert ours.unknown_ids == {0}
    assert isinstance(ours, NamingTokenizer)


@pytest.mark.parametrize(
    "options", [{"reverse": True}, {"enable_sampling": True, "alpha": 0.1, "nbest_size": -1}]
)
def test_a_processor_that_changes_the_ids_is_refused(options: dict[str, Any]) -> None:
    proto = SENTENCEPIECE["sp-bpe"]()._library.serialized_model_proto()
    plain = sentencepiece.SentencePieceProcessor(model_proto=proto, add_bos=True)
    assert wrap(plain).encode("a") == plain.encode("a", add_bos=False)
    with pytest.raises(ModelFilesError, match=f"found {next(iter(options))}"):
        wrap(sentencepiece.SentencePieceProcessor(model_proto=proto, **options))
