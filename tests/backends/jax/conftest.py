"""One model for all tests that only ask how a model behaves: its programs are compiled once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ticore.interfaces import LanguageModel

# Where transformers or torch is missing, to import the models skips a test and not all of them.


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.support.jax_checkpoints import save  # noqa: PLC0415

    return save(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="session")
def model(folder: Path) -> LanguageModel:
    from tests.support.jax_checkpoints import load  # noqa: PLC0415

    return load(folder)


@pytest.fixture
def hardly_optimized() -> Iterator[None]:
    """For many small networks that run once: XLA takes longer to optimize than to run them."""
    config, name = pytest.importorskip("jax").config, "jax_disable_most_optimizations"
    before = config.values[name]
    config.update(name, True)
    yield
    config.update(name, before)
