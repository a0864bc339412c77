"""transformers' own `generate`, with rollback: what it writes is read back as the same tokens.

    model.generate(**inputs, custom_generate=consistent(tokenizer), do_sample=True, top_k=50)

Temperature, top-k, top-p, penalties, watermarks and stopping criteria are those of transformers.
Only which tokens are taken back is decided here. If none is taken back, and no special one would be
drawn, the text is the one that `generate` writes by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from transformers import LogitsProcessorList, PreTrainedModel, StoppingCriteriaList
from transformers.generation.utils import GenerateDecoderOnlyOutput

from ticore.backend_kit import (
    ArrayDecoder,
    CheckedBatchDecoder,
    each_row,
    keywords_after,
    require_tokenizer_of_model,
)
from ticore.backend_kit._reading import RowDecoder
from ticore.consistency import Verifier, View
from ticore.errors import CapacityError, SettingsError
from ticore.interfaces import Decoder, Tokenizer
from ticore.watermarking import Rollback, RollbackKind, excluding
from ticore.watermarking._batching import write_together
from ticore.watermarking._rollback import MAX_BACKTRACKS, max_rewind
from ticore_masks import verification_of
from ticore_torch import Network, TorchBatchedForward, TorchForward, ids_of

from ._caller import given_to_generate


@keywords_after(1)
def consistent(
    tokenizer: Tokenizer | object,
    *,
    observation: int = 2,
    view: View = "continuation",
    rollback: RollbackKind = "windowed",
    streamer: Any | None = None,
) -> Callable[..., Any]:
    """What `generate` takes as `custom_generate`, to write consistent texts.

    Args:
        tokenizer: the receiver's, as `ticore.load_tokenizer` or transformers opens it; its ids are
            the model's.
        observation: for how many further tokens an inconsistency is observed before it is taken
            back. The paper uses 2 for Llama 2 and 10 for Swallow and Qwen2.5.
        view: what the receiver retokenizes: the `continuation`, or the `whole`. Of the whole,
            special ids at its beginning are left out; those of a chat are kept, and what is between
            them is read by itself, see `ticore.Verifier`.
        rollback: `windowed`, what `ticore.watermarking.Generator` does by default. Its `exact` is
            refused: a text that is begun again would be begun again for streamers, stopping
            criteria and logits processors too, which have seen the one before.
        streamer: gets tokens when they are settled. None of them is taken back, and together they
            are the text that is written without a streamer. Give it here and not to `generate`,
            which does not pass its `streamer` on to functions like this one: a streamer of
            `generate` is ended, so that nobody waits for its text, and refused.

    Returns:
        A function for `generate`, which answers as always: prompts, continuations, an id that ended
        a text, and padding. The texts of a batch are read side by side, and each is rolled back by
        itself. A network that cannot do so reads them one after the other. Ids that no text can
        spell, such as special ones, are not written.

    Raises:
        SettingsError: `observation` is negative, `rollback` is not `windowed`, or `tokenizer` is
            not a tokenizer. When generating: its ids are not the model's, or one of these is asked
            for: beams, guidance, an encoder, embeddings, a filled cache, stop strings, prompt
            lookup, an assistant, several tokens at once, a streamer of `generate` itself or for
            several texts, or scores of each step.
        PromptError: when generating: in view `whole`, a prompt is not consistent.
        CapacityError: when generating: the logits processors leave no token to choose.

    >>> generate = consistent(tokenizer)  # doctest: +SKIP
    >>> ids = model.generate(prompt, custom_generate=generate, max_new_tokens=50)  # doctest: +SKIP
    >>> new = ids[0, prompt.shape[1] :].tolist()  # doctest: +SKIP
    >>> tokenizer.encode(tokenizer.decode(new)) == new  # doctest: +SKIP
    True
    """
    if observation < 0:
        raise SettingsError(f"observation: expected 0 or more tokens, found {observation}")
    if rollback != "windowed":
        raise SettingsError(
            f"rollback: expected 'windowed' in consistent(), found {rollback!r}; for whole texts "
            f"that are begun again (rollback='exact') write "
            f"ticore.consistent_generate(ticore.wrap(model, tokenizer), prompt, rollback='exact')"
        )
    verifier = Verifier(tokenizer, mode="prefix", view=view)
    special, size = verifier.tokenizer.special_ids, verifier.tokenizer.vocab_size

    def generate(
        model: PreTrainedModel,
        input_ids: Any,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config: Any,
        # `generate` hands over what has a name here and not in its own methods.
        stop_strings: object = None,
        **inputs: Any,
    ) -> Any:
        _require_no_streamer(given_to_generate("streamer"))
        _require_plain(model, input_ids, logits_processor, generation_config, inputs, streamer)
        _require_no_stop_strings(stop_strings)
        prompts = _without_padding(input_ids, inputs)
        verifications = each_row(partial(verification_of, verifier), prompts)
        eos_ids = ids_of(generation_config.eos_token_id)
        rewindable = max_rewind(observation, MAX_BACKTRACKS)
        batch, decoders = _decoders(Network(model), prompts, rewindable)
        width = len(decoders[0].logits())
        require_tokenizer_of_model(verifier.tokenizer, width)
        never = {*special, *range(size, width)}.difference(eos_ids).intersection(range(width))
        texts = []
        for row, prompt, verification, decoder in zip(
            input_ids, prompts, verifications, decoders, strict=True
        ):
            choice = _Choice(logits_processor, row, len(prompt), bool(generation_config.do_sample))
            rollback = Rollback(
                decoder,
                verification,
                excluding(choice, sorted(never)),
                max_new_tokens=(generation_config.max_length or 0) - len(row),
                observation=observation,
                eos_ids=frozenset(eos_ids),
            )
            texts.append(_GeneratedText(decoder, rollback, choice, stopping_criteria, streamer))
        _write(texts, batch)
        (pad, *_) = *ids_of(generation_config.pad_token_id), *eos_ids, 0
        written = _padded([text.ids for text in texts], pad)
        sequences = torch.cat([input_ids, written.to(input_ids)], dim=1)
        if generation_config.return_dict_in_generate:
            output: Any = GenerateDecoderOnlyOutput
            return output(sequences=sequences)
        return sequences

    return generate


def _decoders(
    network: Network, prompts: list[list[int]], rewindable: int
) -> tuple[CheckedBatchDecoder | None, Sequence[Decoder]]:
    """A Decoder for each prompt; and the batch whose rows they read, if they do so side by side.

    One text is read as `generate` reads it, to the same bits.
    """
    if len(prompts) == 1 or not network.pads:
        texts = [TorchForward(network, torch.clone) for _ in prompts]
        return None, [
            ArrayDecoder(_Unbounded(), text, prompt, prompt)
            for text, prompt in zip(texts, prompts, strict=True)
        ]
    rows = TorchBatchedForward(network, _as_they_are)
    batch = CheckedBatchDecoder(_Unbounded(), rows, prompts, rows.begin(prompts), rewindable)
    return batch, [RowDecoder(batch, number) for number in range(len(prompts))]


def _as_they_are(logits: torch.Tensor) -> Any:
    return logits


class _Unbounded:
    """A model whose limits are not looked at here: `generate` warns of a full context itself."""

    logit_width = context_length = sys.maxsize


class _Choice:
    """The sampler of `generate`: its logits processors, then the likeliest token or a random one.

    Most processors compute from the tokens alone. SynthID's remembers in `state` what it was called
    with. Before each call it gets the state that belongs to this text. The state before each token
    is kept, and is restored if the token is taken back.

    Args:
        processors: of transformers.
        row: the prompt as `generate` has it, padding included: int64[n].
        length: how many ids the prompt has without padding.
        sample: choose by PyTorch's random numbers.

    Attributes:
        last: the token chosen last.
    """

    def __init__(
        self, processors: LogitsProcessorList, row: torch.Tensor, length: int, sample: bool
    ) -> None:
        self._processors = processors
        self._row = row
        self._length = length
        self._sample = sample
        self._stateful = [processor for processor in processors if hasattr(processor, "state")]
        self._before: list[list[Any]] = []
        self._states: list[Any] = [None for _ in self._stateful]
        self.last = -1

    def __call__(self, ids: Sequence[int], logits: torch.Tensor) -> int:
        """The token that follows `ids`, prompt and text, by the logits float[width]."""
        written = ids[self._length :]
        self._return_to(len(written))
        dropped = torch.isneginf(logits)
        # A copy, since processors may write into it.
        scores = self._processors(self.sequence(written), logits.to(torch.float32, copy=True)[None])
        self._states = [processor.state for processor in self._stateful]
        # SynthID's gives every token a finite score.
        scores = scores[0].masked_fill(dropped, -torch.inf)
        if bool(torch.isneginf(scores).all()):
            raise CapacityError(
                "expected the logits processors to leave a token that may follow, found that every "
                "token they leave was taken back; loosen them: for example raise top_k or top_p"
            )
        if self._sample:
            self.last = int(torch.multinomial(torch.softmax(scores, dim=-1), 1))
        else:
            self.last = int(torch.argmax(scores))
        return self.last

    def sequence(self, written: Sequence[int]) -> Any:
        """The prompt and the tokens `written`, as `generate` has them: int64[1, n]."""
        return torch.cat([self._row, torch.tensor(list(written)).to(self._row)])[None]

    def _return_to(self, place: int) -> None:
        """Give the processors back what they knew when they were called at this place before."""
        states = self._before[place] if place < len(self._before) else self._states
        for processor, state in zip(self._stateful, states, strict=True):
            processor.state = state
        del self._before[place:]
        self._before.append(deepcopy(states))


class _GeneratedText:
    """A text of a Rollback that stopping criteria may end, and that a streamer is shown.

    Args:
        decoder, rollback: of the text.
        choice: the rollback's sampler.
        stopping_criteria: asked each time that tokens are committed.
        streamer: gets tokens when they are settled, so that none of them is taken back.
    """

    def __init__(
        self,
        decoder: Decoder,
        rollback: Rollback,
        choice: _Choice,
        stopping_criteria: StoppingCriteriaList,
        streamer: Any | None,
    ) -> None:
        self._decoder = decoder
        self._rollback = rollback
        self._choice = choice
        self._stopping_criteria = stopping_criteria
        self._streamer = streamer
        self._shown = 0
        if streamer is not None:
            streamer.put(choice.sequence([]).cpu())

    @property
    def ids(self) -> list[int]:
        """The tokens, and the id that ended the text, if one did."""
        end = [self._choice.last] if self._rollback.end == "end of text" else []
        return [*self._rollback.committed, *end]

    def write(self) -> None:
        """Write to the end."""
        for token in self.reads():
            self._decoder.push(token)

    def reads(self) -> Iterator[int]:
        """As `Rollback.reads`: the tokens that the decoder has to read, to the text's end."""
        for token in self._rollback.reads():
            # A token is read after it was committed, or while it is pending.
            if not self._rollback.is_pending and self._is_stopped():
                break
            self._show(self._rollback.settled)
            yield token
        else:
            if self.ids and self._rollback.end != "dead end":
                self._is_stopped()  # the criteria see every id, also the last one
        self._show(len(self.ids))
        if self._streamer is not None:
            self._streamer.end()

    def _is_stopped(self) -> bool:
        sequence = self._choice.sequence(self.ids)
        return bool(self._stopping_criteria(sequence, None).all())

    def _show(self, count: int) -> None:
        """Show the streamer the first `count` ids."""
        if self._streamer is not None and count > self._shown:
            self._streamer.put(torch.tensor(self.ids[self._shown : count]))
            self._shown = count


