"""A stream of tokens against the decoding of the whole."""

import random

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2 as model_pb2

import ticore
from tests.support.random_steps import replace
from tests.support.random_tokenizers import FAMILIES, JsonTokenizer
from tests.support.tokenizers import FRAGMENTS, TRAINED
from ticore.consistency import TokenStream
from ticore.errors import ModelFilesError
from ticore_sentencepiece import SentencePieceTokenizer


def test_streams_give_what_decode_gives_and_take_nothing_back():
    """Any ids: special ones, spaces at the beginning, and bytes that are no characters."""
    for name, opened in sorted(TRAINED.items()):
        tokenizer, draw = opened(), random.Random(name)
        spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
        odd = [i for i, data in enumerate(spelled) if not data.strip() or data[0] >= 0x80]
        for _ in range(60):
            choices = (odd or [0], range(tokenizer.vocab_size), tokenizer.encode("é 日 😀"))
            ids = [draw.choice(draw.choice(choices)) for _ in range(draw.randrange(12))]
            if draw.random() < 0.3:
                ids = tokenizer.encode(draw.choice(FRAGMENTS)[: draw.randrange(1, 40)])
            stream, whole, found = TokenStream(tokenizer), tokenizer.decode(ids), ""
            for token in ids:
                found += stream.push(token)
                assert whole.startswith(found), (name, ids)
            assert found + stream.finish() == whole, (name, ids)


@pytest.mark.parametrize(
    "ids",
    [
        # Malformed bytes after a character that is not whole: U+FFFD came once too often.
        (b"\x9a\xe9", b"\xa8"),
        (b" ", b"\xe0", b"\xb2", b"\xa0"),
    ],
)
def test_streams_give_each_malformed_byte_once(ids):
    for tokenizer in (opened() for opened in TRAINED.values()):
        known = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
        some = [known[data] for data in ids if data in known]
        stream = TokenStream(tokenizer)
        assert "".join(map(stream.push, some)) + stream.finish() == tokenizer.decode(some)


def test_a_stream_gives_a_character_when_it_is_whole():
    tokenizer = ticore.load_tokenizer("tiny-en")
    stream = TokenStream(tokenizer)
    pieces = [stream.push(token) for token in tokenizer.encode("It is 5 €.")]
    assert pieces == ["It", " is", " ", "5", " ", "", "", "€", "."]
    assert stream.finish() == ""


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_all_that_a_stream_of_a_random_tokenizer_gives_is_the_text(family, data):
    try:
        tokenizer = data.draw(FAMILIES[family]).open()
    except ModelFilesError:
        reject()  # the library fails with it
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=20))
    stream = TokenStream(tokenizer)
    assert "".join(map(stream.push, ids)) + stream.finish() == tokenizer.decode(ids)


def test_a_stream_keeps_spaces_where_no_token_is_a_word_in_ascii():
    model = model_pb2.ModelProto()
    model.trainer_spec.model_type = 2
    model.normalizer_spec.remove_extra_whitespaces = False
    for piece, kind, score in (
        *(("<unk>", 2, 0), ("▁", 1, -1.0), ("日", 1, -2.0)),
        *(("本", 1, -3.0), ("▁日", 1, -0.5)),
    ):
        model.pieces.add(piece=piece, type=kind, score=score)
    tokenizer = SentencePieceTokenizer(model.SerializeToString())
    ids = tokenizer.encode("日 本 日")
    stream = TokenStream(tokenizer)
    assert "".join(map(stream.push, ids)) + stream.finish() == "日 本 日"


@pytest.mark.parametrize("lacking", [0xA9, 0xC3])
def test_a_stream_waits_for_the_end_of_a_run_where_a_byte_has_no_token(lacking):
    tokenizer = JsonTokenizer(
        "characters",
        ((b"a", b"b"),),
        normalizers=(replace(" ", "▁"),),
        byte_fallback=True,
        lacking=(lacking,),
        decoder="llama",
    ).open()
    by_name = {tokenizer.token_name(i): i for i in range(tokenizer.vocab_size)}
    ids = [by_name["<0x0A>"], by_name["<0xE3>"]]
    stream = TokenStream(tokenizer)
    assert "".join(map(stream.push, ids)) + stream.finish() == tokenizer.decode(ids)


@pytest.mark.parametrize("name", ["<0x0a>", "<0x+A>"])
def test_a_stream_waits_for_the_end_of_a_run_where_a_byte_has_two_tokens(name):
    tokenizer = JsonTokenizer(
        "characters",
        ((b"a", b"b"),),
        more=(name.encode(),),
        normalizers=(replace(" ", "▁"),),
        byte_fallback=True,
        decoder="llama",
    ).open()
    by_name = {tokenizer.token_name(i): i for i in range(tokenizer.vocab_size)}
    for first in (name, "<0x0A>"):
        ids = [by_name[first], by_name["<0xE3>"]]
        stream = TokenStream(tokenizer)
        assert "".join(map(stream.push, ids)) + stream.finish() == tokenizer.decode(ids)
