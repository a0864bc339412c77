"""A model of transformers that is in memory already, without its files."""

from __future__ import annotations

from functools import partial

from transformers import PreTrainedModel

from ticore.backend_kit.checkpoint import StartToken
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import Tokenizer

from ._loading import positions_of, require_logits, special_ids
from ._model import TorchModel
from ._network import Network
from ._precision import reproducible
from ._probe import probe
from ._weights import asking

_NAME = "the model in memory"


def adopt(found: object, tokenizer: Tokenizer, original: object) -> TorchModel | None:
    """A TorchModel of a model that transformers has loaded; None if it is no such model.

    Args:
        found: the model. It is shared, not copied, and keeps its device and dtype.
        tokenizer: as ticore sees it.
        original: the tokenizer of transformers, which says whether texts begin with a start token.

    Raises:
        SettingsError: the model is in training mode, or its tokenizer is not one of transformers
            or has more ids than the model has logits.
        ModelFilesError: it is no causal language model, it cannot be run, or its logits are not
            finite.
    """
    if not isinstance(found, PreTrainedModel):
        return None
    if found.training:
        raise SettingsError(
            "expected a model ready to generate, found one in training mode, which drops units at "
            "random; call model.eval() first"
        )
    if found.config.is_encoder_decoder:
        raise ModelFilesError(
            f"expected a causal language model, found {type(found).__name__}, which also has an "
            f"encoder; choose a model that continues texts, and open it with AutoModelForCausalLM"
        )
    with asking(_NAME):
        network = Network(found, partial(reproducible, found.dtype))
        width = probe(_NAME, network, found.dtype)
    if tokenizer.vocab_size > width:
        raise SettingsError(
            f"expected a tokenizer of at most {width} ids, as many as the model has logits, found "
            f"{tokenizer.vocab_size}; give the tokenizer that the model was trained with"
        )
    bos, eos = special_ids(found, "bos_token_id"), special_ids(found, "eos_token_id")
    require_logits(_NAME, width, bos_token_id=bos, eos_token_id=eos)
    return TorchModel(
        network,
        tokenizer,
        width=width,
        checkpoint=None,
        start=_start_token(original, [*bos, *eos]),
        positions=positions_of(found.config),
        eos_ids=frozenset(eos),
    )


def _start_token(original: object, instead: list[int]) -> StartToken:
    """What the tokenizer puts before a text; before an empty one, what the config names."""
    special = getattr(original, "all_special_ids", None)
    if special is None or not callable(original):
        raise SettingsError(
            f"expected the tokenizer of transformers that belongs to the model, found a "
            f"{type(original).__module__}.{type(original).__qualname__}; give what "
            f"AutoTokenizer.from_pretrained returns"
        )
    # What stands before every text, not what a tokenizer puts after an empty one.
    first, first_of_text = (next(iter(original(text)["input_ids"]), None) for text in ("", "a"))
    if first is not None and first == first_of_text and first in special:
        return StartToken(int(first), always=True)
    return StartToken(next(iter(instead), None), always=False)
