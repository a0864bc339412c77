"""A detection with what other tokens of the writer may have done to it."""

from __future__ import annotations

from dataclasses import replace

from ..schemes import Detectable, NullDistribution
from ..schemes._evidence import Evidence
from ._detection import Detection
from ._respellings import Respeller
from ._tokenization_search import check_places, search


def with_places(
    one: Detection, null: NullDistribution, context: int, counted: Evidence, respeller: Respeller
) -> Detection:
    """The detection with the evidence beside places that a writer may tokenize otherwise.

    Args:
        one: as the tokens are read.
        null: of the evidence that counts.
        context: of the scheme.
        counted: the evidence that counts.
        respeller: of the tokenizer.
    """
    check = check_places(null, context, one.ids.tolist(), counted, respeller)
    return replace(one, tokenizations=check)


def with_search(
    one: Detection,
    scheme: Detectable,
    null: NullDistribution,
    counted: Evidence,
    respeller: Respeller,
    *,
    once: bool,
) -> Detection:
    """As `with_places`, with the p-value of the best tokenization that is found, which pays for it.

    The verdict stays as it was.

    Args:
        one, null, counted, respeller: as for `with_places`.
        scheme: scores the tokenizations that are tried.
        once: whether each draw counts once.
    """
    p_value, tried, respelled = search(scheme, one.ids.tolist(), one.p_value, respeller, once=once)
    check = check_places(null, scheme.context, one.ids.tolist(), counted, respeller)
    check = replace(check, tried=tried, respelled=respelled)
    return replace(one, p_value=p_value, tokenizations=check)
