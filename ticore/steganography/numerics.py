"""Which machines read each other's texts: those that compute the same logits, or nearly the same.

A cache, a batch or another device changes the last bits of logits, and one logit that is rounded
otherwise destroys all that follows. So there are two ways to agree:

`same-stack`   writer and reader call the same model in the same way on the same kind of machine:
               the prompt at once, then token by token. The bits are then equal.
`portable`     both compute in float64, in whatever way and with whatever backend. Their logits
               differ by less than `TOLERANCE`, and no text is sent where that would matter: the
               writer sees to it that no logit of importance lies so near a rounding boundary.
"""

from __future__ import annotations

from typing import Literal

from ..errors import SettingsError
from ..interfaces import LanguageModel, PortableModel

Numerics = Literal["same-stack", "portable"]

TOLERANCE = 2.0**-30
"""How far apart logits of float64 may be that two machines compute, about 1e-9.

Backends are found to differ by 1e-12 on a small model. A coarser tolerance costs texts: of about
100 logits that matter in a step, a share of 2 x tolerance x 2^grid_bits lies too near a boundary.
"""


def model_digest(model: LanguageModel, numerics: Numerics) -> str:
    """The digest that both sides' models must have in common.

    Raises:
        SettingsError: `numerics` is `portable`, and the model is not, or not in float64.
    """
    if numerics == "same-stack":
        return model.digest()
    if not isinstance(model, PortableModel):
        raise SettingsError(
            f"numerics: expected a model that other backends compute as well, found "
            f"{type(model).__name__}, which has no portable_digest; use 'same-stack'"
        )
    return model.portable_digest()
