"""Old spellings of the watermarking package still work, and warn."""

import pytest

import ticore
from tests.support.toy_models import ToyBatchModel, ToyTokenizer
from ticore import report, watermarking
from ticore.watermarking import Generator

MODEL = ToyBatchModel(ToyTokenizer(["a", "b", "c", "ab", "bc", "abc", "ca"]))
KEY = bytes(range(32))


@pytest.mark.parametrize(
    "make", [lambda: Generator(MODEL), lambda: ticore.Watermarker(MODEL, key=KEY)]
)
@pytest.mark.parametrize("arguments", [((9,), {}), ((), {"tokens": 9})])
def test_writers_take_max_new_tokens_by_its_old_spellings_with_a_warning(make, arguments):
    writer, (positional, named) = make(), arguments
    for call, prompt in (
        (writer.generate, "ab"),
        (writer.generate_batch, ["ab"]),
        (writer.stream, "ab"),
    ):
        with pytest.warns(DeprecationWarning, match="max_new_tokens="):
            found = call(prompt, *positional, **named)
        if call == writer.stream:
            found = found.run()
        assert len((found[0] if isinstance(found, list) else found).ids) == 9


def test_writers_refuse_tokens_beside_max_new_tokens():
    with pytest.raises(TypeError, match="expected max_new_tokens= alone"):
        Generator(MODEL).generate("ab", tokens=3, max_new_tokens=3)


def test_consistent_generate_takes_old_spellings_with_a_warning():
    expected = ticore.consistent_generate(MODEL, "ab", max_new_tokens=9, seed=1)
    with pytest.warns(DeprecationWarning, match="max_new_tokens="):
        old = ticore.consistent_generate(MODEL, "ab", None, 9, 2, seed=1)
    assert old.ids == expected.ids
    with pytest.warns(DeprecationWarning, match="max_new_tokens="):
        old = ticore.consistent_generate(MODEL, "ab", tokens=9, seed=1)
    assert old.ids == expected.ids
    with pytest.warns(DeprecationWarning, match="max_new_tokens="):
        (first,) = ticore.consistent_generate_batch(MODEL, ["ab"], tokens=9, seed=1)
    (second,) = ticore.consistent_generate_batch(MODEL, ["ab"], max_new_tokens=9, seed=1)
    assert first.ids == second.ids


def test_generator_start_warns_and_streams():
    with pytest.warns(DeprecationWarning, match=r"use Generator\.stream"):
        stream = Generator(MODEL, seed=1).start("ab", 9)
    assert stream.run().ids == Generator(MODEL, seed=1).generate("ab", max_new_tokens=9).ids


def test_watermarking_gives_marked_with_a_warning():
    with pytest.warns(DeprecationWarning, match="watermarked_sampler"):
        assert watermarking.marked is watermarking.watermarked_sampler


def test_report_gives_search_with_a_warning():
    with pytest.warns(DeprecationWarning, match="DetectionTarget"):
        target = report.Search("gumbel", "tiny-en", 1e-5, 2)
    assert target.named == "gumbel, version 2"
