"""Seeds: a result says how it can be written again, and calls do not disturb each other."""

import copy
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import ticore
from tests.support.toy_models import ToyBatchModel, ToyTokenizer
from ticore.errors import SettingsError
from ticore.watermarking import Generator, greedy
from ticore.watermarking._randomness import Randomness, row_randoms

MODEL = ToyBatchModel(ToyTokenizer(["a", "b", "c", "ab", "bc", "abc", "ca"]), sharpness=1.0)
KEY = bytes(range(32))


def writers(seed=None):
    return [
        Generator(MODEL, seed=seed),
        ticore.Watermarker(MODEL, "left_hash", key=KEY, seed=seed),
        ticore.Watermarker(MODEL, "gumbel", key=KEY, seed=seed),
    ]


@pytest.mark.parametrize("writer", range(3))
def test_result_seed_writes_the_text_again_when_the_writer_has_none(writer):
    one, other = writers()[writer], writers()[writer]
    texts = [one.generate("ab", max_new_tokens=30) for _ in range(3)]
    assert len({text.seed for text in texts}) == 3
    for text in texts:
        assert other.generate("ab", max_new_tokens=30, seed=text.seed).ids == text.ids
        assert "".join(other.stream("ab", max_new_tokens=30, seed=text.seed)) == text.text
    batch = one.generate_batch(["ab", "c"], max_new_tokens=30)
    again = other.generate_batch(["ab", "c"], max_new_tokens=30, seed=batch[0].seed)
    assert [text.ids for text in batch] == [text.ids for text in again]
    assert batch[0].seed == batch[1].seed


@pytest.mark.parametrize("writer", range(3))
def test_seed_of_a_writer_gives_the_first_text_and_then_a_series(writer):
    one, other = writers(seed=5)[writer], writers(seed=5)[writer]
    first, second = (one.generate("ab", max_new_tokens=20) for _ in range(2))
    assert first.seed == 5 != second.seed
    assert first.ids != second.ids
    assert [other.generate("ab", max_new_tokens=20).ids for _ in range(2)] == [
        first.ids,
        second.ids,
    ]
    # A seed of the call takes none of the series' numbers.
    assert one.generate("ab", max_new_tokens=20, seed=5).ids == first.ids
    assert one.generate("ab", max_new_tokens=20).ids == other.generate("ab", max_new_tokens=20).ids


@pytest.mark.parametrize("writer", range(3))
def test_result_seed_writes_the_text_again_when_calls_with_a_seed_are_interleaved(writer):
    one, other, fresh = (writers(seed=5)[writer] for _ in range(3))
    streams = [one.stream("ab", max_new_tokens=20) for _ in range(2)]
    third = one.generate("ab", max_new_tokens=20)
    for _ in zip(*streams, strict=False):
        pass
    texts = [*(stream.run() for stream in streams), third]
    assert texts[0].seed == 5
    assert len({text.ids for text in texts}) == len({text.seed for text in texts}) == 3
    for text in texts:
        assert other.generate("ab", max_new_tokens=20, seed=text.seed).ids == text.ids
    # They are the texts of calls that wait for each other.
    assert [fresh.generate("ab", max_new_tokens=20).ids for _ in texts] == [
        text.ids for text in texts
    ]


@pytest.mark.parametrize("writer", range(3))
def test_result_seed_writes_a_later_batch_again(writer):
    one, other = writers(seed=5)[writer], writers()[writer]
    one.generate("ab", max_new_tokens=20)
    batch = one.generate_batch(["ab", "c"], max_new_tokens=20)
    again = other.generate_batch(["ab", "c"], max_new_tokens=20, seed=batch[1].seed)
    assert [text.ids for text in again] == [text.ids for text in batch]


def test_generator_refuses_a_seed_beside_a_sampler():
    for call in (
        lambda: Generator(MODEL, greedy, seed=1),
        lambda: Generator(MODEL, greedy).generate("a", seed=1),
        lambda: Generator(MODEL, greedy).generate_batch(["a"], seed=1),
        lambda: Generator(MODEL).generate_batch(["a"], samplers=lambda row: greedy, seed=1),
    ):
        with pytest.raises(SettingsError, match="seed: expected none beside a sampler"):
            call()
    assert Generator(MODEL, greedy).generate("a", max_new_tokens=3).seed is None


@pytest.mark.parametrize("seed", ["a", 1.5, -5, True, b"a"])
def test_randomness_refuses_a_seed_that_is_not_an_integer_of_at_least_0(seed):
    for make in (lambda: Randomness(seed), lambda: Randomness(None).of_call(seed)):
        with pytest.raises(SettingsError, match="seed: expected an integer of at least 0, or None"):
            make()


def test_randomness_is_pickled_in_the_middle_of_a_series():
    randomness = Randomness(3)
    draw, seed = randomness.of_call()
    assert (draw.random(), seed) == (random.Random(3).random(), 3)
    for again in (pickle.loads(pickle.dumps(randomness)), copy.deepcopy(randomness)):
        draw, seed = again.of_call()
        assert seed == 6414097473614163  # the same in all versions
        assert draw.random() == random.Random(seed).random()
    assert randomness.of_call()[1] == seed


def test_randomness_has_a_series_for_a_seed_of_thousands_of_digits():
    randomness = Randomness(10**5000)
    assert randomness.of_call()[1] == 10**5000 != randomness.of_call()[1]


def test_randomness_gives_each_call_a_seed_of_its_own_when_threads_share_it():
    shared, alone = Randomness(3), Randomness(3)
    with ThreadPoolExecutor(8) as pool:
        seeds = list(pool.map(lambda _: shared.of_call()[1], range(500)))
    assert sorted(seeds) == sorted(alone.of_call()[1] for _ in range(500))


def test_row_randoms_differ_by_row_and_by_batch():
    draw = random.Random(3)
    first, second = row_randoms(draw), row_randoms(draw)
    numbers = [randoms(row).random() for randoms in (first, second) for row in range(50)]
    assert len(set(numbers)) == 100
    assert [row_randoms(random.Random(3))(row).random() for row in range(50)] == numbers[:50]


@pytest.mark.slow
@pytest.mark.parametrize("writer", range(3))
def test_writers_give_right_texts_when_threads_share_them(writer):
    shared, alone = writers()[writer], writers()[writer]
    expected = [alone.generate("ab", max_new_tokens=30, seed=n).ids for n in range(24)]

    def write(n):
        return shared.generate("ab", max_new_tokens=30, seed=n).ids

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(24))) == expected
