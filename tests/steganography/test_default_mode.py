"""The mode of new messages, and texts that were written when another one was the default."""

import pickle

import pytest

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Agreement, Steganographer, load_model
from ticore.errors import ExtractionError

KEY = bytes(range(32))
MODEL = ToyModel(ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"]))


def steganographer(**settings):
    return Steganographer(MODEL, key=KEY, prompt="ab", **settings)


@pytest.mark.parametrize(
    ("disambiguation", "mode"),
    [("stepwise", "viable"), ("syncpool", "prefix"), ("mwis", "prefix"), ("search", "prefix")],
)
def test_default_mode_drops_the_fewest_candidates_where_a_disambiguation_verifies(
    disambiguation, mode
):
    assert steganographer(disambiguation=disambiguation).agreement.mode == mode


def test_text_in_the_former_default_mode_is_read_where_no_mode_was_asked_for():
    text = steganographer(mode="prefix").embed(b"noon").text
    reader = steganographer()
    assert reader.extract(text) == b"noon"
    assert reader.extract_pasted("\ufeff" + text).message == b"noon"
    assert pickle.loads(pickle.dumps(reader)).extract(text) == b"noon"
    assert reader.with_prompt("ab").extract(text) == b"noon"


def test_batch_in_the_former_default_mode_is_read():
    settings = {"key": KEY, "prompt": "One day", "numerics": "portable"}
    model = load_model("tiny-en")
    text = Steganographer(model, mode="prefix", **settings).embed(b"noon").text
    reader = Steganographer(model, **settings)
    assert reader.extract_batch([text, text]) == [b"noon", b"noon"]


def test_parts_in_the_former_default_mode_are_read():
    written = steganographer(mode="prefix").embed_parts(bytes(range(40)), part_size=20)
    assert len(written) > 1
    assert steganographer().extract_parts(written) == bytes(range(40))


def test_agreement_keeps_its_mode():
    text = steganographer(mode="prefix").embed(b"noon").text
    for mode, is_read in (("viable", False), ("prefix", True)):
        agreement = Agreement.loads(steganographer(mode=mode).agreement.dumps())
        assert agreement.mode == mode
        reader = Steganographer.from_agreement(agreement, model=MODEL, key=KEY)
        if is_read:
            assert reader.extract(text) == b"noon"
        else:
            with pytest.raises(ExtractionError):
                reader.extract(text)


def test_error_of_a_text_without_a_message_is_that_of_the_default_mode():
    text = steganographer().embed(b"noon").text
    other = Steganographer(MODEL, key=bytes(32), prompt="ab")
    with pytest.raises(ExtractionError) as found:
        other.extract(text)
    with pytest.raises(ExtractionError) as expected:
        Steganographer(MODEL, key=bytes(32), prompt="ab", mode="viable").extract(text)
    assert type(found.value) is type(expected.value)
