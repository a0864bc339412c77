"""The unigram engine against the definition: random models full of ties, trained and real ones."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from tests.support.random_bpe import check_nothing_lost
from tests.support.tokenizers import FRAGMENTS, REAL, TRAINED, train_sentencepiece
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._engines.unigram.engine import UnigramEngine
from ticore.consistency._modes import CONTINUATIONS
from ticore.consistency._tokenizer_rules.characters import is_doubtful
from ticore.consistency._tokenizer_rules.normalizers import joining
from ticore_sentencepiece import SentencePieceTokenizer

MODES = ("prefix", "open", "viable")
NAMES = (
    "sp-unigram",
    "sp-unigram-no-bytes-no-prefix",
    "sp-unigram-nfkc",
    "sp-unigram-added-nfkc",
)
NORMALIZERS = ("nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")
CONTROL = 1  # the id of <s>
TEXT = (
    "It is a truth universally acknowledged, that a man in possession of a good fortune\n\n"
    "must be in want.  東京都の人口は、大阪の人口より多い。トークン化は可逆ではない。\n"
    "    for i in range(10):\n        print(f'{i:>3}')  # twice\n\t\n"
    "😀 👍🏽 👨\u200d👩\u200d👧 naïve Zu\u0308rich e\u0301 \ufb01n ﾊﾟｶﾞ １２３ Съешь ещё 한국어 "
    "\u1112\u1161\u11ab \u2581 12345.678      aaaaaaaaaaaa        end"
)


@dataclass(frozen=True)
class Model:
    """What a SentencePiece model is made of; a piece's score is minus its number of units."""

    pieces: dict[str, int]
    unit: float = 0.1
    byte_fallback: bool = True
    dummy_prefix: bool = True
    squeezes: bool = False
    normalizer: str = "identity"
    symbols: tuple[str, ...] = ()

    def open(self) -> SentencePieceTokenizer:
        proto = sentencepiece_model_pb2.ModelProto()
        proto.trainer_spec.model_type = proto.trainer_spec.UNIGRAM
        proto.trainer_spec.byte_fallback = self.byte_fallback
        proto.normalizer_spec.name = self.normalizer
        if self.normalizer != "identity":
            proto.normalizer_spec.precompiled_charsmap = charsmap(self.normalizer)
        proto.normalizer_spec.add_dummy_prefix = self.dummy_prefix
        proto.normalizer_spec.remove_extra_whitespaces = self.squeezes
        kinds = sentencepiece_model_pb2.ModelProto.SentencePiece
        proto.pieces.add(piece="<unk>", type=kinds.UNKNOWN)
        proto.pieces.add(piece="<s>", type=kinds.CONTROL)
        for byte in range(256 if self.byte_fallback else 0):
            proto.pieces.add(piece=f"<0x{byte:02X}>", type=kinds.BYTE)
        for text, units in self.pieces.items():
            if text not in self.symbols:
                proto.pieces.add(piece=text.replace(" ", "▁"), score=-self.unit * units)
        for text in self.symbols:
            proto.pieces.add(piece=text.replace(" ", "▁"), type=kinds.USER_DEFINED)
        return SentencePieceTokenizer(proto.SerializeToString())


@cache
def charsmap(name: str) -> bytes:
    """The rules that SentencePiece has under this name."""
    trained = train_sentencepiece(normalization_rule_name=name)
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(trained._library.serialized_model_proto())
    return model.normalizer_spec.precompiled_charsmap


@st.composite
def models(draw):
    alphabet = draw(
        st.sampled_from(
            (
                "ab ",
                "a ",
                "aあ ",
                "ab é",
                "aeé\u0301\u0327 ",
                "カガハ\u3099゛ ",
                "あいう",
                "😀a ",
                "a\n ",
            )
        )
    )
    texts = st.text(st.sampled_from(alphabet), min_size=1, max_size=5)
    scores = st.integers(-2, 40)
    return Model(
        {" ": draw(scores), **draw(st.dictionaries(texts, scores, max_size=12))},
        unit=draw(st.sampled_from((0.1, 0.1, 1300.7, 60_000.0))),
        byte_fallback=draw(st.booleans()),
        dummy_prefix=draw(st.booleans()),
        squeezes=draw(st.booleans()),
        normalizer=draw(st.sampled_from(("identity", "identity", "nmt_nfkc", "nfkc_cf"))),
        symbols=tuple(draw(st.one_of(st.just([]), st.lists(texts, max_size=3, unique=True)))),
    )


def described(model):
    """The tokenizer of a model, if a structure describes it."""
    tokenizer = model.open()
    assume(tokenizer.structure() is not None)
    return tokenizer


