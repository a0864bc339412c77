"""Unigram models of the library tokenizers against the definition: random ones, and T5's."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.consistency.engines.unigram.test_engine import MODES, charsmap, check, engine_of, quick
from tests.support.tokenizers import REAL
from ticore.consistency import Verifier
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._unsupported import Unsupported
from ticore_tokenizers import HuggingFaceTokenizer

SPECIAL = "<a>"
UNKNOWN = "<unk>"


@dataclass(frozen=True)
class JsonModel:
    """What a tokenizer.json with Unigram is made of; a piece's score is minus its units."""

    pieces: dict[str, int]
    unit: float = 0.1
    byte_fallback: bool = False
    scheme: str = "always"
    split: bool = True
    words: bool = False
    normalizer: tuple[str, ...] = ()
    special: tuple[str, ...] = field(default=(UNKNOWN,))

    def open(self) -> HuggingFaceTokenizer:
        vocab = [(UNKNOWN, 0.0)]
        vocab += [(f"<0x{byte:02X}>", 0.0) for byte in range(256 if self.byte_fallback else 0)]
        names = {text.replace(" ", "▁"): -self.unit * units for text, units in self.pieces.items()}
        vocab += list(names.items())
        library = Tokenizer(models.Unigram(vocab, 0, self.byte_fallback))
        steps = [_STEPS[name]() for name in self.normalizer]
        if steps:
            library.normalizer = normalizers.Sequence(steps)
        metaspace = pre_tokenizers.Metaspace(prepend_scheme=self.scheme, split=self.split)
        splits = [pre_tokenizers.WhitespaceSplit()] * self.words
        library.pre_tokenizer = pre_tokenizers.Sequence([*splits, metaspace])
        if not self.words:
            library.pre_tokenizer = metaspace
        if self.byte_fallback:
            steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
            strip = [decoders.Strip(" ", 1, 0)] * (self.scheme != "never")
            library.decoder = decoders.Sequence([*steps, *strip])
        else:
            library.decoder = decoders.Metaspace(prepend_scheme=self.scheme)
        library.add_special_tokens(list(self.special))
        return HuggingFaceTokenizer(library)


_STEPS = {
    "nmt_nfkc": lambda: normalizers.Precompiled(charsmap("nmt_nfkc")),
    "nfkc_cf": lambda: normalizers.Precompiled(charsmap("nfkc_cf")),
    "strip": lambda: normalizers.Strip(left=False, right=True),
    "nfc": normalizers.NFC,
    "nfd": normalizers.NFD,
    "nfkd": normalizers.NFKD,
    "accents": normalizers.StripAccents,
    "lower": normalizers.Lowercase,
    "quotes": lambda: normalizers.Replace("''", '"'),
    "a": lambda: normalizers.Replace("a", "b"),
    "squeeze": lambda: normalizers.Replace(Regex(" {2,}"), "▁"),
}
_NORMALIZERS = (
    (),
    (),
    ("nmt_nfkc",),
    ("nfkc_cf",),
    ("strip", "squeeze"),
    ("nmt_nfkc", "strip", "squeeze"),
    ("quotes", "nfkd", "accents", "lower", "nmt_nfkc", "squeeze"),
    ("nfd", "quotes"),
    ("nfkd", "accents"),
)


@st.composite
def json_models(draw):
    alphabet = draw(
        st.sampled_from(
            (
                "ab ",
                "a ",
                "aあ ",
                "ab é",
                "<a>b ",
                "あいう",
                "a\n ",
                "ﬁa ",
                "'\"a ",
                "é\u0301\u0323 ",
            )
        )
    )
    texts = st.text(st.sampled_from(alphabet), min_size=1, max_size=5)
    scores = st.integers(-2, 40)
    byte_fallback = draw(st.booleans())
    return JsonModel(
        {" ": draw(scores), **draw(st.dictionaries(texts, scores, max_size=12))},
        unit=draw(st.sampled_from((0.1, 0.1, 1300.7))),
        byte_fallback=byte_fallback,
        scheme=draw(st.sampled_from(("always", "first", "never"))),
        split=draw(st.booleans()),
        words=draw(st.booleans()),
        normalizer=draw(st.sampled_from(_NORMALIZERS)),
        special=draw(st.sampled_from(((UNKNOWN,), (UNKNOWN, SPECIAL), ()))),
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=40)
@example(JsonModel({" ": 3, "a": 1, "a ": 1}, words=True), [])
@given(model=json_models(), choices=st.lists(st.integers(0, 99), max_size=8))
def test_unigram_engine_answers_as_the_library_for_random_models(mode, model, choices):
    tokenizer = model.open()
    if tokenizer.structure() is None:
        assert tokenizer.no_structure_reason
        return
    try:
        engine = engine_of(tokenizer, mode)
    except Unsupported:
        # A space at the beginning of a text takes the place of its prefix.
        assert (mode, model.scheme == "never") == ("viable", False)
        return
    oracle = Oracle(tokenizer, mode)
    oracle.boundaries = frozenset()  # an engine knows one part of a list, which none ends
    pieces = np.flatnonzero(tokenizer.structure().pieces).tolist()
    values = set("".join(model.pieces).encode()) | {0x00, 0x41, 0x81, 0x96, 0xC0, 0xC3, 0xE2}
    byte_ids = tokenizer.structure().byte_ids
    tokens = [0, *pieces, *(byte_ids[value] for value in sorted(values) if byte_ids)]
    history, state = [], engine.start()
    for choice in [*choices, 0]:
        candidates = quick(tokenizer, state, tokens)
        admitted = check(engine, oracle, state, history, candidates)
        some = admitted if admitted and choice < 90 else candidates
        history.append(some[choice % len(some)])
        state = engine.step(state, history[-1])


