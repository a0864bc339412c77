"""Imported before the contracts: says what is missing, and lets pytest explain their failures."""

from .._support.installing import how_to_install
from ..errors import MissingExtraError

try:
    import hypothesis  # noqa: F401  # only to see whether it is there
    import pytest
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"expected pytest and hypothesis, which ticore.testing needs, found no package "
        f"{error.name!r}; {how_to_install('testing')}"
    ) from error

# Must come before these modules are imported.
pytest.register_assert_rewrite(
    *(
        f"{__package__}.{module}"
        for module in ("_codecs", "_disambiguations", "_models", "_schemes", "_tokenizers")
    )
)
