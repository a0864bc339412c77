"""What every watermarking scheme keeps."""

from __future__ import annotations

import copy
import pickle
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from ..schemes import Scheme
from ..schemes._evidence import BatchEvidence, Evidence
from ._same import require_same

_TEXTS, _LENGTH = 400, 120
# Under the null distribution a share of 0.05 of the texts has a p-value of at most 0.05. With 400
# texts that is 20, and 38 is more than 4 standard deviations above.
_LEVEL, _MOST_BELOW = 0.05, 38
_CLEAR = 1e-6  # the p-value of 300 watermarked tokens is far below


class SchemeContract:
    """A scheme finds in a text what it preferred when the text was written.

    Needs a fixture `scheme`: a scheme for `vocab_size` tokens.

    Attributes:
        vocab_size: number of ids that the scheme knows.
        temperature: of the random logits with which a text is written. A scheme with a weak bias
            needs a higher one.

    A complete test file, for a scheme that prefers ids whose parity follows a key:

        import numpy as np
        import pytest

        from ticore.schemes import Evidence, Greens
        from ticore.testing import SchemeContract


        class Parity:
            context, greedy = 1, False
            null = Greens(0.5, 0.9)

            def __init__(self, key):
                self.key = key

            def bias(self, context, logits):
                before = np.asarray(context)[..., -1:]
                greens = self.is_green(before, np.arange(logits.shape[-1])[None])
                return logits + 4.0 * greens.reshape(logits.shape)

            def evidence(self, ids):
                ids = np.asarray(ids, dtype=np.int64)
                at = np.arange(1, max(len(ids), 1))
                before, token = ids[at - 1], ids[at]
                scores = self.is_green(before, token).astype(float)
                return Evidence(at, before, before << 32 | token, scores)

            def is_green(self, before, token):
                mixed = np.asarray((before * 7919 + token) * 2654435761 + self.key, np.uint64)
                return (mixed * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)) % 2 == 1


        class TestParity(SchemeContract):
            @pytest.fixture
            def scheme(self):
                return Parity(key=1234567)
    """

    vocab_size: ClassVar[int] = 500
    temperature: ClassVar[float] = 1.0

    def test_evidence_scores_every_token_after_the_first_context(self, scheme: Scheme) -> None:
        @settings(deadline=None)
        @given(ids=st.lists(st.integers(0, self.vocab_size - 1), max_size=12 + scheme.context))
        def check(ids: list[int]) -> None:
            evidence = scheme.evidence(ids)
            assert evidence.positions.tolist() == list(range(scheme.context, len(ids)))
            assert np.isfinite(evidence.scores).all()

        check()

    def test_score_of_a_token_depends_on_its_context_alone(self, scheme: Scheme) -> None:
        ids = self._random_ids(1)
        whole = scheme.evidence(ids)
        for start in (1, 7, 40):
            part = scheme.evidence(ids[start:])
            require_same(part.scores.tolist(), whole.scores[start:].tolist(), "scores")
            require_same(part.draw_ids.tolist(), whole.draw_ids[start:].tolist(), "draw_ids")

    def test_bias_leaves_the_logits_of_the_caller_unchanged(self, scheme: Scheme) -> None:
        logits = np.linspace(-1, 1, self.vocab_size)
        before = logits.copy()
        biased = scheme.bias(list(range(scheme.context)), logits)
        assert biased.shape == logits.shape
        assert (logits == before).all()

    def test_bias_of_several_texts_is_that_of_each(self, scheme: Scheme) -> None:
        rng = np.random.default_rng(2)
        contexts = rng.integers(0, self.vocab_size, size=(3, scheme.context))
        logits = rng.normal(size=(3, self.vocab_size))
        alone = [scheme.bias(c.tolist(), row) for c, row in zip(contexts, logits, strict=True)]
        np.testing.assert_allclose(scheme.bias(contexts, logits), np.stack(alone), rtol=1e-9)

    def test_bias_never_prefers_logits_without_a_token(self, scheme: Scheme) -> None:
        """A model may have more logits than its tokenizer has ids."""
        context = list(range(scheme.context))
        logits = np.linspace(0, 1, self.vocab_size + 12)
        biased = scheme.bias(context, logits)
        inside, beyond = biased[: self.vocab_size], biased[self.vocab_size :]
        assert (inside == scheme.bias(context, logits[: self.vocab_size])).all()
        if scheme.greedy:
            assert (beyond == -np.inf).all()
        else:
            assert (beyond == logits[self.vocab_size :]).all()

    def test_bias_takes_a_context_with_ids_beyond_the_vocabulary(self, scheme: Scheme) -> None:
        """A prompt may hold ids that the tokenizer does not have."""
        context = [self.vocab_size + 40] * scheme.context
        biased = scheme.bias(context, np.zeros(self.vocab_size))
        assert np.isfinite(biased.max())  # a scheme may exclude tokens by -inf, but not all

    def test_p_values_of_random_texts_are_not_too_small(self, scheme: Scheme) -> None:
        below = sum(
            _p_value(scheme, scheme.evidence(self._random_ids(seed))) <= _LEVEL
            for seed in range(_TEXTS)
        )
        assert below <= _MOST_BELOW

    def test_watermarked_text_has_a_tiny_p_value(self, scheme: Scheme) -> None:
        rng = np.random.default_rng(3)
        ids: list[int] = self._random_ids(4)[: scheme.context].tolist()
        for _ in range(300):
            logits = rng.normal(size=self.vocab_size) * self.temperature
            biased = scheme.bias(ids[len(ids) - scheme.context :], logits)
            if not scheme.greedy:
                biased = biased + rng.gumbel(size=self.vocab_size)  # samples from the softmax
            ids.append(int(np.argmax(biased)))
        assert _p_value(scheme, scheme.evidence(ids)) < _CLEAR

    def test_a_copy_is_the_same_scheme(self, scheme: Scheme) -> None:
        """Worker processes get a pickled copy."""
        ids, context = self._random_ids(5), list(range(scheme.context))
        logits = np.zeros(self.vocab_size)
        for copied in (pickle.loads(pickle.dumps(scheme)), copy.deepcopy(scheme)):
            found, expected = copied.evidence(ids), scheme.evidence(ids)
            require_same(found.scores.tolist(), expected.scores.tolist(), "scores")
            assert (copied.bias(context, logits) == scheme.bias(context, logits)).all()

    def _random_ids(self, seed: int) -> npt.NDArray[np.int64]:
        return np.random.default_rng(seed).integers(0, self.vocab_size, _LENGTH)


def _p_value(scheme: Scheme, evidence: Evidence) -> Any:
    """The p-value, with each random number counted once."""
    return scheme.null.p_values(BatchEvidence.of(evidence.distinct()))[0]
