"""The detectors at hand, and the analysis with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks._harness.progress import messages as console
from benchmarks._harness.progress import progress_bar
from benchmarks.paper.analysis import AnalysisOptions
from ticore._support.installing import how_to_install
from ticore.errors import MissingExtraError

from .detectors.model_statistics import Boosting
from .summary import steps, summarize
from .trials import MakeDetector

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject


def run(rows: Mapping[str, Sequence[JsonObject]], options: AnalysisOptions) -> JsonObject:
    """The accuracies of all detectors at hand; see `summary.summarize`.

    Args:
        rows: of the parts `messages` and `covers`.
        options: the seed is that of splits and of training.

    Raises:
        MissingExtraError: scikit-learn or torch is not installed.
    """
    detectors = at_hand(options.encoder)
    with progress_bar(steps(rows["messages"], detectors)) as advance:
        return summarize(
            rows["messages"], rows["covers"], detectors, options.seed, partial(advance, 1)
        )


def at_hand(encoder: Path | None) -> dict[str, MakeDetector]:
    """Detectors by name."""
    for package, extra in (("sklearn", "benchmarks"), ("torch", "torch")):
        if find_spec(package) is None:
            raise MissingExtraError(f"No module named '{package}'; {how_to_install(extra)}")
    from .detectors.networks import (  # noqa: PLC0415  # torch is an extra
        LsCnn,
        NetworkDetector,
        RBiLstmC,
        SmallTransformer,
    )
    from .detectors.sentence_model import FineTuned  # noqa: PLC0415  # torch is an extra

    found: dict[str, MakeDetector] = {
        "length alone": partial(Boosting, ["tokens"]),
        "the model itself": Boosting,
        "LS-CNN": partial(NetworkDetector, LsCnn),
        "R-BiLSTM-C": partial(NetworkDetector, RBiLstmC),
    }
    if encoder is None:
        console.print("no --encoder: a small transformer stands in for it")
        found["small transformer"] = partial(NetworkDetector, SmallTransformer)
    else:
        found[encoder.name] = partial(FineTuned, encoder)
    return found
