"""The search for the writer's tokens: its p-value is valid, and finds what a reader loses."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.errors import SettingsError
from ticore.schemes import ALL_SCHEMES, SCHEMES
from ticore.watermarking import _tokenization_search as tokenization_search
from ticore.watermarking._respellings import Respeller, respelled
from ticore.watermarking._tokenization_search import _divided, log_shares, log_weight

# Every two letters are a token, so nearly all neighbours can be cut elsewhere.
LETTERS = "abcdef"
TOY = ToyTokenizer([*LETTERS, *(a + b for a in LETTERS for b in LETTERS)])
RESPELLER = Respeller(TOY)


@given(ids=st.lists(st.integers(0, TOY.vocab_size - 1), min_size=1, max_size=4))
def test_weights_of_all_tokenizations_sum_to_one_half_at_most(ids):
    """The other half is that of the tokens that are read."""
    listed = RESPELLER.all(ids)
    shares = log_shares(listed) if listed else []
    assert sum(map(math.exp, shares)) <= 1 + 1e-9
    total = 0.0
    for count in (1, 2, 3):
        if math.comb(len(listed), count) < 5000:
            for chosen in combinations(range(len(listed)), count):
                total += math.exp(log_weight([shares[at] for at in chosen]))
    assert total <= 0.5


def test_search_keeps_to_its_rate_in_text_without_a_watermark():
    """3,000 texts of tokens that can nearly all be respelled, each under a key of its own."""
    rng = np.random.default_rng(8)
    found = []
    for _ in range(3000):
        ids = rng.integers(TOY.vocab_size, size=20)
        detector = ticore.WatermarkDetector(
            TOY, SCHEMES["gumbel"](rng.bytes(16), TOY.vocab_size), tokenizations="search"
        )
        detector._respeller = RESPELLER
        found.append(detector.detect_ids(ids))
    p_values = np.array([one.p_value for one in found])
    for rate in (0.3, 0.1, 0.01):
        assert (p_values <= rate).sum() <= 3000 * rate + 3 * math.sqrt(3000 * rate)
    plain = np.array([one.tokenizations.p_value_read for one in found])
    assert (p_values <= np.minimum(2 * plain, 1) * (1 + 1e-9)).all()
    assert any(one.tokenizations.respelled for one in found)
    as_read = [one for one in found if one.tokenizations.tried and not one.tokenizations.respelled]
    assert as_read
    for one in as_read:  # nothing better was found; the search is paid for all the same
        assert one.p_value == min(1, 2 * one.tokenizations.p_value_read)


@pytest.mark.parametrize("name", ["left_hash", "self_hash", "unigram", "dipmark"])
def test_lists_of_green_tokens_are_not_searched(name):
    """No respelling could pay for the search; so nothing is paid."""
    ids = np.random.default_rng(12).integers(TOY.vocab_size, size=30)
    scheme = ALL_SCHEMES[name](bytes(16), TOY.vocab_size)
    plain, searched = (
        ticore.WatermarkDetector(TOY, scheme, tokenizations=each).detect_ids(ids)
        for each in ("read", "search")
    )
    assert searched.p_value == plain.p_value
    assert searched.tokenizations.tried is None
    assert searched.tokenizations.places > 0


def test_where_nothing_can_be_respelled_nothing_is_paid():
    toy = ToyTokenizer(["x", "y"])
    plain, searched = (
        ticore.WatermarkDetector(toy, "gumbel", key=bytes(16), tokenizations=each).detect_ids(
            [0, 1, 1, 0, 1, 0, 0, 0, 1]
        )
        for each in ("read", "search")
    )
    assert searched.p_value == plain.p_value
    assert searched.tokenizations.tried == 0


def written(scheme, rng, count):
    """Ids that a model without preferences writes with a watermark."""
    ids = rng.integers(TOY.vocab_size, size=5).tolist()
    while len(ids) < count:
        logits = scheme.bias(ids[len(ids) - scheme.context :], rng.gumbel(size=TOY.vocab_size))
        ids.append(int(np.argmax(logits)))
    return ids


def test_search_finds_the_tokens_that_were_written():
    rng = np.random.default_rng(9)
    scheme = SCHEMES["gumbel"](bytes(16), TOY.vocab_size)
    ids = written(scheme, rng, 60)
    moved = next(one for one in RESPELLER.moved_cuts(ids) if 20 < one.begin < 40)
    read = respelled(ids, [moved])
    assert TOY.decode(read) == TOY.decode(ids)
    plain, places, search = (
        ticore.WatermarkDetector(TOY, scheme, tokenizations=each).detect_ids(read)
        for each in ("read", "places", "search")
    )
    assert plain.tokenizations is None
    assert "tokenizations" not in plain.to_dict()
    assert places.p_value == plain.p_value == search.tokenizations.p_value_read
    assert respelled(read, search.tokenizations.respelled) == ids
    assert search.p_value < plain.p_value / 10
    assert search.segment == plain.segment
    assert (search.ids == plain.ids).all()
    values = json.loads(json.dumps(search.to_dict()))["tokenizations"]
    assert values["respelled"][0]["begin"] == search.tokenizations.respelled[0].begin
    assert values["tried"] == len(RESPELLER.all(read))


def test_search_counts_each_draw_once():
    """A text that was written once and copied twice, with the same cut moved in each copy."""
    rng = np.random.default_rng(9)
    scheme = SCHEMES["gumbel"](bytes(16), TOY.vocab_size)
    ids = written(scheme, rng, 40) * 3
    moved = RESPELLER.moved_cuts(ids)
    first = next(one for one in moved if 15 < one.begin < 30)
    alike = [one for one in moved if one.begin % 40 == first.begin and one.tokens == first.tokens]
    assert len(alike) == 3
    read = respelled(ids, alike)
    plain, search = (
        ticore.WatermarkDetector(TOY, scheme, tokenizations=each) for each in ("read", "search")
    )
    found, listed = search.detect_ids(read), RESPELLER.all(read)
    chosen = found.tokenizations.respelled
    assert chosen
    shares = log_shares(listed)
    paid = log_weight([shares[listed.index(one)] for one in chosen])
    of_chosen = plain.detect_ids(respelled(read, chosen)).p_value
    assert math.log(found.p_value) == pytest.approx(math.log(of_chosen) - paid)


def test_search_chooses_no_two_respellings_of_one_token(monkeypatch):
    """Each respelling seems to add much, so as many are taken as fit beside each other."""
    scheme = SCHEMES["gumbel"](bytes(16), TOY.vocab_size)
    ids = np.random.default_rng(1).integers(TOY.vocab_size, size=20).tolist()
    tried = []

    def note(ids, taken):
        tried.append(respelled(ids, taken))
        return tried[-1]

    monkeypatch.setattr(tokenization_search, "respelled", note)
    monkeypatch.setattr(
        tokenization_search, "_gains", lambda scheme, ids, listed: np.full(len(listed), 1e3)
    )
    tokenization_search.search(scheme, ids, 0.5, RESPELLER, once=True)
    assert len(tried) > 1
    assert {TOY.decode(one) for one in tried} == {TOY.decode(ids)}


def test_p_value_of_0_stays_0_whatever_it_pays():
    assert _divided(0.0, -9.0) == 0
    assert _divided(0.5, -9.0) == 1


def test_places_counts_the_tokens_that_have_a_moved_cut_in_their_context():
    toy = ToyTokenizer(["x", "ab", "c", "a", "bc", "y"])
    detector = ticore.WatermarkDetector(
        toy, "left_hash", key=bytes(16), repeats="all", tokenizations="places"
    )
    found = detector.detect_ids([0, 5, 1, 2, 0, 5, 0]).tokenizations
    assert (found.places, found.near) == (1, 3)  # ab, c and the x after them
    alone = ticore.WatermarkDetector(toy, "left_hash", key=bytes(16), repeats="all")
    green = alone.detect_ids([0, 5, 1, 2, 0, 5, 0]).scores[[1, 5, 6]].sum()
    assert found.p_value_apart == pytest.approx(
        sum(math.comb(3, more) for more in range(int(green), 4)) / 8
    )


def test_detector_refuses_an_unknown_way_to_look_at_tokenizations():
    with pytest.raises(SettingsError, match="tokenizations: expected one of read, places, search"):
        ticore.WatermarkDetector(TOY, key=bytes(16), tokenizations="all")


def test_search_over_a_list_keeps_to_its_rate_in_text_without_a_watermark():
    """500 texts; the p-value pays for 3 configurations and for all tokenizations."""
    rng = np.random.default_rng(10)
    found = []
    for _ in range(500):
        entries = [{"scheme": ["gumbel", "left_hash"], "key": rng.bytes(16)}]
        entries += [SCHEMES["gumbel"](rng.bytes(16), TOY.vocab_size, context=2)]
        detector = ticore.WatermarkDetector.any(TOY, entries, tokenizations="search", fpr=0.1)
        detector._respeller = RESPELLER
        found.append(detector.detect_ids(rng.integers(TOY.vocab_size, size=20)))
    p_values = np.array([one.p_value for one in found])
    for rate in (0.3, 0.1, 0.01):
        assert (p_values <= rate).sum() <= 500 * rate + 3 * math.sqrt(500 * rate)
    assert sum(bool(one.found) for one in found) == (p_values <= 0.1).sum()
    assert (p_values < 1).any()
    assert any(one.best.detection.tokenizations.respelled for one in found)


def test_search_over_a_list_finds_what_the_search_for_each_configuration_finds():
    rng = np.random.default_rng(11)
    keys = [bytes([number] * 16) for number in range(9)]
    scheme = SCHEMES["gumbel"](keys[4], TOY.vocab_size)
    read = written(scheme, rng, 40)
    for place in (8, 16, 24):
        read = respelled(
            read, [next(one for one in RESPELLER.moved_cuts(read) if one.begin > place)]
        )
    for repeats in ("once", "all"):
        plain, places, searched = (
            ticore.WatermarkDetector.any(
                TOY,
                [{"scheme": "gumbel", "key": keys}, {"scheme": "gumbel_payload", "key": keys[4]}],
                repeats=repeats,
                tokenizations=each,
            ).detect_ids(read)
            for each in ("read", "places", "search")
        )
        assert places.p_value == plain.p_value
        assert plain.best.detection.tokenizations is None
        assert searched.best.index == places.best.index == 4
        for each, found in (("places", places), ("search", searched)):
            alone = ticore.WatermarkDetector(TOY, scheme, tokenizations=each, repeats=repeats)
            expected = alone.detect_ids(read)
            assert found.best.detection.tokenizations == expected.tokenizations
            assert found.best.detection.p_value == expected.p_value
        assert searched.p_value < plain.p_value
        both = min(searched.best.detection.p_value, searched.best.detection.segment.p_value)
        assert searched.p_value == min(1.0, 10 * 2 * both)
        assert json.loads(json.dumps(searched.to_dict()))["best"]["detection"]["tokenizations"]


@pytest.mark.parametrize("tokenizations", ["places", "search"])
def test_ids_that_are_no_tokens_do_no_harm(tokenizations):
    """An engine puts -1 before a reply, and a model may have more logits than there are tokens."""
    ids = np.random.default_rng(0).integers(TOY.vocab_size, size=60).tolist()
    detector = ticore.WatermarkDetector.for_vllm(
        TOY, {"algorithm": "gumbel", "key": 42}, tokenizations=tokenizations
    )
    plain = detector.detect_ids(ids)
    for more in ([-1] * 4 + ids, [*ids, TOY.vocab_size + 7]):
        found = detector.detect_ids(more)
        assert found.tokenizations.places == plain.tokenizations.places
        assert found.scored > plain.scored
