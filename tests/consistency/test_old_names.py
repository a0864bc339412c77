"""Old spellings of the verifier's settings and answers work, and warn."""

import numpy as np
import pytest

import ticore.candidates
import ticore.consistency
from tests.support.toy_models import ToyTokenizer
from ticore.candidates import Pool
from ticore.consistency import Method, Verifier, audit
from ticore.errors import SettingsError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", "1", ".", "\n", " ", "\u0e3f"])


@pytest.mark.parametrize("settings", [{"rung": "retokenize"}, {"method": "oracle"}])
def test_verifier_accepts_the_old_name_of_a_method_or_its_argument(settings):
    with pytest.warns(DeprecationWarning, match="deprecated; use"):
        verifier = Verifier(TOY, **settings)
    assert verifier.method == "retokenize"


def test_verifier_warns_for_the_old_argument_and_for_its_old_value():
    with pytest.warns(DeprecationWarning, match="deprecated") as caught:
        Verifier(TOY, rung="oracle")
    assert [str(warning.message) for warning in caught] == [
        "Verifier(rung=...) is deprecated; use method=",
        "Verifier(method='oracle') is deprecated; use 'retokenize'",
    ]


def test_verifier_accepts_settings_by_position():
    with pytest.warns(DeprecationWarning, match=r"mode=..., view=\.\.\."):
        verifier = Verifier(TOY, "open", "continuation")
    assert (verifier.mode, verifier.view) == ("open", "continuation")


def test_verifier_still_refuses_a_method_that_never_was():
    with pytest.raises(SettingsError, match="method: expected one of table, suffix, retokenize"):
        Verifier(TOY, method="fast")


def test_rung_is_the_old_spelling_of_the_method():
    with pytest.warns(DeprecationWarning, match=r"use Verifier\.method"):
        assert Verifier(TOY).rung == "oracle"


def test_audit_accepts_its_mode_by_position_and_has_a_rung():
    with pytest.warns(DeprecationWarning, match=r"mode=\.\.\."):
        found = audit(TOY, "open")
    with pytest.warns(DeprecationWarning, match=r"use Audit\.method"):
        assert found.rung == "oracle"
    assert found.mode == "open"


def test_lost_and_finished_ok_are_old_names_of_answers():
    verification = Verifier(TOY).start([1, 2])
    with pytest.warns(DeprecationWarning, match=r"use Verification\.unrecoverable"):
        assert verification.lost == verification.unrecoverable
    with pytest.warns(DeprecationWarning, match=r"use Verification\.consistent"):
        assert verification.finished_ok() == verification.consistent


def test_names_that_packages_had_before_are_found():
    with pytest.warns(DeprecationWarning, match=r"use ticore\.consistency\.Method"):
        assert ticore.consistency.Rung is Method
    with pytest.warns(DeprecationWarning, match=r"use ticore\.candidates\.PROB_BITS"):
        assert ticore.candidates.MASS_BITS == ticore.candidates.PROB_BITS


def test_pool_has_its_fields_by_their_old_names():
    pool = Pool(np.array([1, 2]), np.array([0, -1024]))
    with pytest.warns(DeprecationWarning, match=r"use Pool\.rounded_logits"):
        assert pool.levels is pool.rounded_logits
    with pytest.warns(DeprecationWarning, match=r"use Pool\.unnormalized_probs"):
        assert pool.mass is pool.unnormalized_probs
