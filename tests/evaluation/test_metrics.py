"""The measures equal their definitions, and the divergences of the three steps add up."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore._support.shared_randomness import SharedRandomness
from ticore.codecs import CODECS
from ticore.disambiguation import DISAMBIGUATIONS
from ticore.errors import SettingsError
from ticore.evaluation._metrics import (
    Measures,
    Meter,
    entropy,
    kl_divergence,
    log_likelihood,
    peak_memory,
    perplexity,
    rate,
    softmax,
    total_variation,
)
from ticore.steganography import Steganographer

KEY = bytes(range(32))
LETTERS = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])

probabilities = st.lists(st.floats(0.001, 1), min_size=1, max_size=9).map(
    lambda masses: np.array(masses) / np.sum(masses)
)


@given(p=probabilities)
def test_entropy_equals_its_definition(p):
    assert entropy(p) == pytest.approx(stats.entropy(p, base=2), abs=1e-9)
    assert kl_divergence(p, p) == total_variation(p, p) == 0
    assert softmax(np.log(p) + 3) == pytest.approx(p)
    more = np.append(p, 0.0)
    assert entropy(more) == entropy(p)
    assert kl_divergence(more, more) == 0


@given(p=probabilities, seed=st.integers(0, 99))
@example(p=np.ones(1), seed=18)
def test_divergences_equal_their_definitions(p, seed):
    q = np.random.default_rng(seed).dirichlet(np.ones(len(p)))
    assert kl_divergence(q, p) == pytest.approx(stats.entropy(q, p, base=2), abs=1e-9)
    # Pinsker's inequality relates the two. Rounding may make a divergence of 0 negative.
    divergence = max(0.0, kl_divergence(q, p))
    assert total_variation(q, p) <= math.sqrt(divergence * math.log(2) / 2) + 1e-9


def test_kl_divergence_is_infinite_when_q_has_mass_where_p_has_not():
    assert kl_divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == math.inf
    assert total_variation(np.array([0.0, 1.0]), np.array([1.0, 0.0])) == 1


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "disambiguation",
    [name for name, spec in DISAMBIGUATIONS.items() if not (spec.searches or spec.branches)],
)
def test_divergences_of_the_three_steps_add_up(codec, disambiguation):
    stego = Steganographer(
        ToyModel(LETTERS, seed=3),
        key=KEY,
        codec=codec,
        disambiguation=disambiguation,
        top_k=6,
        temperature=1.3,
    )
    bits = np.random.default_rng(5).integers(0, 2, 64).tolist()
    meter = Meter(CODECS[codec].make("exact", SharedRandomness(KEY, "codec")), temperature=1.3)
    written = stego.embed_bits(bits, observer=meter)
    found = meter.measures()
    assert found.token_count == written.token_count
    assert found.kl == pytest.approx(
        found.kl_truncation + found.kl_filter + found.kl_codec, abs=1e-9
    )
    assert found.kl_truncation > 0.1  # top_k=6 of ten tokens
    assert (found.kl_filter > 0.01) == (disambiguation in ("basic", "mwis", "stepwise"))
    assert found.kl_filter == pytest.approx(written.kl_filter, abs=1e-3)  # the grid of logits
    assert (found.kl_codec > 0.001) == (codec == "huffman")
    assert 0.2 < found.utilisation(64) < 1.5
    assert 0 < found.total_variation < 1


def test_meter_refuses_steps_that_are_not_tokens():
    stego = Steganographer(ToyModel(LETTERS, seed=3), key=KEY, disambiguation="lookahead")
    with pytest.raises(SettingsError, match="expected one whose steps are tokens"):
        stego.embed_bits([0, 1], observer=Meter(CODECS["arithmetic"].make()))


@pytest.mark.parametrize("settings", [{}, {"disambiguation": "syncpool"}], ids=str)
def test_meter_perplexity_equals_that_of_the_written_tokens(settings):
    """Also where several tokens are one choice."""
    model = ToyModel(LETTERS, seed=3)
    stego = Steganographer(model, key=KEY, prompt="c", top_k=None, view="continuation", **settings)
    meter = Meter(CODECS["arithmetic"].make())
    written = stego.embed_bits([0, 1] * 20, observer=meter)
    prompt, ids = LETTERS.encode("c"), written.ids[: written.token_count]
    assert meter.measures().perplexity == pytest.approx(perplexity(model, prompt, ids))


def test_perplexity_equals_an_example_by_hand():
    model = ToyModel(LETTERS, seed=1)
    likely = [softmax(model.logits_after(some))[token] for some, token in (([6], 1), ([6, 1], 2))]
    assert log_likelihood(model, [6], [1, 2]) == pytest.approx(math.log(likely[0] * likely[1]))
    assert perplexity(model, [6], [1, 2]) == pytest.approx((likely[0] * likely[1]) ** -0.5)
    exact = ToyModel(LETTERS, context=2, seed=1)  # the last id need not be read
    assert perplexity(exact, [6], [1, 2]) == perplexity(model, [6], [1, 2])
    assert perplexity(ToyModel(LETTERS, context=1), [6], [1, 2]) is None


def test_measures_are_nan_without_steps():
    found = Meter(CODECS["arithmetic"].make()).measures()
    assert found.token_count == 0
    assert math.isnan(found.kl)
    assert math.isnan(found.utilisation(8))


def test_measures_tokens_is_the_old_name_of_token_count():
    found = Measures(7, *[0.5] * 7)
    with pytest.warns(DeprecationWarning, match=r"Measures\.tokens is deprecated"):
        assert found.tokens == found.token_count == 7


@given(trials=st.integers(1, 200), share=st.floats(0, 1))
def test_rate_interval_is_that_of_clopper_and_pearson(trials, share):
    events = round(share * trials)
    found = rate(events, trials)
    low, high = stats.binomtest(events, trials).proportion_ci(0.95)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.low <= found.value == events / trials <= found.high


def test_peak_memory_grows_with_what_is_allocated():
    if peak_memory() is None:
        pytest.skip("this system does not tell the peak memory")
    much = np.ones(2**29 // 8)  # of this process, of which the new one must not speak
    program = (
        "import numpy as np; from ticore.evaluation import peak_memory; before = peak_memory(); "
        "much = np.ones(2**28 // 8); print(before, peak_memory())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    before, after = map(int, done.stdout.split())
    assert 2**20 < before < 2**29 <= much.nbytes
    assert before + 2**27 < after < before + 2**29


def test_evaluation_exports_meter():
    assert ticore.evaluation.Meter is Meter
