"""transformers' own `generate`: what it writes is read back as the same tokens.

    model.generate(**inputs, custom_generate=consistent(tokenizer), do_sample=True, top_k=50)

Temperature, top-k, top-p, penalties, watermarks and stopping criteria are those of transformers.
Only which tokens are taken back, or never chosen, is decided here. If there are none, the text is
the one that `generate` writes by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from typing import Any, get_args

import torch
from transformers import LogitsProcessorList, PreTrainedModel, StoppingCriteriaList
from transformers.generation import logits_process as of_transformers
from transformers.generation.configuration_utils import GenerationMode
from transformers.generation.utils import GenerateDecoderOnlyOutput

from ticore.backend_kit import (
    ArrayDecoder,
    CheckedBatchDecoder,
    each_row,
    keywords_after,
    require_integer,
    require_one_of,
    require_tokenizer_of_model,
)
from ticore.backend_kit._reading import RowDecoder
from ticore.consistency import Verifier, View
from ticore.errors import SettingsError
from ticore.interfaces import Decoder, Tokenizer
from ticore.watermarking import Rollback, RollbackKind
from ticore.watermarking._logits import unspellable_ids
from ticore.watermarking._rollback import MAX_BACKTRACKS, max_rewind
from ticore_masks import verification_of
from ticore_torch import Network, TorchBatchedForward, TorchForward, ids_of

from ._caller import given_to_generate
from ._choosing import Chooser, Consistency, Wanted
from ._ends import spelled_ends
from ._processing import RowProcessors
from ._prompts import require_no_empty
from ._sequences import Sequences
from ._stop_strings import named_specials, strings_of, with_stop_strings
from ._synced import in_step, is_synced
from ._text import GeneratedText
from ._writing import Reader, write


@keywords_after(1)
def consistent(
    tokenizer: Tokenizer | object,
    *,
    observation: int = 2,
    view: View = "continuation",
    rollback: RollbackKind = "windowed",
    streamer: Any | None = None,
    consistency: Consistency = "rollback",
) -> Callable[..., Any]:
    """What `generate` takes as `custom_generate`, to write consistent texts.

    `ticore_transformers.generate` calls `generate` with it, and takes `streamer` and `stop_strings`
    where everybody expects them.

    Args:
        tokenizer: the receiver's, as `ticore.load_tokenizer` or transformers opens it; its ids are
            the model's.
        observation: of `rollback`: for how many further tokens an inconsistency is observed before
            it is taken back. The paper uses 2 for Llama 2 and 10 for Swallow and Qwen2.5.
        view: what the receiver retokenizes: the `continuation`, or the `whole`. Of the whole,
            special ids at its beginning are left out; those of a chat are kept, and what is between
            them is read by itself, see `ticore.Verifier`.
        rollback: `windowed`, what `ticore.watermarking.Generator` does by default. Its `exact` is
            refused: a text that is begun again would be begun again for streamers, stopping
            criteria and logits processors too, which have seen the one before.
        streamer: gets tokens when they are settled. None of them is taken back, and together they
            are the text that is written without a streamer. It is ended when the text ends, and
            when this fails. Give it here and not to `generate`, which does not pass its `streamer`
            on to functions like this one: a streamer of `generate` is ended, so that nobody waits
            for its text, and refused.
        consistency: `rollback` takes tokens back where an inconsistency stays. `masks` never
            chooses a token that makes the text inconsistent: it samples from what the logits
            processors leave, as if the others had been masked after them. If they leave none that
            keeps the text consistent, the mask comes first, and then the processors.

    Returns:
        A function for `generate`, which answers as always: prompts, continuations, an id that ended
        a text, and padding; or a `GenerateDecoderOnlyOutput` with `sequences`, and `scores` and
        `logits` if they are asked for. Where a row has ended, its scores and logits are -inf, and
        0 for the padding. The texts of a batch are read side by side, and each is rolled back by
        itself. A network that cannot do so reads one row after the other. Ids that no text can
        spell, such as special ones, are not written. Logits processors and stopping criteria are
        called with the rows that are equally long; after a rollback these are not all rows.

    Raises:
        SettingsError: `observation` is negative, `consistency` is unknown, `rollback` is not
            `windowed`, or `tokenizer` is not a tokenizer. When generating: its ids are not the
            model's, or one of these is asked for: beams, contrastive search, DoLa, guidance, an
            encoder, embeddings, pictures and other inputs beside ids, a filled cache, prompt
            lookup, an assistant, several tokens at once, a penalty on the prompts of a batch, a
            streamer of `generate` itself or for several texts, attentions or hidden states. Not
            noticed is `cache_implementation="paged"` of `generate`, with which transformers does
            not call this function; `ticore_transformers.generate` refuses it.
        PromptError: when generating: a prompt is empty, or in view `whole` not consistent.
        CapacityError: when generating: the logits processors leave no token to choose.
        ModelError: when generating: the network gives NaN or infinity.

    >>> generate = consistent(tokenizer)  # doctest: +SKIP
    >>> ids = model.generate(prompt, custom_generate=generate, max_new_tokens=50)  # doctest: +SKIP
    >>> new = ids[0, prompt.shape[1] :].tolist()  # doctest: +SKIP
    >>> tokenizer.encode(tokenizer.decode(new)) == new  # doctest: +SKIP
    True
    """
    if rollback != "windowed":
        raise SettingsError(
            f"rollback: expected 'windowed' in consistent(), found {rollback!r}; for whole texts "
            f"that are begun again (rollback='exact') write "
            f"ticore.consistent_generate(ticore.wrap(model, tokenizer), prompt, rollback='exact')"
        )
    return custom_generate(
        tokenizer, consistency=consistency, observation=observation, view=view, streamer=streamer
    )


def custom_generate(
    tokenizer: Tokenizer | object,
    *,
    consistency: Consistency = "rollback",
    observation: int = 2,
    view: View = "continuation",
    streamer: Any | None = None,
    log_probabilities: list[list[float]] | None = None,
) -> Callable[..., Any]:
    """As `consistent`.

    Args:
        log_probabilities: gets those of the tokens of each row, each in the distribution that it
            was drawn from.
    """
    require_one_of("consistency", consistency, get_args(Consistency))
    observation = require_integer("observation", observation, 0)
    verifier = Verifier(tokenizer, mode="prefix", view=view)

    def generate(
        model: PreTrainedModel,
        input_ids: Any,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config: Any,
        # `generate` hands over what has a name here and not in its own methods.
        stop_strings: str | list[str] | None = None,
        **inputs: Any,
    ) -> Any:
        _require_no_streamer(given_to_generate("streamer"))
        _require_plain(model, input_ids, logits_processor, generation_config, inputs, streamer)
        # With masks every token that is chosen is committed at once.
        waits = observation if consistency == "rollback" else 0
        backtracks = MAX_BACKTRACKS if consistency == "rollback" else 0
        criteria = with_stop_strings(
            stopping_criteria, stop_strings, verifier.tokenizer, input_ids.shape[1], waits + 1
        )
        prompts = _without_padding(input_ids, inputs)
        require_no_empty(prompts)
        verifications = each_row(partial(verification_of, verifier), prompts)
        # Where parameters are gathered for each pass, inference mode would make them useless for
        # training.
        network = Network(model, torch.no_grad if is_synced(model) else torch.inference_mode)
        reader, decoders = _decoders(network, prompts, max_rewind(waits, backtracks))
        width = len(decoders[0].logits())
        require_tokenizer_of_model(verifier.tokenizer, width)
        named = named_specials(strings_of(criteria), verifier.tokenizer)
        eos_ids = named.union(ids_of(generation_config.eos_token_id)).intersection(range(width))
        unspellable = unspellable_ids(verifier.tokenizer, width)
        never = sorted(unspellable.difference(eos_ids).intersection(range(width)))
        spelled = spelled_ends(verifier.tokenizer, eos_ids)
        most = (generation_config.max_length or 0) - input_ids.shape[1]
        texts = [
            GeneratedText(
                row,
                decoder,
                verification,
                Rollback(
                    decoder,
                    verification,
                    _chooses_elsewhere,
                    max_new_tokens=most,
                    observation=waits,
                    eos_ids=eos_ids,
                    max_backtracks=backtracks,
                    never=never,
                    spelled_ends=spelled,
                ),
                streamer,
            )
            for row, (decoder, verification) in enumerate(zip(decoders, verifications, strict=True))
        ]
        sequences = Sequences(input_ids, most)
        wanted = _wanted(generation_config, log_probabilities is not None)
        chooser = Chooser(
            RowProcessors(logits_processor, sequences),
            sequences,
            sample=bool(generation_config.do_sample),
            never=torch.tensor(never, dtype=torch.int64, device=decoders[0].logits().device),
            consistency=consistency,
            end_ids=eos_ids - spelled,
            wanted=wanted,
        )
        if streamer is not None:
            streamer.put(input_ids.cpu())
        write(texts, chooser, reader, criteria, sequences)
        if log_probabilities is not None:
            log_probabilities.extend(text.log_probabilities.first(len(text.ids)) for text in texts)
        (pad, *_) = *ids_of(generation_config.pad_token_id), *sorted(eos_ids), 0
        return _answer(texts, input_ids, pad, generation_config, wanted)

    @wraps(generate)  # transformers looks at what a function takes
    def together(model: PreTrainedModel, input_ids: Any, **given: Any) -> Any:
        others = in_step(model) if is_synced(model) else nullcontext()
        with others, _ending(streamer):
            return generate(model, input_ids, **given)

    return together


@contextmanager
def _ending(streamer: Any | None) -> Iterator[None]:
    """The streamer is ended at last, whatever happens: somebody may wait for it."""
    try:
        yield
    finally:
        if streamer is not None:
            streamer.end()


def _chooses_elsewhere(ids: Sequence[int], logits: Any) -> int:
    """Stands for the sampler of a Rollback whose tokens the Chooser chooses."""
    raise AssertionError("a Rollback chose a token by itself")


def _wanted(config: Any, log_probabilities: bool) -> Wanted:
    asked = bool(config.return_dict_in_generate)
    return Wanted(
        scores=asked and bool(config.output_scores),
        logits=asked and bool(config.output_logits),
        log_probabilities=log_probabilities,
    )


class _OneByOne:
    """Reads the rows one after the other."""

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        self._decoders = dict(enumerate(decoders))

    def push(self, tokens: Mapping[int, int]) -> None:
        for row, token in tokens.items():
            self._decoders[row].push(token)

    def drop(self, row: int) -> None:
        del self._decoders[row]


def _decoders(
    network: Network, prompts: list[list[int]], rewindable: int
) -> tuple[Reader, Sequence[Decoder]]:
    """A Decoder for each prompt, and what reads tokens for all of them.

    One text is read as `generate` reads it, to the same bits.
    """
    if network.keeps_one_text and len(prompts) > 1:
        raise SettingsError(
            f"expected one text at a time, found {len(prompts)}: {type(network.module).__name__} "
            f"keeps what it read of a text in itself; generate them one after the other"
        )
    if len(prompts) == 1 or not network.pads:
        decoders = [
            ArrayDecoder(_Unbounded(), TorchForward(network, torch.clone), prompt, prompt)
            for prompt in prompts
        ]
        return _OneByOne(decoders), decoders
    rows = TorchBatchedForward(network, _as_they_are)
    batch = CheckedBatchDecoder(_Unbounded(), rows, prompts, rows.begin(prompts), rewindable)
    return batch, [RowDecoder(batch, number) for number in range(len(prompts))]


def _as_they_are(logits: torch.Tensor) -> Any:
    return logits


class _Unbounded:
    """A model whose limits are not looked at here: `generate` warns of a full context itself."""

    logit_width = context_length = sys.maxsize


def _answer(
    texts: Sequence[GeneratedText], prompts: torch.Tensor, pad: int, config: Any, wanted: Wanted
) -> Any:
    """What `generate` returns."""
    written = [text.ids for text in texts]
    longest = max(map(len, written))
    padded = torch.tensor([ids + [pad] * (longest - len(ids)) for ids in written])
    sequences = torch.cat([prompts, padded.to(prompts)], dim=1)
    if not config.return_dict_in_generate:
        return sequences
    output: Any = GenerateDecoderOnlyOutput
    return output(
        sequences=sequences,
        scores=_by_step([t.scores.first(len(t.ids)) for t in texts], pad)
        if wanted.scores
        else None,
        logits=_by_step([t.raw_logits.first(len(t.ids)) for t in texts], pad)
        if wanted.logits
        else None,
    )


def _by_step(rows: Sequence[Sequence[torch.Tensor]], pad: int) -> tuple[torch.Tensor, ...]:
    """A tensor float32[rows, width] for each step. Rows that have ended choose the padding."""
    some = next((row[0] for row in rows if row), None)
    if some is None:
        return ()
    padding = torch.full_like(some, -torch.inf)
    if 0 <= pad < len(padding):
        padding[pad] = 0.0
    return tuple(
        torch.stack([row[step] if step < len(row) else padding for row in rows])
        for step in range(max(map(len, rows)))
    )


def _require_no_streamer(found: Any) -> None:
    if found is not None:
        found.end()  # Otherwise its reader, in another thread, waits for ever.
        raise SettingsError(
            "expected streamer= among the arguments of consistent(), found it among those of "
            "generate(), which does not hand it on; write "
            "custom_generate=consistent(tokenizer, streamer=streamer)"
        )


def _without_padding(input_ids: torch.Tensor, inputs: dict[str, Any]) -> list[list[int]]:
    mask = inputs.get("attention_mask")  # None where there is no padding
    if mask is None:
        return [row.tolist() for row in input_ids]
    return [row[kept.bool()].tolist() for row, kept in zip(input_ids, mask, strict=True)]


# They hold a tensor with a row for each prompt.
_PER_PROMPT = (
    of_transformers.EncoderNoRepeatNGramLogitsProcessor,
    of_transformers.EncoderRepetitionPenaltyLogitsProcessor,
)

_MODES = (GenerationMode.SAMPLE, GenerationMode.GREEDY_SEARCH)

# What `generate` hands over beside the ids that says no more than they do. Caches have names of
# several versions; what is in one is looked at.
_INPUTS = frozenset(
    (
        "attention_mask",
        "position_ids",
        "logits_to_keep",
        "use_cache",
        "cache",
        "past_key_values",
        "cache_params",
        "output_attentions",
        "output_hidden_states",
    )
)


def require_no_encoder(model: PreTrainedModel) -> None:
    """Refuse a model whose prompts an encoder reads. Raises SettingsError."""
    if model.config.is_encoder_decoder:
        raise _not_plain("an encoder")


def _require_plain(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    processors: LogitsProcessorList,
    config: Any,
    inputs: dict[str, Any],
    streamer: Any | None,
) -> None:
    """Refuse what would be left out silently."""
    require_no_encoder(model)
    # Before transformers 5.24 it was named past_key_values.
    cache = inputs.get("cache", inputs.get("past_key_values"))
    others = _beside_ids(inputs)
    mode = config.get_generation_mode()
    refused = {
        "beams": (config.num_beams or 1) > 1,
        "prompt lookup": getattr(config, "prompt_lookup_num_tokens", None) is not None,
        "an early exit as assistant": getattr(config, "assistant_early_exit", None) is not None,
        "several tokens at once (use_mtp)": bool(getattr(config, "use_mtp", False)),
        "an assistant_model": given_to_generate("assistant_model") is not None,
        "guidance": any(hasattr(p, "unconditional_context") for p in processors),
        "contrastive search (penalty_alpha)": mode == GenerationMode.CONTRASTIVE_SEARCH,
        "DoLa (dola_layers)": getattr(config, "dola_layers", None) is not None,
        f"the mode {mode.value}": mode not in _MODES,
        "embeddings in place of ids": inputs.get("inputs_embeds") is not None,
        "a cache that is filled already": cache is not None and cache.get_seq_length() > 0,
        f"model inputs beside ids ({', '.join(others)})": bool(others),
        "position_ids that do not count the ids": not _counts(input_ids, inputs),
        "a streamer for several texts": streamer is not None and len(input_ids) > 1,
        "a penalty on the prompts of a batch": len(input_ids) > 1
        and any(isinstance(processor, _PER_PROMPT) for processor in processors),
        "attentions or hidden states": bool(config.return_dict_in_generate)
        and (bool(config.output_attentions) or bool(config.output_hidden_states)),
    }
    for name, found in refused.items():
        if found:
            raise _not_plain(name)


def _beside_ids(inputs: Mapping[str, Any]) -> list[str]:
    """The names of the model inputs that say more than the ids.

    transformers also hands over empty ones of a text without pictures. A picture may have been read
    already: then it is named by its kind.
    """
    found = []
    for name, value in inputs.items():
        if value is None or name in _INPUTS:
            continue
        if name == "mm_encoder_outputs":
            found += list(value)
        elif name != "mm_token_type_ids" or bool(value.any()):  # 0 for an id of the text itself
            found.append(name)
    return sorted(found)


def _counts(input_ids: torch.Tensor, inputs: Mapping[str, Any]) -> bool:
    """Whether the positions are 0, 1, 2, ... of the ids that are no padding, if there are any.

    Those of several dimensions, of models that also read pictures, are not looked at.
    """
    positions, mask = inputs.get("position_ids"), inputs.get("attention_mask")
    if positions is None or positions.ndim != 2:
        return True
    kept = torch.ones_like(input_ids) if mask is None else mask
    counted = kept.cumsum(dim=1) - 1
    return positions.shape[1] == kept.shape[1] and bool(
        ((positions == counted) | (kept == 0)).all()
    )


def _not_plain(found: str) -> SettingsError:
    return SettingsError(
        f"expected plain sampling or greedy choice from token ids, found {found}, which "
        f"consistent() does not do; leave it out, or generate without custom_generate, "
        f"with ConsistentLogitsProcessor among the logits processors, as "
        f"ticore_transformers.generate(..., consistency='masks') does for beams; an "
        f"assistant must then have the model's own tokenizer"
    )
