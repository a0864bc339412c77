"""The causes of drift: the cases that trainers published, and one of each cause."""

import random

import pytest

from tests.support.tokenizer_contract import any_ids
from tests.support.tokenizers import REAL, TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import compare, compare_batch
from ticore.consistency._causes import ADVICE, CAUSES
from ticore.errors import SettingsError, TicoreError
from ticore.testing import assert_no_drift


@pytest.fixture(scope="module")
def qwen():
    return REAL["qwen2.5"]()


def chat(tokenizer, *turns, end="<|im_end|>"):
    return tokenizer.encode("".join(f"<|im_start|>{turn}{end}" for turn in turns))


def test_published_cases_have_their_causes(qwen):
    def cause(ids, reread=None):
        return compare(qwen, ids, reread=reread).cause

    encode = qwen.encode
    # Two line ends that were sampled one by one (prime-rl).
    found = compare(qwen, [198, 198])
    assert (found.again, found.cause) == ((271,), "bpe")
    # A line end between two turns that the template writes and the engine does not (verl).
    sampled = encode("<|im_start|>user\nHi<|im_end|><|im_start|>assistant\nHello<|im_end|>")
    written = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>"
    found = compare(qwen, sampled, reread=written)
    assert (found.cause, found.first.again[0], found.cits) == ("template", 198, (5,))
    # Another end token, and a rollout that was cut off before its end token.
    assert cause(encode("ab<|endoftext|>"), encode("ab<|im_end|>")) == "special token"
    assert cause(encode("ab"), encode("ab<|im_end|>")) == "special token"
    # A template that drops thinking from earlier turns.
    thought = encode("<|im_start|>assistant\n<think>\nhm\n</think>\n\nYes<|im_end|>")
    assert cause(thought, "<|im_start|>assistant\nYes<|im_end|>") == "template"
    # A tool call that is written again with other spacing.
    call = encode('<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>')
    assert cause(call, '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>') == (
        "template"
    )
    # White space at the end of a turn.
    assert cause(encode("Yes. \n<|im_end|>"), "Yes.<|im_end|>") == "strip"


def test_each_cause_is_found_where_the_tokenizer_itself_reads_other_ids(qwen):
    ids = {qwen.token_bytes(i): i for i in range(qwen.vocab_size)}
    name = [i for part in ("<", "|", "im", "_end", "|", ">") for i in qwen.encode(part)]
    accent = [ids[bytes([byte])] for byte in "\u0301".encode()]
    cases = {
        "special token": [*qwen.encode("a "), *name],
        "normalizer": [*qwen.encode("caf"), *qwen.encode("e"), *accent],
        "unfinished character": [*qwen.encode("a b"), ids[b"\xe3"]],
        "bpe": [*qwen.encode("a b"), ids[b" c"], ids[b"old"]],
    }
    for cause, some in cases.items():
        found = compare(qwen, some)
        assert (found.cause, found.consistent) == (cause, False), some
        assert found.first.ids == tuple(some[found.first.at :][: len(found.first.ids)])


def test_a_token_over_a_split_is_the_pretokenizers():
    """GPT-2 splits a row of line ends before a letter."""
    tokenizer = TRAINED["hf-gpt2"]()
    (ends,), letter = tokenizer.encode("\n\n"), tokenizer.encode("b")
    found = compare(tokenizer, [ends, *letter])
    assert (found.cause, found.first.ids) == ("pretokenizer", (ends,))
    assert found.first.again == (*tokenizer.encode("\n"), *tokenizer.encode("\n"))


def test_ids_that_a_receiver_does_without_are_named():
    chat = ToyTokenizer(["", "a", "b", "ab", "<s>", "<unk>"], special=(4, 5))
    chat.unknown_ids = frozenset({5})
    assert compare(chat, [4, 3], specials="refuse").cause == "special token"
    assert compare(chat, [3, 5, 1]).cause == "normalizer"  # its text is lost
    assert compare(chat, [4, 3, 4]).cause is None


def test_a_batch_gives_what_compare_gives():
    """Any ids, in all kinds of tokenizers; a list with wrong ids has its error."""
    for name, opened in sorted(TRAINED.items()):
        tokenizer, draw = opened(), random.Random(name)
        lists = [any_ids(tokenizer, [draw.randrange(1 << 16) for _ in range(n)]) for n in range(9)]
        lists += [tokenizer.encode("a fox, 日本 12"), []]
        rereads = [None, *(draw.choice((None, some)) for some in lists[1:])]
        expected = [
            compare(tokenizer, ids, reread=again) for ids, again in zip(lists, rereads, strict=True)
        ]
        assert compare_batch(tokenizer, lists, rereads=rereads) == expected
        for one in expected:
            assert (one.cause is None) == one.consistent
            if one.first is not None:
                assert one.first.cause in CAUSES
                assert ADVICE[one.first.cause] == one.first.advice
                at = one.first.at
                assert one.ids[:at] == one.again[:at]
                assert one.ids[at : at + 1] != one.again[at : at + 1]
        mixed = compare_batch(tokenizer, [lists[3], [tokenizer.vocab_size], [1.5]])
        assert mixed[0] == compare(tokenizer, lists[3])
        assert all(isinstance(found, TicoreError) for found in mixed[1:])