def engine_of(tokenizer, mode):
    structure = tokenizer.structure()
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    return UnigramEngine(structure, spelled, tokenizer.special_ids, mode)


def check(engine, oracle, state, history, candidates):
    """Compare all answers about one list. Returns the candidates that are admitted."""
    expected = oracle.admits(history, candidates).tolist()
    assert engine.admits(state, np.array(candidates)).tolist() == expected
    assert engine.mask(state)[candidates].tolist() == expected
    assert engine.is_consistent(state) == oracle.is_consistent(history)
    return [token for token, good in zip(candidates, expected, strict=True) if good]


def quick(tokenizer, state, candidates):
    """Those candidates that the oracle is quick about.

    Before it rejects the first byte of a character, it tries all characters that begin with it.
    """
    may_begin = state is not None and not state.unfinished and state.last
    slow = () if may_begin else tokenizer.structure().byte_ids[0xE4:]
    return [token for token in candidates if token not in slow]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@example(Model({" ": 0}, dummy_prefix=False, normalizer="nfkc_cf"), [])
@example(Model({" ": 0}, byte_fallback=False, dummy_prefix=False, symbols=(" ", "aa")), [])
@example(Model({" ": 9, "a": 9, "aab": 1}, symbols=("aa", "ab")), [2, 1, 0])
@given(model=models(), choices=st.lists(st.integers(0, 99), max_size=8))
def test_unigram_engine_answers_as_the_oracle_for_random_models(mode, model, choices):
    """Every answer on the way along a list that mostly, not always, follows what is admitted."""
    tokenizer = described(model)
    engine, oracle = engine_of(tokenizer, mode), Oracle(tokenizer, mode)
    oracle.boundaries = frozenset()  # an engine knows one part of a list, which none ends
    pieces = np.flatnonzero(tokenizer.structure().pieces).tolist()
    values = set("".join(model.pieces).encode()) | {0x00, 0x41, 0x81, 0x96, 0xC0, 0xC3, 0xE2}
    byte_ids = tokenizer.structure().byte_ids
    tokens = [CONTROL, *pieces, *(byte_ids[value] for value in sorted(values) if byte_ids)]
    history, state = [], engine.start()
    for choice in [*choices, 0]:
        candidates = quick(tokenizer, state, tokens)
        admitted = check(engine, oracle, state, history, candidates)
        some = admitted if admitted and choice < 90 else candidates
        history.append(some[choice % len(some)])
        state = engine.step(state, history[-1])


@given(model=models(), text=st.text(st.sampled_from("ab é\u0301カ゛あ😀 "), max_size=12))
def test_never_recovers_is_false_along_the_tokens_of_a_text(model, text):
    tokenizer = described(model)
    check_nothing_lost(engine_of(tokenizer, "prefix"), tokenizer, text)


@pytest.mark.slow
@given(model=models(), choices=st.lists(st.integers(0, 99), max_size=8))
def test_never_recovers_is_true_when_no_text_begins_with_the_pieces(model, choices):
    tokenizer = described(model)
    engine, oracle = engine_of(tokenizer, "viable"), Oracle(tokenizer, "viable")
    pieces = np.flatnonzero(tokenizer.structure().pieces).tolist()
    history, state = [], engine.start()
    for choice in choices:
        token = pieces[choice % len(pieces)]
        history.append(token)
        assert engine.never_recovers(state, token) != oracle.may_begin(history)
        state = engine.step(state, token)
        if state is None:
            break


@settings(max_examples=30)
@given(model=models(), length=st.integers(200, 3000), seed=st.integers(0, 99))
def test_step_follows_sentencepiece_when_segmentations_tie_in_long_texts(model, length, seed):
    """Where segmentations tie, the roundings of a long text's score decide, and where counting
    started afresh, which it does beyond 100,000.
    """
    tokenizer = replace(model, byte_fallback=True, squeezes=False, normalizer="identity")
    tokenizer = described(tokenizer)
    letters = sorted(set("".join(model.pieces)) | {"x"})
    text = "".join(random.Random(seed).choices(letters, k=length))
    engine = engine_of(tokenizer, "prefix")
    state = engine.start()
    for token in tokenizer.encode(text):
        state = engine.step(state, token)
        assert state is not None
    assert engine.is_consistent(state)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_unigram_engine_answers_as_the_oracle_for_trained_models(name, mode):
    check_along(TRAINED[name](), mode, " ".join([TEXT, *FRAGMENTS]), every=5)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_unigram_engine_answers_as_the_oracle_for_a_real_model(mode):
    check_along(REAL["llm-jp"](), mode, TEXT, every=3)