def _write(texts: Sequence[_GeneratedText], batch: CheckedBatchDecoder | None) -> None:
    """Write all texts to their ends: those of a batch together."""
    if batch is not None:
        for _ in write_together(batch, [text.reads() for text in texts]):
            pass
        return
    for text in texts:
        text.write()


def _require_no_streamer(found: Any) -> None:
    if found is not None:
        found.end()  # Otherwise its reader, in another thread, waits for ever.
        raise SettingsError(
            "expected streamer= among the arguments of consistent(), found it among those of "
            "generate(), which does not hand it on; write "
            "custom_generate=consistent(tokenizer, streamer=streamer)"
        )


def _require_no_stop_strings(found: object) -> None:
    if found is not None:
        raise SettingsError(
            f"expected no stop_strings, which generate() hands over without their tokenizer, found "
            f"{found!r}; give stopping_criteria=[StopStringCriteria(tokenizer, stop_strings)] of "
            f"transformers instead"
        )


def _without_padding(input_ids: torch.Tensor, inputs: dict[str, Any]) -> list[list[int]]:
    mask = inputs.get("attention_mask")  # None where there is no padding
    if mask is None:
        return [row.tolist() for row in input_ids]
    return [row[kept.bool()].tolist() for row, kept in zip(input_ids, mask, strict=True)]


