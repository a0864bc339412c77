"""Settings for all tests. `HYPOTHESIS_PROFILE=thorough` searches longer, and at random."""

import gc
import os
import signal
import sys

# Workers are as many as cores already. Set before anything imports NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from tests.support.seeded_entropy import seeded_entropy
from tests.support.tokenizers import REAL

pytest.register_assert_rewrite("tests.support.tokenizer_contract", "tests.support.random_bpe")

# The same examples on every run: a failure in continuous integration is a failure everywhere.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=24)
settings.register_profile("thorough", deadline=None, max_examples=3000)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(PROFILE)


@pytest.hookimpl(tryfirst=True)  # before the tests without a marker are left out
def pytest_collection_modifyitems(config, items):
    """Tests of real tokenizers are slow: to open one takes seconds. Quick ones are in slow ones."""
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if any(isinstance(value, str) and value in REAL for value in parameters.values()):
            item.add_marker(pytest.mark.slow)
    if "not slow" not in config.option.markexpr:
        config.hook.pytest_deselected(items=[item for item in items if _is_quick(item)])
        items[:] = [item for item in items if not _is_quick(item)]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """What is imported and collected by now stays: the collector need not look at it each time."""
    gc.collect()
    gc.freeze()


def _is_quick(item):
    return item.get_closest_marker("quick") is not None


if PROFILE == "ci":

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(fixturedef, request):
        """Whichever test is the first one to need it, and in whichever process."""
        with seeded_entropy(f"{request.node.nodeid} {fixturedef.argname} {request.param_index}"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item):
        with seeded_entropy(item.nodeid):
            return (yield)


@pytest.fixture(scope="session", autouse=True)
def caches_of_this_run(tmp_path_factory):
    """Each run makes tables once, in one worker for all, and not in the user's cache.

    So it is with what JAX compiles: a program that two tests, or the processes they start, need.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    compiled = {
        "jax_compilation_cache_dir": str(folder / "compiled"),
        "jax_compilation_cache_max_size": 2**30,  # with a limit it locks, so no half file is read
        "jax_persistent_cache_min_compile_time_secs": 0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TICORE_CACHE", str(folder / "tables"))
        for name, value in compiled.items():
            patch.setenv(name.upper(), str(value))
            if "jax" in sys.modules:  # a test module imported it: it has read the environment
                sys.modules["jax"].config.update(name, value)
        yield


@pytest.fixture(autouse=True)
def interrupts_arrive():
    """A shell that runs tests in the background makes them, and what they start, ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
