"""A stream of tokens against the decoding of the whole."""

import random

import pytest

import ticore
from tests.support.tokenizers import FRAGMENTS, TRAINED
from ticore.consistency import TokenStream


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