@settings(max_examples=30)
@given(
    letters=st.sampled_from(("ab", "ab ", "aあ")),
    scores=st.lists(st.integers(1, 9), min_size=8, max_size=8),
    length=st.integers(200, 2000),
    seed=st.integers(0, 99),
)
def test_step_follows_the_library_when_segmentations_tie_in_long_texts(
    letters, scores, length, seed
):
    """Scores are summed in float64 there, so long texts round them in another way."""
    draw = np.random.default_rng(seed)
    texts = {"".join(draw.choice(list(letters), size=1 + n % 4)) for n in range(8)}
    model = JsonModel(
        {" ": 4, **dict(zip(sorted(texts | set(letters)), [*scores, 5, 5, 5], strict=False))},
        split=False,
    )
    tokenizer = model.open()
    if tokenizer.structure() is None:
        return
    text = "".join(draw.choice(list(letters), size=length)).strip()
    ids = tokenizer.encode(text)
    if tokenizer.decode(ids) != text or not tokenizer.special_ids.isdisjoint(ids):
        return
    engine = engine_of(tokenizer, "prefix")
    state = engine.start()
    for token in ids:
        state = engine.step(state, token)
        assert state is not None
    assert engine.is_consistent(state)


def test_a_text_with_an_added_token_is_never_read_back():
    model = JsonModel({" ": 4, "<": 1, "a": 1, ">": 1}, special=(UNKNOWN, SPECIAL))
    tokenizer = model.open()
    ids = [tokenizer.encode(c)[-1] for c in SPECIAL]
    start = tokenizer.encode("a")
    verification = Verifier(tokenizer).start([*start, *ids[:2]])
    assert verification.consistent
    assert not verification.admits([ids[2]])[0]
    assert Verifier(tokenizer).method == "table"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"special": ()}, ""),
        ({"words": True, "scheme": "first"}, "drops the spaces between words"),
        ({"pieces": {"a": 1}}, "single space"),
        ({"pieces": {" ": 1, "a": -200}}, ""),
        ({"pieces": {" ": -200}, "unit": 1.0}, ""),
        ({"pieces": {" ": 1, "a b": 1}, "split": False}, "removes all spaces of the first token"),
        ({"normalizer": ("squeeze",)}, "drops some spaces"),
        ({"pieces": {" ": 1, "e": 2, "\u0301": 3}, "normalizer": ("nmt_nfkc",)}, ""),
        ({"byte_fallback": True, "normalizer": ("nmt_nfkc",)}, "tokens of bytes"),
        ({"normalizer": ("nfc",)}, ""),  # the engine refuses it
        ({"normalizer": ("nfd", "nmt_nfkc")}, "another one for a normal form but NFKD"),
        (
            {"pieces": {" ": 1, "A": 2}, "normalizer": ("a", "nfkc_cf")},
            "may undo what Precompiled does to 'A'",
        ),
        (
            {"pieces": {" ": 1, "é": 2}, "normalizer": ("nfkd", "nmt_nfkc")},
            r"together, 'e\u0301', and there are other steps",
        ),
    ],
)
def test_what_no_structure_describes_is_refused_with_its_reason(change, why):
    tokenizer = JsonModel(**{"pieces": {" ": 1, "a": 2}, **change}).open()
    assert (tokenizer.structure() is None) == bool(why)
    assert why in tokenizer.no_structure_reason


def test_unusual_added_tokens_are_refused_with_their_names():
    state = JsonModel({" ": 1, "a": 2})
    library = state.open()._library
    library.add_tokens(["<plain>"])
    reason = HuggingFaceTokenizer(library).no_structure_reason
    assert "'<plain>' is not marked special" in reason


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_t5_is_verified_from_tables(mode):
    verifier = Verifier(REAL["t5"](), mode=mode)
    assert (verifier.method, verifier.why) == ("table", "")
    text = "The quick brown fox is (not) 12,345 years old: voilà, Straße."
    ids = verifier.tokenizer.encode(text)
    verification = verifier.start()
    for token in ids:
        verification.push(token)
        # A word may begin with a space of its own, and with that no text ends.
        assert verification.admissible or mode != "viable"
    assert verification.consistent