def check_along(tokenizer, mode, text, every):
    """Compare answers along a true text, and along lists that leave it."""
    engine, oracle = engine_of(tokenizer, mode), Oracle(tokenizer, mode)
    pieces = np.flatnonzero(tokenizer.structure().pieces).tolist()
    byte_ids = tokenizer.structure().byte_ids
    true_ids = tokenizer.encode(text)
    draw = random.Random(0)
    history, state = [], engine.start()
    for at, true in enumerate(true_ids):
        if at % every == 0:
            tokens = [true, *draw.choices(pieces, k=10), *draw.choices(true_ids, k=10)]
            tokens += draw.choices(byte_ids, k=5) if byte_ids else []
            aside, elsewhere = list(history), state
            for _ in range(3):
                candidates = quick(tokenizer, elsewhere, tokens)
                admitted = check(engine, oracle, elsewhere, aside, candidates)
                aside.append(draw.choice(admitted or candidates))
                elsewhere = engine.step(elsewhere, aside[-1])
        history.append(true)
        state = engine.step(state, true)


def test_step_gives_a_state_inside_a_character_in_every_mode():
    """A character in the making is no dead end, whatever the mode says of it meanwhile."""
    tokenizer = Model({" ": 10}).open()
    history = tokenizer.encode("😀")
    for mode in MODES:
        engine, oracle = engine_of(tokenizer, mode), Oracle(tokenizer, mode)
        state = engine.start()
        for at, token in enumerate(history):
            assert engine.is_consistent(state) == oracle.is_consistent(history[:at]) == (at == 0)
            state = engine.step(state, token)
        assert engine.is_consistent(state)


def test_admits_refuses_special_ids():
    engine = engine_of(TRAINED["sp-unigram"](), "viable")
    special = np.array(sorted(TRAINED["sp-unigram"]().special_ids))
    assert not engine.admits(engine.start(), special).any()
    assert not engine.mask(engine.start())[special].any()
    assert engine.step(engine.start(), int(special[0])) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers_change_a_text_by_one_or_two_of_its_characters(name):
    """A text that SentencePiece's normalizer changes holds a change of one character, or of two.

    It replaces the longest rule that matches, from left to right. Were a rule's result to begin
    like the rule, or to hold a rule itself, then changes might cancel each other.
    """
    rules = read_rules(charsmap(name))
    assert len(rules) > 200_000
    partners = dict[str, int]()
    for before, after in rules.items():
        assert not after.startswith(before[0])
        assert not any(part in rules for part in parts(after))
        assert any(part in rules for part in parts(before) if len(part) <= 2)
        if len(before) == 2:
            partners[before[0]] = partners.get(before[0], 0) + 1
    assert max(partners.values()) < 256
    later = {character for rule in rules for character in rule[1:]}
    assert not later & {"|", " ", *"".join(CONTINUATIONS)}
    # Only characters that are known to join need be tried after another one.
    assert all(c in joining() or c in rules or is_doubtful(c) for c in later)
    assert not any(rule[0] in "| " for rule in rules)
    # No character begins like what it becomes, if that may be changed further where it stands.
    for before, after in rules.items():
        if len(before) == 1 and after[:1] in later and after:
            assert before.encode()[0] != after.encode()[0]


def parts(text):
    """All that stands in `text`."""
    return {text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)}


def read_rules(charsmap):
    """What a charsmap replaces by what. It is the size of a double-array trie, the trie, texts."""
    size = int.from_bytes(charsmap[:4], "little")
    units = np.frombuffer(charsmap[4 : 4 + size], dtype="<u4").astype(np.int64)
    results = charsmap[4 + size :]
    rules = {}
    keys, nodes = [b""], np.zeros(1, dtype=np.int64)
    while keys:
        bases = nodes ^ units[nodes] >> 10 << ((units[nodes] & 0x200) >> 6)
        for n in np.flatnonzero(units[nodes] & 0x100):
            begin = units[bases[n]] & 0x7FFFFFFF
            rules[keys[n].decode()] = results[begin : results.index(0, begin)].decode()
        below = [(n, byte) for byte in range(1, 256) for n in children(units, bases, byte)]
        keys = [keys[n] + bytes([byte]) for n, byte in below]
        nodes = np.array([bases[n] ^ byte for n, byte in below], dtype=np.int64)
    return rules


def children(units, bases, byte):
    """Which nodes of a double-array trie have a child for `byte`."""
    places = np.minimum(bases ^ byte, len(units) - 1)
    return np.flatnonzero((bases ^ byte < len(units)) & (units[places] & 0x800000FF == byte))