def _padded(texts: list[list[int]], pad: int) -> torch.Tensor:
    longest = max(map(len, texts))
    return torch.tensor([text + [pad] * (longest - len(text)) for text in texts])


def _require_plain(
    model: PreTrainedModel,
    input_ids: torch.Tensor,
    processors: LogitsProcessorList,
    config: Any,
    inputs: dict[str, Any],
    streamer: Any | None,
) -> None:
    """Refuse what would be left out silently."""
    cache = inputs.get("past_key_values")
    refused = {
        "beams": (config.num_beams or 1) > 1,
        "prompt lookup": getattr(config, "prompt_lookup_num_tokens", None) is not None,
        "an early exit as assistant": getattr(config, "assistant_early_exit", None) is not None,
        "several tokens at once (use_mtp)": bool(getattr(config, "use_mtp", False)),
        "an assistant_model": given_to_generate("assistant_model") is not None,
        "guidance": any(hasattr(p, "unconditional_context") for p in processors),
        "an encoder": model.config.is_encoder_decoder,
        "embeddings in place of ids": inputs.get("inputs_embeds") is not None,
        "a cache that is filled already": cache is not None and cache.get_seq_length() > 0,
        "a streamer for several texts": streamer is not None and len(input_ids) > 1,
        "scores or states of each step": bool(config.return_dict_in_generate)
        and any(
            getattr(config, f"output_{kind}", False)
            for kind in ("scores", "logits", "attentions", "hidden_states")
        ),
    }
    for name, found in refused.items():
        if found:
            raise SettingsError(
                f"expected plain sampling or greedy choice from token ids, found {name}, which "
                f"consistent() does not do; leave it out, or generate without custom_generate, "
                f"with ConsistentLogitsProcessor among the logits processors"
            )
