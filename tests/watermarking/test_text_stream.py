"""A stream gives the text of `generate`, piece by piece, and takes no piece back."""

import gc
import itertools
import json
import weakref
from collections import Counter
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tiny_models import tiny_model
from tests.support.toy_models import ToyBrackets, ToyModel, ToyTokenizer
from ticore.watermarking import ChangeKind, Generator, TextStream

TOYS = ["a", "b", "c", "ab", "bc", "abc", "ca", "<end>"]
# Nothing may follow a "z"; what follows a "<" is mended by a ">".
HARD = [["a", "z", "za", "zz"], ["z", "zz", "z<", "z>", "z?", "<", ">", "?"], TOYS[:-1]]


def some_tokens(most):
    return st.lists(st.integers(0, 4095), max_size=most)


class Written:
    """Stands in for the loop of a text whose tokens are known."""

    def __init__(self, ids):
        self._left = list(ids)[::-1]
        self.committed = []

    def settled_after(self, count):
        assert count == len(self.committed)
        self.committed += [self._left.pop()] if self._left else []
        return tuple(self.committed[count:])


@pytest.fixture(scope="module")
def model():
    return tiny_model()


def generator(pieces, seed, **settings):
    return Generator(ToyModel(ToyBrackets(pieces), seed=seed), seed=seed, **settings)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    pieces=st.sampled_from(HARD),
    seed=st.integers(0, 99),
    max_new_tokens=st.integers(0, 40),
    observation=st.sampled_from([None, 0, 2, 5]),
    view=st.sampled_from(["continuation", "whole"]),
)
def test_stream_gives_the_text_of_generate(pieces, seed, max_new_tokens, observation, view):
    how = {"observation": observation, "view": view}
    expected = generator(pieces, seed, **how).generate(pieces[0], max_new_tokens=max_new_tokens)
    stream = generator(pieces, seed, **how).stream(pieces[0], max_new_tokens=max_new_tokens)
    assert "".join(stream) == expected.text
    result = stream.result()
    assert (result.ids, result.end, result.seed) == (expected.ids, expected.end, seed)
    assert result.backtracks == expected.backtracks


@pytest.mark.parametrize("view", ["continuation", "whole"])
def test_pieces_take_time_by_their_own_length(model, view, monkeypatch):
    decoded = []
    decode = type(model.tokenizer).decode

    def counted(tokenizer, ids):
        decoded.append(len(ids))
        return decode(tokenizer, ids)

    stream = Generator(model, view=view, seed=1).stream("It was late.", max_new_tokens=120)
    with monkeypatch.context() as patch:
        patch.setattr(type(model.tokenizer), "decode", counted)
        pieces = list(stream)
    assert len(pieces) > 50
    assert sum(decoded) < 10 * len(pieces)
    assert "".join(pieces) == stream.result().text


@pytest.mark.parametrize("view", ["continuation", "whole"])
@given(ids=some_tokens(12), prompt=some_tokens(4))
@settings(max_examples=200)
def test_pieces_are_the_text_whatever_the_tokens_are(model, view, ids, prompt):
    """Also where the prompt or a token ends inside a character."""
    loop = Written(ids)
    stream = TextStream(model.tokenizer, view, "gaps", prompt, loop, fills_context=False)
    pieces = list(stream)
    whole = model.tokenizer.decode([*prompt, *ids])
    expected = whole[len(model.tokenizer.decode(prompt)) :]
    assert "".join(pieces) == (model.tokenizer.decode(ids) if view == "continuation" else expected)


def test_stream_gives_pieces_before_the_end_when_there_are_dead_ends():
    """Some texts are taken back after pieces of them were given out, and these pieces stay."""
    backtracked = 0
    for seed in range(40):
        stream = generator(HARD[0], seed).stream("a", max_new_tokens=40)
        given, early = "", 0
        for piece in stream:
            given += piece
            early += stream.rollback.end is None
        assert given == stream.result().text
        backtracked += stream.rollback.backtracks > 0 and early > 0
    assert backtracked > 5


def test_rollback_settled_never_falls_and_never_counts_what_is_taken_back():
    for seed in range(40):
        rollback = generator(HARD[0], seed).stream("a", max_new_tokens=40).rollback
        settled = []
        while rollback.end is None:
            rollback.step()
            assert rollback.settled >= len(settled)
            assert rollback.committed[: len(settled)] == settled
            settled = rollback.committed[: rollback.settled]
        assert settled == rollback.committed


def replayed(changes):
    """What a reader of the changes knows: the tokens that stay, and how often each kind came."""
    committed, pending, counts = [], [], Counter()
    for change in changes:
        tokens = list(change.tokens)
        assert tokens
        counts[change.kind] += 1
        if change.kind == "sampled":
            pending += tokens
        elif change.kind == "backtracked":
            assert (pending, committed[-len(tokens) :]) == ([], tokens)
            del committed[-len(tokens) :]
        else:
            assert tokens == pending
            pending = []
        if change.kind == "committed":
            counts["mended"] += len(tokens) > 1
            committed += tokens
    return committed, pending, counts


