"""Random tokenizers of the library `tokenizers` whose added tokens overlap, or hold one another."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.support.random_bpe import few_characters, split_up
from ticore.backend_kit import byte_alphabet
from ticore.consistency._engines import build, retokenizing
from ticore.consistency._tokenizer_rules.pretokenizers import CL100K
from ticore_tokenizers import HuggingFaceTokenizer

ALPHABETS = ("ab", "a ", "\n a", "a\t ", "<x>", "a1", "aé", "ab\n<", "aい", "あい", " い\n", "a.1")
_SINGLE = "ab <x>.1\n\téあい".encode()
_NAMES = {byte: name for name, byte in byte_alphabet().items()}


@dataclass(frozen=True)
class Added:
    """One added token; the fields are the library's."""

    text: str
    special: bool = False
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False

    def open(self) -> AddedToken:
        return AddedToken(
            self.text,
            single_word=self.single_word,
            lstrip=self.lstrip,
            rstrip=self.rstrip,
            normalized=self.normalized,
            special=self.special,
        )


@dataclass(frozen=True)
class Model:
    """A tokenizer.

    Args:
        kind: `gpt2` or `cl100k` for bytes after that expression, `marks` for characters of the
            whole text with a sign for spaces, as Gemma's.
        rules: pairs that merge, the first one first.
        added: its added tokens.
    """

    kind: str = "gpt2"
    rules: tuple[tuple[bytes, bytes], ...] = ()
    added: tuple[Added, ...] = ()

    def open(self) -> HuggingFaceTokenizer:
        library = self._marks() if self.kind == "marks" else self._bytes()
        for token in self.added:
            add = library.add_special_tokens if token.special else library.add_tokens
            add([token.open()])
        return HuggingFaceTokenizer(library)

    def _bytes(self) -> Tokenizer:
        def name(data: bytes) -> str:
            return "".join(_NAMES[byte] for byte in data)

        made = dict.fromkeys([*_NAMES.values(), *(name(a + b) for a, b in self.rules)])
        rules = list(dict.fromkeys((name(a), name(b)) for a, b in self.rules))
        library = Tokenizer(models.BPE({text: n for n, text in enumerate(made)}, rules))
        last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=self.kind == "gpt2")
        if self.kind == "gpt2":
            library.pre_tokenizer = last
        else:
            split = pre_tokenizers.Split(Regex(CL100K), "isolated")
            library.pre_tokenizer = pre_tokenizers.Sequence([split, last])
        library.decoder = decoders.ByteLevel()
        return library

    def _marks(self) -> Tokenizer:
        def name(data: bytes) -> str:
            return data.decode().replace(" ", "▁")

        parts = [name(part) for rule in self.rules for part in (*rule, b"".join(rule))]
        bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
        made = dict.fromkeys([*bytes_, *"ab▁<x>1", *"".join(parts), *parts])
        rules = list(dict.fromkeys((name(a), name(b)) for a, b in self.rules))
        library = Tokenizer(
            models.BPE({text: n for n, text in enumerate(made)}, rules, byte_fallback=True)
        )
        library.normalizer = normalizers.Replace(" ", "▁")
        library.decoder = decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        )
        return library


@st.composite
def added_models(draw: Any, *, flags: bool = False) -> Model:
    """Tokenizers with up to six added tokens over few characters.

    Args:
        flags: whether special tokens may take the spaces beside them.
    """
    alphabet = draw(st.sampled_from(ALPHABETS))
    words = st.text(st.sampled_from(alphabet), min_size=1, max_size=4)
    kind = draw(st.sampled_from(["gpt2", "cl100k", "marks"]))
    runs = st.builds(lambda c, n: c * n, st.sampled_from(alphabet), st.integers(1, 5))
    texts = draw(st.lists(words | runs, unique=True, min_size=1, max_size=6))
    # The library panics where a token takes the spaces that another one begins with.
    spaced = any(text != text.strip() for text in texts)
    flag = st.booleans() if flags and not spaced else st.just(False)
    added = [
        Added(t, draw(st.booleans()), False, draw(flag), draw(flag), draw(flag)) for t in texts
    ]
    rules = [
        rule
        for word in draw(st.lists(words, max_size=5))
        for rule in split_up(draw, word.encode(), kind != "marks")
    ]
    # A name of one character is a byte's, or a piece's that no added token may take away.
    single = "\n\t " if kind == "marks" else "\n\t いあ"
    kept = [token for token in added if len(token.text) > 1 or token.text in single]
    return Model(kind, tuple(rules), tuple(kept))


def tokens_to_compare(tokenizer: HuggingFaceTokenizer) -> list[int]:
    """All ids that are not special, except most single bytes."""
    return [
        token
        for token in range(tokenizer.vocab_size)
        if token not in tokenizer.special_ids
        and (len(spelled := tokenizer.token_bytes(token)) != 1 or spelled in _SINGLE)
    ]


def walk(model: Model, mode: str, choices: Sequence[int]) -> None:
    """Compare the answers of a table with the definition's along a list.

    A choice below 90 adds a token that is admitted, others any token.

    Raises:
        Unsupported: there is no table.
    """
    tokenizer = model.open()
    tokens = tokens_to_compare(tokenizer)
    with few_characters() if mode != "prefix" else nullcontext():
        oracle = retokenizing.Oracle(tokenizer, mode)
        engine = build.table_engine(oracle)
        oracle.boundaries = frozenset()
        state, history = engine.start(), list[int]()
        for choice in choices:
            some = tokens
            spelled = [tokenizer.token_bytes(i) for i in history]
            if oracle.may_begin(history):
                expected = oracle.admits(history, tokens).tolist()
                found = {
                    "steps": [engine.step_if_admitted(state, t) is not None for t in tokens],
                    "mask": engine.mask(state)[tokens].tolist(),
                    "admits": engine.admits(state, np.array(tokens)).tolist(),
                }
                for how, answers in found.items():
                    wrong = [
                        (t, tokenizer.token_bytes(t), a)
                        for t, a, b in zip(tokens, answers, expected, strict=True)
                        if a != b
                    ]
                    assert not wrong, (how, spelled, wrong)
                assert engine.is_consistent(state) == oracle.is_consistent(history), spelled
                for token, admitted in zip(tokens, expected, strict=True):
                    gone = engine.never_recovers(state, token)
                    assert not (gone and admitted), (spelled, token)
                admitted = [t for t, yes in zip(tokens, expected, strict=True) if yes]
                some = admitted if admitted and choice < 90 else tokens
            history.append(some[choice % len(some)])
            state = engine.step(state, history[-1])