def test_lists_of_other_texts_differ_where_their_ids_do():
    toy = ToyTokenizer(["", "a", "b", "ab", "c"])
    found = compare(toy, [1, 4, 2], reread=[1, 2])
    assert (found.sits, found.cits, found.text) == ((1,), (), "acb")
    assert found.rate == 1 / 5
    same = compare(toy, [1, 2, 4], reread=[3, 4])
    assert (same.sits, same.cits, same.again) == ((0, 1), (0,), (3, 4))
    assert compare(toy, [1, 4], reread="ac").consistent
    for rereads in ([[1]], []):
        with pytest.raises(SettingsError, match="rereads: expected one for each of 2 lists"):
            compare_batch(toy, [[1], [2]], rereads=rereads)
    assert compare_batch(toy, [], rereads=[]) == []


BETWEEN = " and then they walked on along the river for a while, until it was dark."


@pytest.mark.parametrize(
    ("text", "other", "cause"),
    [
        ("cafe\u0301", "caf\u00e9", "normalizer"),
        ("<think>Hm.</think>Yes.", "Yes.", "template"),
        ("\n\nYes.", "Yes.", "strip"),
        ("Yes.", "\n\nYes.", "template"),
        ("Yes,  he said.", "Yes, he said.", "template"),
    ],
)
@pytest.mark.parametrize("later", [("", ""), (" Yes.", " No."), ("\n", ""), ("\ufb01", "fi")])
def test_the_first_difference_is_told_by_itself_whatever_differs_later(text, other, cause, later):
    tokenizer = TRAINED["hf-gpt2"]()
    alone = compare(
        tokenizer,
        tokenizer.encode(text + BETWEEN),
        reread=tokenizer.encode(other + BETWEEN),
    )
    both = compare(
        tokenizer,
        tokenizer.encode(text + BETWEEN + later[0]),
        reread=tokenizer.encode(other + BETWEEN + later[1]),
    )
    assert alone.cause == cause
    assert both.first == alone.first


@pytest.mark.parametrize("between", [1900, 2100, 20000])
def test_ids_that_differ_are_counted_however_far_apart_they_are(between):
    toy = ToyTokenizer(["", *"abcdefghij"])
    same = random.Random(1).choices(range(1, 9), k=between)
    found = compare(toy, [9, *same, 9], reread=[10, 10, *same, 10])
    assert (found.sits, found.cits) == ((0, between + 1), (0, 1, between + 2))


def test_the_assertion_shows_the_difference_and_what_to_do():
    toy = ToyTokenizer(["", "a", "b", "ab", "c"])
    assert_no_drift(toy, [3, 4])
    assert_no_drift(toy, [1, 2], reread=[1, 2])
    with pytest.raises(AssertionError) as failure:
        assert_no_drift(toy, [4, 1, 2])
    said = str(failure.value)
    for part in ("at token  1, character 1", "'ab'  [1, 2]", "'ab'  [3]", "cause     bpe", "carry"):
        assert part in said


def test_the_first_difference_counts_characters_of_the_compared_text():
    tokenizer = TRAINED["hf-gpt2"]()
    letters = [i for c in "the" for i in tokenizer.encode(c)]
    special, user = min(tokenizer.special_ids), tokenizer.encode("user\n")
    for before, specials in (
        (tokenizer.encode("ab\ufffd"), "gaps"),
        ([special, *user, special], "text"),
        ([special, *user, special], "gaps"),
    ):
        found = compare(tokenizer, [*before, *letters], specials=specials)
        assert found.first.at == len(before)
        assert found.text[found.first.character :] == "the"


def test_thousands_of_malformed_bytes_have_a_cause():
    tokenizer = TRAINED["hf-gpt2"]()
    lone = next(i for i in range(tokenizer.vocab_size) if tokenizer.token_bytes(i) == b"\xff")
    ids = [*[lone] * 3000, *tokenizer.encode("abc xyz")]
    again = [*[lone] * 3000, *tokenizer.encode("other words")]
    assert compare(tokenizer, ids, reread=again).first.at == 3000