def test_changes_are_all_that_happens_to_the_text():
    total = Counter()
    for pieces, seed in itertools.product(HARD, range(12)):
        observation = (None, 0, 2, 5)[seed % 4]
        stream = generator(pieces, seed, observation=observation).stream(
            pieces[0], max_new_tokens=30
        )
        committed, pending, counts = replayed(stream.changes())
        result = stream.result()
        assert (tuple(committed), pending) == (result.ids, [])
        found = counts["dropped"], counts["mended"], counts["backtracked"]
        assert found == (result.rollbacks, result.temporary, result.backtracks)
        assert stream.rollback.step() == []  # after the end
        total += counts
    assert min(total[kind] for kind in (*get_args(ChangeKind), "mended")) > 5


def test_changes_of_exact_rollback_drop_whole_texts():
    model, total = ToyModel(ToyBrackets(["a", "b", "ab", "."], special={3}), eos_ids={3}), 0
    for seed in range(6):
        stream = Generator(model, rollback="exact", seed=seed).stream("", max_new_tokens=6)
        committed, pending, counts = replayed(stream.changes())
        assert (tuple(committed), pending) == (stream.result().ids, [])
        assert counts["dropped"] == stream.rollback.rollbacks
        total += counts["dropped"]
    assert total > 0


@pytest.mark.slow
@pytest.mark.parametrize("view", ["continuation", "whole"])
def test_each_piece_is_given_out_once(view):
    expected = generator(TOYS, 3, view=view).generate("ab", max_new_tokens=40).text
    for taken in range(4):
        stream = generator(TOYS, 3, view=view).stream("ab", max_new_tokens=40)
        first = list(itertools.islice(stream, taken))
        assert "".join(first) + "".join(stream) == expected
        assert list(stream) == []


def test_pieces_and_changes_are_not_lost_where_a_caller_stops_or_fails():
    def passed_on(parts):
        yield from parts  # when it is closed, it closes what it iterates over

    class Failing(ToyModel):
        fails = False

        def start(self, prompt_ids):
            decoder = super().start(prompt_ids)
            logits = decoder.logits

            def unsteady():
                if Failing.fails:
                    Failing.fails = False
                    raise KeyboardInterrupt
                return logits()

            decoder.logits = unsteady
            return decoder

    writer = Generator(Failing(ToyBrackets(TOYS), seed=3), seed=3)
    expected = writer.generate("ab", max_new_tokens=40, seed=3).text
    stream = writer.stream("ab", max_new_tokens=40, seed=3)
    given = []
    for piece in passed_on(stream):
        given.append(piece)
        if len(given) == 2:
            break
    Failing.fails = True
    with pytest.raises(KeyboardInterrupt):
        given += stream
    assert stream.result().end == "stopped"
    given += itertools.islice(stream, 1)
    assert "".join([*given, *stream]) == expected

    of_all = list(writer.stream("ab", max_new_tokens=40, seed=3).changes())
    stream, found = writer.stream("ab", max_new_tokens=40, seed=3), []
    while some := list(itertools.islice(stream.changes(), 1)):
        found += some
    assert found == of_all


def test_a_text_is_freed_without_the_garbage_collector():
    """It holds a decoder, and so the cache of what a model has read."""
    stream = generator(TOYS, 3).stream("ab", max_new_tokens=9)
    assert list(stream)
    held = weakref.ref(stream)
    gc.disable()
    try:
        del stream
        assert held() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("finish", [lambda s: s.run(), lambda s: list(s.changes())])
def test_a_text_that_was_run_to_its_end_still_has_its_pieces(finish):
    stream = generator(TOYS, 3).stream("ab", max_new_tokens=40)
    first = next(iter(stream))
    finish(stream)
    assert first + "".join(stream) == stream.result().text


@pytest.mark.parametrize("max_new_tokens", [40, 4000])
def test_a_stream_that_was_stopped_says_so(model, max_new_tokens):
    stream = Generator(model, seed=1).stream("The sea was calm", max_new_tokens=max_new_tokens)
    assert stream.result().end == "stopped"
    next(iter(stream))
    assert stream.result().end == "stopped"
    assert model.tokenizer.encode(stream.result().text) == list(stream.result().ids)


def test_stream_pieces_make_up_the_text():
    toy = ToyModel(ToyTokenizer(TOYS, special={7}), eos_ids={7})
    for model in (toy, tiny_model()):
        for seed in range(5):
            stream = Generator(model, seed=seed, observation=3).stream("ab", max_new_tokens=25)
            pieces = list(stream)
            assert "".join(pieces) == stream.result().text
    assert stream.result().end in ("length", "end of text")


def test_stream_shows_a_character_when_all_its_tokens_are_there(model):
    plan = model.tokenizer.encode("Well \U0001f642\U0001f642")
    assert len(plan) > 8  # its bytes
    chosen = iter(plan)
    stream = Generator(model, lambda ids, logits: next(chosen), observation=9).stream(
        "", max_new_tokens=len(plan)
    )
    pieces = list(stream)
    assert "".join(pieces) == stream.result().text == "Well \U0001f642\U0001f642"
    assert all("\ufffd" not in piece for piece in pieces)


def test_generated_is_its_text_as_a_str_and_plain_types_as_a_dict(model):

    written = Generator(model, seed=1).generate("It was late", max_new_tokens=8)
    assert str(written) == written.text
    values = json.loads(json.dumps(written.to_dict()))
    assert values["ids"] == list(written.ids)
    assert (values["text"], values["seed"]) == (written.text, 1)


def test_generated_undone_warns_and_gives_backtracks(model):
    written = Generator(model, seed=1).generate("It was late", max_new_tokens=2)
    with pytest.warns(DeprecationWarning, match="Generated.backtracks"):
        assert written.undone == written.backtracks
