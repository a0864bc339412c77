"""Random BPE tokenizers. Each does exactly what its TokenizerStructure says."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import strategies as st

from tests.support.reference_encoder import UNKNOWN, ReferenceEncoder
from ticore.consistency._engines import build, retokenizing
from ticore.consistency._engines.bpe import byte_fallback as bpe_fallback
from ticore.consistency._engines.bpe import character_classes
from ticore.consistency._engines.bpe.merge_rules import merge_rules
from ticore.consistency._engines.bpe.merge_trees import grow_merge_trees
from ticore.consistency._engines.retokenizing import RetokenizingEngine
from ticore.consistency._engines.stable_cuts import CutFinder, cut_finder
from ticore.consistency._engines.unigram import byte_fallback as unigram_fallback
from ticore.consistency._modes import CONTINUATIONS
from ticore.consistency._tokenizer_rules.pretokenizers import (
    CL100K,
    GPT2,
    O200K,
    QWEN2,
    splitter_for,
)
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import TokenizerStructure

MODES = ("prefix", "open", "viable")
PATTERNS = {"gpt2": GPT2, "cl100k": CL100K, "qwen2": QWEN2, "o200k": O200K}

# Characters that the expressions and normalizers treat in different ways.
ALPHABETS = (
    "ab ",
    "aA ",
    "'sS ",
    "'lLa",
    "'re R",
    "a\u2019'ts",
    "a1 2",
    "a \n",
    " \n\r!",
    "a/\n!",
    "a\t \u3000",
    "\u00a0 a\n",
    "a\u0301e\u0308",
    "aA\u0301\u02b0",
    "\u01c5aA'",
    "é É'd",
    "あいか\u3099",
    "あ日 、",
    "日本\n ",
    "\uac00\u1100\u1161\u11a8",
    "😀👍\U0001f3fd\u200d",
    "«²a\u0663",
    "a\u017f's",
    "K\u212aA\u030a",
    "a<>\u0338",
    "\u1100\u1161 a",
    "a\u0301\u0327 ",
)

# Some characters of each kind and of each length in bytes. A long s is not among them: libraries
# disagree on it, so it has tests of its own.
CHARACTERS = "".join(
    (*ALPHABETS, *CONTINUATIONS, "xyЯя\u0e01\u0e31\u2028\u1109\U0001d7cf\U00020000")
).replace("\u017f", "")


class Described:
    """A tokenizer made from its description. Slow.

    Args:
        structure: what it does.
        spelled: the bytes of every id.
        special_ids: `encode` gives them for added tokens alone.
        unknown: the id for a run of characters that it does not know.
    """

    def __init__(self, structure, spelled, special_ids=(), unknown=UNKNOWN):
        self._structure, self._spelled = structure, tuple(spelled)
        self.special_ids = frozenset(special_ids)
        self.vocab_size = len(self._spelled)
        self._unknown = unknown
        self.unknown_ids = self.special_ids.intersection({unknown})
        self._reference = ReferenceEncoder(self, structure)
        self._reference.encode_part = lru_cache(maxsize=1 << 14)(self._reference.encode_part)

    def encode(self, text):
        return [self._unknown if i == UNKNOWN else i for i in self._reference.encode(text)]

    def encode_batch(self, texts):
        return [self.encode(text) for text in texts]

    def merge(self, data):
        """Ids that best-first merging gives for some bytes, as a part of their own."""
        if self._structure.atoms == "characters":
            return self._reference.merge(self._reference.symbols(data.decode()))
        atoms = [data[n : n + 1] for n in range(len(data))]
        return self._reference.merge([(atom, self._reference.ids[atom]) for atom in atoms])

    def decode(self, ids):
        text = b"".join(self._spelled[i] for i in ids).decode(errors="replace")
        return text.removeprefix(" ") if self._structure.dummy_prefix else text

    def token_bytes(self, token):
        return self._spelled[token]

    def structure(self):
        return self._structure

    def digest(self):
        fields = {
            name: repr(np.asarray(found).tolist() if isinstance(found, np.ndarray) else found)
            for name, found in vars(self._structure).items()
            if name != "normalize"
        }
        return hashlib.sha256(repr((self._spelled, self.special_ids, fields)).encode()).hexdigest()


@dataclass(frozen=True)
class Bpe:
    """A description of a BPE tokenizer.

    Args:
        rules: pairs that merge, lowest rank first. The pieces are the atoms and what rules make.
        ranks: the pieces and their ranks, instead of rules.
        more: pieces without a rule.
        pattern: a name in PATTERNS, for a byte-level tokenizer with that expression; empty for one
            that reads the whole text as characters.
        normal_form: of `unicodedata`; empty for none; or `metaspace`, where a space at the
            beginning of a text stands for the dummy prefix.
        ignore_merges: a part that is a piece becomes that piece, whatever the rules say.
        fallback: characters that are no piece are spelled in bytes.
        dummy_prefix: a space is put before each text.
        squeezes: runs of spaces become one space, and those at both ends are dropped.
        special: texts of added tokens that are special.
        added: texts of added tokens that are not special.
    """

    rules: tuple[tuple[bytes, bytes], ...] = ()
    ranks: tuple[tuple[bytes, int], ...] = ()
    more: tuple[bytes, ...] = ()
    pattern: str = ""
    ignore_merges: bool = False
    normal_form: str = ""
    fallback: bool = True
    dummy_prefix: bool = False
    squeezes: bool = False
    special: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @cached_property
    def pieces(self) -> tuple[bytes, ...]:
        parts = [part for pair in self.rules for part in (*pair, b"".join(pair))]
        words = dict.fromkeys([*parts, *(word for word, _ in self.ranks), *self.more])
        if self.pattern:
            atoms = [bytes([byte]) for byte in range(256)]
        else:
            atoms = sorted({c.encode() for word in words for c in word.decode()} | {b" "})
        return tuple(dict.fromkeys([*atoms, *words]))

    def open(self) -> Described:
        """The tokenizer. Its ids in order: special, added, bytes, pieces, unknown."""
        spelled = [*(b"" for _ in self.special), *(text.encode() for text in self.added)]
        added = {text: n for n, text in enumerate((*self.special, *self.added))}
        byte_ids = ()
        if self.fallback and not self.pattern:
            byte_ids = tuple(range(len(spelled), len(spelled) + 256))
            spelled += [bytes([byte]) for byte in range(256)]
        ids = {piece: n for n, piece in enumerate(self.pieces, start=len(spelled))}
        spelled += self.pieces
        unknown = len(spelled)
        spelled.append(b"")
        ranks = merges = None
        if self.ranks:
            ranks = np.zeros(len(spelled), dtype=np.int32)
            for word, rank in self.ranks:
                ranks[ids[word]] = rank
        else:
            found = [(ids[a], ids[b], ids[a + b]) for a, b in self.rules]
            merges = np.array(found, dtype=np.int32).reshape(-1, 3)
        structure = TokenizerStructure(
            kind="bpe",
            atoms="bytes" if self.pattern else "characters",
            pieces=np.isin(np.arange(len(spelled)), list(ids.values())),
            merges=merges,
            ranks=ranks,
            byte_ids=byte_ids,
            ignore_merges=self.ignore_merges,
            normalizer=self.normal_form.lower() or "identity",
            normalize=self.normalize if self.normal_form or self.squeezes else None,
            pretokenizer=(PATTERNS[self.pattern],) if self.pattern else (),
            dummy_prefix=self.dummy_prefix,
            keeps_whitespace=not self.squeezes,
            added_tokens=added,
        )
        return Described(structure, spelled, {unknown, *range(len(self.special))}, unknown)

    def normalize(self, text: str) -> str:
        if self.normal_form == "metaspace":
            return text.removeprefix(" ")
        if self.normal_form:
            text = unicodedata.normalize(self.normal_form, text)
        return regex.sub(" +", " ", text).strip(" ") if self.squeezes else text

    def ids_to_compare(self) -> list[int]:
        """The ids to compare answers about: all except most of the single bytes."""
        tokenizer = self.open()
        pieces = b"".join(piece for piece in self.pieces if len(piece) > 1)
        told = set(pieces) | set(b"a'. \n\x80\xe3\xff") | set("".join(self.added).encode())
        told |= set("".join(self.special).encode())
        return [
            token
            for token in range(tokenizer.vocab_size - 1)
            if len(spelled := tokenizer.token_bytes(token)) != 1 or spelled[0] in told
        ]


class BpeWithTrees:
    """A tokenizer with its merge rules and merge trees."""

    def __init__(self, model: Bpe) -> None:
        self.tokenizer = model.open()
        self.structure = self.tokenizer.structure()
        self.spelled = [self.tokenizer.token_bytes(i) for i in range(self.tokenizer.vocab_size)]
        self.rules = merge_rules(self.structure, self.spelled)
        self.trees = grow_merge_trees(self.structure, self.spelled, self.rules)
        self.pieces = [i for i in model.ids_to_compare() if self.structure.pieces[i]]
        self.reachable = [i for i in self.pieces if self.trees.reachable[i]]

    def named(self, *tokens: int) -> tuple[bytes, ...]:
        return tuple(self.spelled[i] for i in tokens)

    def id_of(self, spelled: bytes) -> int:
        return self.spelled.index(spelled, np.flatnonzero(self.structure.pieces)[0])

    def stay_unmerged(self, left: int, right: int) -> bool:
        """Whether merging the text of two tokens gives these two."""
        return self.tokenizer.merge(self.spelled[left] + self.spelled[right]) == [left, right]


@st.composite
def words(draw, alphabet: str, cut_anywhere: bool) -> list[bytes]:
    """Parts of texts over an alphabet, some of them cut inside characters."""
    found = []
    for text in draw(
        st.lists(st.text(st.sampled_from(alphabet), min_size=1, max_size=5), max_size=8)
    ):
        data = text.encode()
        if cut_anywhere and len(data) > len(text):
            start = draw(st.integers(0, 2))
            data = data[start : len(data) - draw(st.integers(0, 2))]
        if data:
            found.append(data)
    return found


def split_up(draw, word: bytes, cut_anywhere: bool) -> list[tuple[bytes, bytes]]:
    """Rules that make a word out of its atoms, in the order in which they merge."""
    parts = [bytes([b]) for b in word] if cut_anywhere else [c.encode() for c in word.decode()]
    rules = []
    while len(parts) > 1:
        at = draw(st.integers(0, len(parts) - 2))
        rules.append((parts[at], parts[at + 1]))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return rules


@st.composite
def rules_or_ranks(draw, alphabet: str, cut_anywhere: bool) -> dict[str, tuple]:
    """Rules in any order, or ranks with ties; and pieces without a rule."""
    found = draw(words(alphabet, cut_anywhere))
    more = tuple(draw(words(alphabet, cut_anywhere))[:2])
    rules = [rule for word in found for rule in split_up(draw, word, cut_anywhere)]
    if draw(st.booleans()):
        unique = list(dict.fromkeys(rules))
        order = draw(st.permutations(unique)) if draw(st.booleans()) else unique
        return {"rules": tuple(order), "more": more}
    made = dict.fromkeys([word for a, b in rules for word in (a + b, a, b)])
    atoms = [bytes([b]) for b in range(256)] if cut_anywhere else []
    ranks = {word: draw(st.integers(0, 5)) for word in [*made, *more] if word not in atoms}
    return {"ranks": tuple(ranks.items()), "more": more}


# They overlap with each other, some of them with themselves.
ADDED = ("<|x|>", "x|y", ">a b", "'s!", "1 2", "ab", "bs", "''", "!")
# What a text goes on with in the modes `open` and `viable` may complete these, or hold them.
COMPLETED = ("x\n", "a a", " \n", "\n", "b.1", "い", "aあ", "<あい", "\u3000")

alphabets = st.sampled_from(ALPHABETS) | st.text(
    st.sampled_from(sorted({*CHARACTERS, "\u017f"})), min_size=1, max_size=6
)


@st.composite
def added_tokens(draw, some: Sequence[str] = ADDED) -> dict[str, tuple[str, ...]]:
    """Texts of added tokens, none of which is part of another one."""
    texts = draw(st.just([]) | st.lists(st.sampled_from(some), unique=True, max_size=3))
    apart = [text for text in texts if not any(text in other for other in texts if text != other)]
    special = draw(st.integers(0, len(apart)))
    return {"special": tuple(apart[:special]), "added": tuple(apart[special:])}


@st.composite
def byte_level(draw) -> Bpe:
    """Byte-level tokenizers with one of the known expressions."""
    return Bpe(
        pattern=draw(st.sampled_from(sorted(PATTERNS))),
        ignore_merges=draw(st.booleans()),
        normal_form=draw(st.sampled_from(("", "", "NFC"))),
        **draw(added_tokens(ADDED + COMPLETED)),
        **draw(rules_or_ranks(draw(alphabets), cut_anywhere=True)),
    )


@st.composite
def character_level(draw) -> Bpe:
    """Tokenizers that read the whole text as characters, as SentencePiece does."""
    added = draw(added_tokens())
    return Bpe(
        normal_form=draw(st.sampled_from(("", "", "NFC", "NFKC"))),
        squeezes=not added["added"] and draw(st.booleans()),
        fallback=draw(st.booleans()),
        dummy_prefix=draw(st.booleans()),
        **added,
        **draw(rules_or_ranks(draw(alphabets) + " ", cut_anywhere=False)),
    )


models = byte_level() | character_level()


@st.composite
def with_text(draw, models: st.SearchStrategy[Bpe]) -> tuple[Bpe, str]:
    """A tokenizer and a text of its words, of runs, and of beginnings and ends of added tokens."""
    model = draw(models)
    texts = [piece.decode(errors="ignore") for piece in model.pieces]
    words = [text for text in texts if text and (len(text) > 1 or not text.isascii())]
    characters = sorted({*"".join(words), *"a '\n"})
    runs = st.builds(lambda c, n: c * n, st.sampled_from(characters), st.integers(1, 7))
    parts = st.sampled_from(characters) | runs
    if words:
        parts |= st.sampled_from(words)
    if added := [*model.special, *model.added]:
        ends = st.builds(lambda text, n: text[:n], st.sampled_from(added), st.integers(1, 5))
        parts |= ends | st.builds(
            lambda text, n: text[n:], st.sampled_from(added), st.integers(0, 5)
        )
    return model, "".join(draw(st.lists(parts, max_size=6)))


# An engine that keeps a window of the text may forget what stands before it. Such windows are
# powers of two long.
LENGTHS = [n + more for n in (4, 8, 16, 32, 64, 128) for more in (-1, 0, 1)]


@st.composite
def with_long_run(draw, models: st.SearchStrategy[Bpe]) -> tuple[Bpe, str]:
    """A tokenizer and a text with a long run of one character, mostly a space or a mark.

    A letter or a mark may stand before the run and after it.
    """
    model = draw(models)
    characters = sorted(
        {*"".join(piece.decode(errors="ignore") for piece in model.pieces)} - {"\0"}
    )
    some = st.sampled_from([*characters, *"a \n"])
    marks = st.sampled_from("\u0316\u0301\u0323\u0345\u3099\u1161")
    before = draw(
        st.sampled_from(["", "a", "o", "a ", " "]) | st.lists(some, max_size=2).map("".join)
    )
    run = draw(st.just(" ") | marks | some) * draw(st.sampled_from(LENGTHS))
    return model, before + run + draw(st.just("") | marks | some)


@contextmanager
def few_characters(characters: str = CHARACTERS) -> Iterator[None]:
    """Inside, no other characters complete unfinished bytes, so that the definition is quick.

    Tables are neither read from disk nor stored there.
    """

    def few(unfinished: bytes) -> Iterator[str]:
        for character in sorted(set(characters)):
            data = character.encode()
            if data.startswith(unfinished) and data != unfinished:
                yield character

    with pytest.MonkeyPatch.context() as patch:
        for module in (retokenizing, character_classes, bpe_fallback, unigram_fallback):
            patch.setattr(module, "completions", few)
        # Not the shapes that other tests have cached.
        patch.setattr(
            build, "shapes_for", lambda steps: character_classes.Shapes(splitter_for(steps))
        )
        patch.setattr(build.table_cache, "load", lambda name: None)
        patch.setattr(build.table_cache, "save", lambda name, arrays: None)
        yield


def engine_of(
    tokenizer: Described, mode: str, method: str = "table"
) -> tuple[Any, retokenizing.Oracle]:
    """The engine of a method, without the self-test, and the oracle."""
    judge = retokenizing.Oracle(tokenizer, mode)
    if method == "table":
        return build.table_engine(judge), judge
    return RetokenizingEngine(judge, cut_finder(tokenizer)), judge


def cuts_of(tokenizer: Described) -> CutFinder | None:
    """What finds stable cuts in lists of a tokenizer; None if nothing does."""
    try:
        return cut_finder(tokenizer)
    except Unsupported:
        return None


def check_list(
    engine: Any, judge: retokenizing.Oracle, state: Any, history: list[int], tokens: Sequence[int]
) -> list[int]:
    """Compare an engine's answers about one list with the oracle's.

    Returns:
        The tokens that may follow.
    """
    spelled = judge.tokenizer.token_bytes
    expected = judge.admits(history, tokens).tolist()
    # Before the mask is cached, since the answers might be read from it.
    some = range(len(history) % 4, len(tokens), 4)
    one_by_one = {n: engine.step_if_admitted(state, tokens[n]) is not None for n in some}
    found = engine.mask(state)[list(tokens)].tolist()
    wrong = [t for t, a, b in zip(tokens, found, expected, strict=True) if a != b]
    context = f"after {[spelled(i) for i in history]}"
    assert not wrong, f"{context} the engine is wrong about {[(i, spelled(i)) for i in wrong]}"
    assert engine.admits(state, np.array(tokens)).tolist() == expected, context
    assert one_by_one == {n: expected[n] for n in some}, context
    assert engine.is_consistent(state) == judge.is_consistent(history), context
    return [token for token, good in zip(tokens, expected, strict=True) if good]


def check_nothing_lost(engine: Any, tokenizer: Any, text: str) -> None:
    """Check that `never_recovers` is False for each token of a text, up to the first special id."""
    ids = tokenizer.encode(text)
    state = engine.start()
    for at, token in enumerate(takewhile(lambda token: token not in tokenizer.special_ids, ids)):
        assert not engine.never_recovers(state, token), (ids[:at], token)
        state = engine.step(state, token)


def check_walk(
    model: Bpe, text: str, mode: str, choices: Sequence[int], method: str = "table"
) -> None:
    """Compare an engine's answers with the oracle's along a list.

    The list begins with the tokens of `text`, up to the first special id. It goes on with admitted
    tokens, and with any token where a choice is 90 or more. Answers are compared wherever a text
    may begin with the list.
    """
    tokenizer, tokens = model.open(), model.ids_to_compare()
    special = tokenizer.special_ids
    true = list(takewhile(lambda token: token not in special, tokenizer.encode(text)))
    with few_characters():
        engine, judge = engine_of(tokenizer, mode, method)
        judge.boundaries = frozenset()  # an engine knows one part of a list, without boundaries
        history, state = [], engine.start()
        for choice in [*true, *choices, 0]:
            some = tokens
            if judge.may_begin(history):
                admitted = check_list(engine, judge, state, history, tokens)
                some = admitted if admitted and choice < 90 else tokens
            follows = len(history) < len(true)
            history.append(choice if follows else some[choice % len(some)])
            followed = engine.step_if_admitted(state, history[-1]) if len(history) % 2 else None
            state = engine.step(state, history[-1]) if followed is None else followed


def check_after(model: Bpe, text: str, mode: str, *more: str, method: str = "table") -> None:
    """Compare an engine's answers with the oracle's at the end of a text.

    They are compared for some ids, those of `more` among them. The text ends at the first special
    id, and tokens are dropped from its end until a text may begin with it.
    """
    tokenizer = model.open()
    tokens = sorted(
        {*model.ids_to_compare()[-40:], *tokenizer.encode("a \u0301".join(["", *more]))}
    )
    tokens = [i for i in tokens if i not in tokenizer.special_ids]
    ids = list(takewhile(lambda i: i not in tokenizer.special_ids, tokenizer.encode(text)))
    with few_characters():
        engine, judge = engine_of(tokenizer, mode, method)
        while not judge.may_begin(ids):
            ids.pop()
        state = engine.start()
        for at, token in enumerate(ids):
            assert not engine.never_recovers(state, token), (ids[:at], token)
            state = engine.step(state, token)
        check_list(engine, judge, state, ids, tokens)


def check_short_lists(model: Bpe, mode: str, length: int) -> None:
    """Compare `step_if_admitted` with the oracle on all admitted lists of up to `length` tokens."""
    tokens = model.ids_to_compare()
    with few_characters():
        engine, judge = engine_of(model.open(), mode)
        lists = [([], engine.start())]
        for ids, state in lists:
            followed = {token: engine.step_if_admitted(state, token) for token in tokens}
            admitted = judge.admits(ids, tokens).tolist()
            assert [followed[token] is not None for token in tokens] == admitted, ids
            assert engine.is_consistent(state) == judge.is_consistent(ids), ids
            if len(ids) < length:
                lists += [([*ids, t], after) for t, after in followed.items() if after is not None]


def check_after_tokens(
    model: Bpe, mode: str, *history: bytes, method: str = "table", characters: str = CHARACTERS
) -> None:
    """Compare an engine's answers with the oracle's after some tokens."""
    check_one_by_one(model, mode, [history], method, characters)


def check_one_by_one(
    model: Bpe,
    mode: str,
    histories: Sequence[Sequence[bytes]],
    method: str = "table",
    characters: str = CHARACTERS,
) -> None:
    """Compare one engine's answers with the oracle's after several lists of tokens.

    Where tokens are spelled alike, the added one is meant, or else the piece.
    """
    tokenizer, tokens = model.open(), model.ids_to_compare()
    added = tokenizer.structure().added_tokens
    # The ids of pieces come after those of bytes, so pieces overwrite them here.
    spelled = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}
    with few_characters(characters):
        engine, judge = engine_of(tokenizer, mode, method)
        for history in histories:
            ids = [added.get(text.decode(errors="replace"), spelled[text]) for text in history]
            assert judge.may_begin(ids)
            state = engine.start()
            for token in ids:
                state = engine.step(state, token)
            check_list(engine, judge, state, ids, tokens)
