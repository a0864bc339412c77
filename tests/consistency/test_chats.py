"""Chats in the ids of real tokenizers, as their templates write them, against the library."""

from functools import cache, partial

import pytest

from tests.support.tokenizers import DATA, REAL
from ticore.consistency import Verifier, compare
from ticore.consistency._boundaries import special_name
from ticore_tokenizers import HuggingFaceTokenizer

SYSTEM = "You are a helpful assistant."
USER = "What's 2+2? Answer in naïve 日本語, please."
ANSWER = "四です。\n\nIt's **four**, obviously."

CHATML = (
    f"<|im_start|>system\n{SYSTEM}<|im_end|>\n"
    f"<|im_start|>user\n{USER}<|im_end|>\n"
    f"<|im_start|>assistant\n{ANSWER}<|im_end|>\n"
)
LLAMA_3 = "<|begin_of_text|>" + "".join(
    f"<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>"
    for role, text in (("system", SYSTEM), ("user", USER), ("assistant", ANSWER))
)
DEEPSEEK = (
    f"<｜begin▁of▁sentence｜>{SYSTEM}<｜User｜>{USER}<｜Assistant｜>{ANSWER}<｜end▁of▁sentence｜>"
)
LLAMA_2 = f"<s>[INST] {USER} [/INST] {ANSWER} </s><s>[INST] {USER} [/INST] {ANSWER} </s>"
DOCUMENTS = f"{SYSTEM}<|endoftext|>{USER}<|endoftext|>{ANSWER}<|endoftext|>"


def from_file(name):
    if not (DATA / "tokenizers" / name).exists():
        pytest.skip(f"{name} is absent; TICORE_DATA names the folder that holds tokenizers/")
    return HuggingFaceTokenizer.from_file(DATA / "tokenizers" / name)


CHATS = {
    "qwen2.5": (REAL["qwen2.5"], CHATML),
    "smollm2": (cache(partial(from_file, "smollm2/tokenizer.json")), CHATML),
    "llama-3-json": (REAL["llama-3-json"], LLAMA_3),
    "deepseek-v3": (cache(partial(from_file, "deepseek-v3/tokenizer.json")), DEEPSEEK),
    "llama-2-json": (REAL["llama-2-json"], LLAMA_2),
    "gpt2": (REAL["gpt2"], DOCUMENTS),
}

each_chat = pytest.mark.parametrize("name", CHATS)


def opened(name):
    """A tokenizer, and the ids that its library gives for a chat of three turns."""
    open_, text = CHATS[name]
    tokenizer = open_()
    library = tokenizer._library
    ids = library.encode(text, add_special_tokens=False).ids
    again = library.decode(ids, skip_special_tokens=False)
    # Byte-level libraries give the very chat back.
    assert name == "llama-2-json" or library.encode(again, add_special_tokens=False).ids == ids
    return tokenizer, ids


@pytest.mark.slow
@each_chat
def test_compare_finds_a_chat_consistent(name):
    tokenizer, ids = opened(name)
    found = compare(tokenizer, ids)
    assert found.consistent
    assert found.sits == found.cits == ()
    assert [ids[n] for n in found.specials] == [i for i in ids if i in tokenizer.special_ids]
    assert len(found.specials) >= 3 - (name == "deepseek-v3")
    assert special_name(tokenizer, ids[found.specials[-1]]) in CHATS[name][1]


@pytest.mark.slow
@each_chat
def test_a_chat_that_is_written_out_is_read_like_the_library(name):
    tokenizer, ids = opened(name)
    library = tokenizer._library
    written = library.decode(ids, skip_special_tokens=False)
    found = compare(tokenizer, ids, specials="text")
    assert found.text == written
    assert list(found.again) == library.encode(written, add_special_tokens=False).ids
    assert found.consistent == (name != "llama-2-json")
    assert Verifier(tokenizer, specials="text").start(ids).consistent == found.consistent


@pytest.mark.slow
@each_chat
def test_compare_finds_a_split_token_at_its_place_in_a_chat(name):
    """ " assistant" or the like, in two: nowhere else is anything said to be wrong."""
    tokenizer, ids = opened(name)
    spelled = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size) if i}
    place, left, right = next(
        (n, spelled[data[:2]], spelled[data[2:]])
        for n, token in enumerate(ids)
        if n > len(ids) // 2
        and (data := tokenizer.token_bytes(token)).strip().isalpha()
        and len(data) > 4
        and data[:2] in spelled
        and data[2:] in spelled
    )
    found = compare(tokenizer, [*ids[:place], left, right, *ids[place + 1 :]])
    assert found.again == tuple(ids)
    assert found.sits == (place, place + 1)
    assert found.cits == (place,)
    start, end = found.spans_again[place]
    assert found.text.encode()[start:end] == tokenizer.token_bytes(ids[place])
    assert len(found.specials) == len(found.specials_again)


@pytest.mark.slow
def test_verification_follows_a_chat_across_special_tokens():
    tokenizer, ids = opened("gpt2")
    text = Verifier(tokenizer).start(ids[:2])
    for n, token in enumerate(ids[2:], start=3):
        text.push(token)
        assert text.consistent == compare(tokenizer, ids[:n]).consistent
        assert text.admissible == text.consistent
        assert not text.unrecoverable
    assert text.consistent
    assert not text.mask()[sorted(tokenizer.special_ids)].any()
    text.rewind(len(ids) - 2)
    assert text.ids == tuple(ids[:2])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-2", "swallow"])
def test_verifier_finds_prompts_of_sentencepiece_models_consistent(name):
    """`<s>` and then encode(text), as their authors' own code gives each turn."""
    tokenizer = REAL[name]()
    begin, end = 1, 2
    turns = [f"[INST] {USER} [/INST] {ANSWER} ", f"[INST] {SYSTEM} [/INST]"]
    ids = [i for turn in turns for i in (begin, *tokenizer.encode(turn), end)]
    for some in (ids, ids[:-1], [begin], [*ids, begin, end]):
        found = compare(tokenizer, some)
        assert found.consistent
        assert found.sits == ()
        assert Verifier(tokenizer).start(some).consistent
    assert [special_name(tokenizer, ids[n]) for n in compare(tokenizer, ids).specials] == (
        ["<s>", "</s>"] * 2
    )


@pytest.mark.slow
def test_special_token_that_text_spells_is_not_a_boundary():
    """Ordinary tokens that spell one come back as that one, which is found."""
    tokenizer, ids = opened("qwen2.5")
    lone = [i for part in ("<|", "im_end", "|>") for i in tokenizer.encode(part)]
    at = ids.index(tokenizer.encode(" helpful")[0])
    found = compare(tokenizer, [*ids[:at], *lone, *ids[at:]])
    assert not found.consistent
    assert found.sits == tuple(range(at, at + len(lone)))
    assert found.cits == (at,)
    assert special_name(tokenizer, found.again[at]) == "<|im_end|>"
    assert len(found.specials) == len(found.specials_again) == 6
