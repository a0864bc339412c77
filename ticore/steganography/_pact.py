"""`Pact`, for one release: the former name of an Agreement with a key and the model's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ._agreement import Agreement


class _FormerName(type):
    """An Agreement is an instance of its former name."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Agreement)


class Pact(metaclass=_FormerName):
    """Makes an `Agreement` from the arguments that a Pact had."""

    load = staticmethod(Agreement.load)
    loads = staticmethod(Agreement.loads)

    def __new__(  # type: ignore[misc]  # it makes an Agreement, which is what a Pact is now
        cls,
        model_place: str,
        key: Any,
        agreement: Agreement,
        options: Mapping[str, str] | None = None,
    ) -> Agreement:
        return replace(agreement, key=key, model_place=model_place, model_options=options or {})
