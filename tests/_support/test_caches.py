"""What is cached, what is made again, and what several threads get."""

import gc
import time
from collections import Counter
from random import Random
from threading import Barrier
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.threads import THREADS, run_together
from ticore._support.caches import BoundedCache, TextTable, cached_method


def second_chance(keys, size):
    """For each use of a key what is held after it, by the words of the docstring."""
    queue, used = [], set()
    for key in keys:
        if key in queue:
            used.add(key)
        else:
            queue.append(key)
            while len(queue) > size:
                oldest = queue.pop(0)
                if oldest in used or oldest == key:
                    used.discard(oldest)
                    queue.append(oldest)
        yield set(queue)


@pytest.mark.slow
@given(keys=st.lists(st.integers(0, 5)), size=st.integers(1, 4))
def test_bounded_cache_gives_used_values_a_second_chance(keys, size):
    cache, held = BoundedCache(size), set()
    for key, held_after in zip(keys, second_chance(keys, size), strict=True):
        made = []
        assert (key in cache) == (key in held)
        assert cache.get(key, lambda key=key, made=made: made.append(key) or -key) == -key
        assert made == ([] if key in held else [key])
        held = held_after
        assert {other for other in range(6) if other in cache} == held
        assert len(cache) == len(held) <= size


def test_bounded_cache_drops_the_value_that_was_not_used():
    cache = BoundedCache(3)
    for key in "abc":
        cache.get(key, str)
    assert cache.peek("a") == ""
    cache.get("d", str)
    assert [key for key in "abcd" if key in cache] == ["a", "c", "d"]


def test_bounded_cache_holds_none_as_a_value():
    cache = BoundedCache(1)
    cache.get("key", lambda: None)
    assert cache.get("key", lambda: 1) is None


def test_bounded_cache_holds_nothing_when_the_maker_raises():
    cache = BoundedCache(1)
    cache.get("old", lambda: 1)
    with pytest.raises(ZeroDivisionError):
        cache.get("new", lambda: 1 // 0)
    assert cache.get("old", lambda: 2) == 1
    assert cache.get("new", lambda: 3) == 3


def test_bounded_cache_drops_the_chosen_keys():
    cache = BoundedCache(4)
    for key in range(4):
        cache.get(key, lambda key=key: -key)
    cache.drop(lambda key: key % 2 == 0)
    assert [cache.peek(key) for key in range(4)] == [None, -1, None, -3]


def test_bounded_cache_gives_one_value_when_threads_make_it_together():
    cache, makers = BoundedCache(4), Barrier(THREADS)

    def make():
        makers.wait(timeout=60)  # until all threads make it
        return object()

    assert len(set(run_together(lambda n: cache.get("key", make)))) == 1


def test_bounded_cache_makes_a_value_once_when_threads_ask_together():
    cache, made = BoundedCache(4), []

    def slow():
        made.append(None)
        time.sleep(0.05)
        return object()

    assert len(set(run_together(lambda n: cache.get_once("key", slow)))) == 1
    assert len(made) == 1


def test_bounded_cache_makes_values_side_by_side_when_threads_ask_for_different_keys():
    """Each maker waits for all the others: one after the other they would never end."""
    cache, makers = BoundedCache(THREADS), Barrier(THREADS)
    found = run_together(lambda n: cache.get_once(n, lambda: makers.wait(timeout=60) >= 0))
    assert found == [True] * THREADS


def test_bounded_cache_lets_a_waiting_thread_make_the_value_when_the_first_one_raises():
    cache, failures = BoundedCache(4), iter([True])

    def fails_first():
        time.sleep(0.01)
        if next(failures, False):
            raise ZeroDivisionError
        return "made"

    def ask(n):
        try:
            return cache.get_once("key", fails_first)
        except ZeroDivisionError:
            return "raised"

    assert Counter(run_together(ask)) == {"made": THREADS - 1, "raised": 1}


class Key:
    """A key whose comparison runs Python code, so that threads can be switched in it."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number % 3

    def __eq__(self, other):
        return self.number == other.number


@pytest.mark.parametrize("size", [1, 2, 5])
def test_bounded_cache_answers_rightly_when_threads_push_values_out(size):
    cache = BoundedCache(size)

    def work(n):
        draw, wrong = Random(n), 0
        for _ in range(2000):
            number = draw.randrange(8)
            key = Key(number)
            wrong += cache.get(key, lambda number=number: -number) != -number
            wrong += cache.peek(key) not in (-number, None)
            if number == 7:
                cache.drop(lambda key: key.number == 3)
        return wrong

    assert run_together(work) == [0] * THREADS


class Words:
    """What the tests of cached methods ask."""

    def __init__(self, end):
        self.end = end
        self.asked = []
        self.table = TextTable(self.upper)

    @cached_method(2)
    def with_end(self, word):
        """The word and the end."""
        self.asked.append(word)
        return word + self.end

    def upper(self, code):
        self.asked.append(code)
        return chr(code).upper()


class Names(Words):
    @cached_method(8)
    def with_end(self, word):
        return "Mx " + super().with_end(word)


def test_cached_method_computes_a_result_once_for_each_object():
    a, b = Words("!"), Words("?")
    assert [a.with_end("x"), a.with_end("x"), b.with_end("x")] == ["x!", "x!", "x?"]
    assert (a.asked, b.asked) == (["x"], ["x"])


def test_cached_method_drops_the_result_not_used_for_longest():
    words = Words("")
    for word in "abacab":
        words.with_end(word)
    assert words.asked == ["a", "b", "c", "b"]


def test_cached_method_is_overridden_when_a_subclass_has_its_own():
    names, words = Names("."), Words(".")
    assert [names.with_end("a"), words.with_end("a"), names.with_end("a")] == [
        "Mx a.",
        "a.",
        "Mx a.",
    ]
    assert names.asked == ["a"]


def test_cached_method_shows_its_docstring_on_the_class():
    assert Words.with_end.__doc__ == "The word and the end."


def test_cached_method_lets_its_object_be_deleted_at_once():
    """No cycle: the object goes without the garbage collector."""
    words = Words("!")
    words.with_end("a")
    words.table[97]
    gone = ref(words)
    gc.disable()
    try:
        del words
        assert gone() is None
    finally:
        gc.enable()


def test_cached_method_says_what_to_do_when_its_object_is_deleted():
    with_end = Words("!").with_end
    with pytest.raises(ReferenceError, match="hold the object as well"):
        with_end("a")


def test_cached_method_answers_rightly_when_threads_ask_together():
    words = Words("!")
    found = run_together(lambda n: [words.with_end(word) for word in "abcab" * 200])
    assert found == [["a!", "b!", "c!", "a!", "b!"] * 200] * THREADS


def test_text_table_finds_each_text_once():
    words = Words("")
    assert [words.table[97], words.table[98], words.table[97]] == ["A", "B", "A"]
    assert "aab".translate(words.table) == "AAB"
    assert words.asked == [97, 98]
