"""A test that passed is not run again for the same tokenizer, and a test that failed is."""

import pytest

from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore._support import table_cache
from ticore.consistency import Verifier
from ticore.consistency._engines.passed_tests import checks_of
from ticore.consistency._unsupported import Unsupported
from ticore_tokenizers import HuggingFaceTokenizer, _opened_before


class Named(ToyTokenizer):
    """A tokenizer that names its file and its code."""

    def __init__(self, reader_digest):
        super().__init__(["a"])
        self.reader_digest = reader_digest


class Derived(Named):
    """The same, but it may read in another way."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "tables"))
    return tmp_path / "tables"


def test_checks_of_runs_a_test_again_only_for_another_tokenizer_or_test(monkeypatch):
    def ran(reader="one", test="round trip"):
        runs = []
        assert checks_of(Named(reader), test, lambda: runs.append(1) or 7) == 7
        return bool(runs)

    assert [ran(), ran(), ran(test="engine"), ran()] == [True, False, True, False]
    assert [ran("two"), ran("two"), ran()] == [True, False, True]
    with table_cache.ignore_stored():
        assert ran()
    assert ran("")
    assert ran("")
    checks_of(Named("one"), "round trip", lambda: 7)
    with pytest.raises(Unsupported):
        checks_of(Derived("one"), "round trip", fail)
    monkeypatch.setattr("ticore.consistency._engines.passed_tests.code_digest", lambda *_: "other")
    assert ran()


def test_checks_of_runs_a_test_that_failed_each_time():
    for _ in range(2):
        with pytest.raises(Unsupported, match="wrong"):
            checks_of(Named("one"), "engine", fail)
    assert checks_of(Named("one"), "engine", lambda: 3) == 3


def fail():
    raise Unsupported("wrong")


@pytest.mark.parametrize("method", ["table", "retokenize"])
def test_verifier_reads_no_text_where_its_tests_passed_before(method, tmp_path, monkeypatch):
    monkeypatch.setattr(_opened_before, "_MUCH", 0)
    path = tmp_path / "tokenizer.json"
    path.write_text(TRAINED["hf-gpt2"]()._library.to_str())
    first = HuggingFaceTokenizer.from_file(path)
    verifier = Verifier(first, method=method)
    again = HuggingFaceTokenizer.from_file(path)
    found = Verifier(again, method=method)
    assert "_library" not in vars(again)
    assert found.checks == verifier.checks
    assert (found.checks > 0) == (method == "table")
    assert found.start(first.encode("It's 12")).consistent
