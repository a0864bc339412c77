"""Which machines read each other's texts: those that compute the same logits, or nearly the same.

A cache, a batch or another device changes the last bits of logits. If one logit is rounded
differently, all that follows is lost. So there are two ways to agree:

`same-stack`   Writer and reader call the same model in the same way on the same kind of machine:
               the prompt at once, then token by token. Their logits are equal bit for bit.
`portable`     Both compute in float64, with any backend. Their logits differ by less than
               `TOLERANCE`. The writer discards a text if that could matter, since a relevant
               logit is that close to a rounding boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..errors import SettingsError
from ..interfaces import LanguageModel, PortableModel

Numerics = Literal["same-stack", "portable"]

TOLERANCE = 2.0**-30
"""By how much the float64 logits of two machines may differ, about 1e-9.

Backends were measured to differ by 1e-12 on a small model. With a coarser tolerance more texts are
discarded: of about 100 relevant logits per step, a share of 2 x tolerance x 2^grid_bits is too
close to a boundary.
"""


def loading_options(options: Mapping[str, str], numerics: Numerics | None) -> dict[str, str]:
    """What `load_model` takes: float64 where `portable`, unless `options` say otherwise.

    Args:
        options: of `load_model`.
        numerics: None for those of new messages.
    """
    return {"dtype": "float64", **options} if numerics == "portable" else dict(options)


def model_digest(model: LanguageModel, numerics: Numerics) -> str:
    """The digest that must be the same on both sides.

    Raises:
        SettingsError: `numerics` is `portable`, and the model has no portable digest or computes
            in less than float64.
    """
    if numerics == "same-stack":
        return model.digest()
    if not isinstance(model, PortableModel):
        raise SettingsError(
            f"numerics: expected a model that other backends compute as well, found "
            f"{type(model).__name__}, which has no portable_digest; use 'same-stack'"
        )
    return model.portable_digest()
