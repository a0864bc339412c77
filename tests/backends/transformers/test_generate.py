"""`generate` with rollback: always consistent, and else what transformers does by itself."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
from torch import nn
from transformers import (
    LogitsProcessorList,
    PreTrainedTokenizerFast,
    StoppingCriteria,
    StopStringCriteria,
    SynthIDTextWatermarkingConfig,
    SynthIDTextWatermarkLogitsProcessor,
    TextIteratorStreamer,
    WatermarkDetector,
    WatermarkingConfig,
)

import ticore_embedded
from tests.support.tokenizers import HUGGING_FACE
from tests.support.torch_checkpoints import CONFIGS, load, write
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import compare
from ticore.errors import CapacityError, PromptError, SettingsError
from ticore_torch import TorchModel
from ticore_transformers import ConsistentLogitsProcessor, consistent

TINY_EN = Path(ticore_embedded.__file__).parent / "models" / "tiny-en"
# The byte piece of "A", which is a piece by itself.
UNWRITABLE = 3 + ord("A")
NGRAMS = {"keys": [3, 14, 15, 92], "ngram_len": 3}


@pytest.fixture(scope="module")
def english() -> TorchModel:
    return load(TINY_EN)


@pytest.fixture(scope="module")
def babble(tmp_path_factory: pytest.TempPathFactory) -> TorchModel:
    """A model of random weights: hardly two of its tokens go together."""
    return load(write(tmp_path_factory.mktemp("babble"), CONFIGS["llama"]))


def prompt(model: TorchModel, text: str = "Once upon a time") -> torch.Tensor:
    return torch.tensor([[1, *model.tokenizer.encode(text)]])


def generate(model: TorchModel, ids: torch.Tensor, seed: int = 0, **settings: Any) -> Any:
    torch.manual_seed(seed)
    return model.network.module.generate(ids, **{"max_new_tokens": 30, **settings})


def survives(model: TorchModel, ids: list[int]) -> bool:
    tokenizer = model.tokenizer
    written = [token for token in ids if token not in model.eos_ids]
    return tokenizer.encode(tokenizer.decode(written)) == written


SAMPLING: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "sampled": {"do_sample": True, "top_k": 0},
    "warped": {"do_sample": True, "top_k": 20, "top_p": 0.9, "temperature": 1.3},
    "penalised": {"do_sample": True, "repetition_penalty": 1.2, "no_repeat_ngram_size": 2},
    "watermarked": {"do_sample": True, "watermarking_config": WatermarkingConfig(bias=2.0)},
    "synthid": {
        "do_sample": True,
        "watermarking_config": SynthIDTextWatermarkingConfig(**NGRAMS),
    },
}


class TestConsistency:
    @pytest.mark.slow
    @pytest.mark.parametrize("observation", [0, 3, 10])
    @pytest.mark.parametrize("name", SAMPLING)
    def test_generate_output_is_always_consistent(
        self, name: str, observation: int, babble: TorchModel
    ) -> None:
        ids = prompt(babble)
        for seed in range(2):
            # What is written by chance is not consistent.
            custom = consistent(babble.tokenizer, observation=observation)
            whole = generate(babble, ids, seed, custom_generate=custom, **SAMPLING[name])
            assert torch.equal(whole[:, : ids.shape[1]], ids)
            assert whole.shape[1] > ids.shape[1]
            assert survives(babble, whole[0, ids.shape[1] :].tolist())

    @pytest.mark.slow
    @pytest.mark.parametrize("name", SAMPLING)
    def test_generate_writes_the_text_of_transformers_when_nothing_is_rolled_back(
        self, name: str, english: TorchModel
    ) -> None:
        ids, same = prompt(english), 0
        for seed in range(4):
            settings = SAMPLING[name] | {"max_new_tokens": 12}
            plain = generate(english, ids, seed, **settings)
            custom = consistent(english.tokenizer)
            found = generate(english, ids, seed, custom_generate=custom, **settings)
            assert survives(english, found[0, ids.shape[1] :].tolist())
            if survives(english, plain[0, ids.shape[1] :].tolist()):
                assert torch.equal(found, plain)
                same += 1
        assert same or name == "greedy"  # which has one text only, and that does not survive

    def test_generate_is_consistent_with_its_prompt_in_view_whole(
        self, english: TorchModel
    ) -> None:
        ids = prompt(english)
        custom = consistent(english.tokenizer, view="whole")
        whole = generate(english, ids, custom_generate=custom)[0, 1:].tolist()
        tokenizer = english.tokenizer
        assert tokenizer.encode(tokenizer.decode(whole)) == whole

    def test_generate_refuses_an_inconsistent_prompt_in_view_whole(
        self, english: TorchModel
    ) -> None:
        custom = consistent(english.tokenizer, view="whole")
        with pytest.raises(PromptError, match=r"row 0: .*use view 'continuation'"):
            generate(english, torch.tensor([[1, UNWRITABLE]]), custom_generate=custom)


class TestWatermarks:
    @pytest.mark.slow
    def test_watermark_of_transformers_is_found_after_rollback(self, english: TorchModel) -> None:
        ids, config = prompt(english), WatermarkingConfig(bias=4.0, seeding_scheme="lefthash")
        detector = WatermarkDetector(english.network.module.config, "cpu", config)

        def z_score(**settings: Any) -> float:
            found = generate(
                english,
                ids,
                do_sample=True,
                max_new_tokens=60,
                custom_generate=consistent(english.tokenizer),
                **settings,
            )
            return float(detector(found[:, ids.shape[1] :], return_dict=True).z_score[0])

        assert z_score(watermarking_config=config) > 4 > z_score()

    @pytest.mark.slow
    def test_synthid_state_returns_when_a_token_is_taken_back(self, babble: TorchModel) -> None:
        """Its state at the end is that of a processor that saw nothing but the text."""
        ids = prompt(babble)
        settings = {**NGRAMS, "sampling_table_size": 2**16, "sampling_table_seed": 0}
        processor, fresh = (
            SynthIDTextWatermarkLogitsProcessor(
                **settings, context_history_size=64, device=torch.device("cpu")
            )
            for _ in range(2)
        )
        states: dict[int, Any] = {}

        class Watching(StoppingCriteria):
            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
                states[input_ids.shape[1]] = deepcopy(processor.state)
                return torch.zeros(1, dtype=torch.bool)

        whole = generate(
            babble,
            ids,
            do_sample=True,
            custom_generate=consistent(babble.tokenizer, observation=0),
            logits_processor=LogitsProcessorList([processor]),
            stopping_criteria=[Watching()],
        )
        for end in range(ids.shape[1], whole.shape[1]):
            fresh(whole[:, :end], torch.zeros(1, babble.logit_width))
            assert torch.equal(fresh.state.context, states[end + 1].context)
            assert torch.equal(fresh.state.context_history, states[end + 1].context_history)

    def test_synthid_state_belongs_to_one_row(self, english: TorchModel) -> None:
        """Which are not random, so that each is what it is by itself."""
        ids = torch.cat([prompt(english, text) for text in ("He is", "We go")])
        settings = SAMPLING["synthid"] | {"do_sample": False, "max_new_tokens": 20}
        settings["custom_generate"] = consistent(english.tokenizer)
        together = generate(english, ids, **settings)
        for row, found in zip(ids, together, strict=True):
            alone = generate(english, row[None], **settings)[0]
            assert torch.equal(found[: len(alone)], alone)


class TestCalling:
    @pytest.mark.slow
    def test_generate_reads_a_padded_batch(self, english: TorchModel) -> None:
        """Each row is what it would be by itself."""
        texts = ["Once upon a time", "It was late, and the lights were out"]
        rows = [prompt(english, text)[0].tolist() for text in texts]
        longest = max(map(len, rows))
        ids = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        custom = consistent(english.tokenizer)
        settings: dict[str, Any] = {"custom_generate": custom, "pad_token_id": 0}
        found = generate(english, ids, attention_mask=mask, **settings)
        for row, text in zip(found, texts, strict=True):
            alone = generate(english, prompt(english, text), **settings)[0]
            new = alone[len(prompt(english, text)[0]) :]
            assert torch.equal(row[longest : longest + len(new)], new)
            assert not row[longest + len(new) :].any()

    @pytest.mark.slow
    @pytest.mark.parametrize("name", SAMPLING)
    def test_generate_writes_a_batch_in_common_passes(self, name: str, babble: TorchModel) -> None:
        """Each text is consistent, and one pass reads a token in all that go on."""
        ids, passes = prompt(babble).repeat(4, 1), []
        with babble.network.module.register_forward_pre_hook(
            lambda module, args, kwargs: passes.append(kwargs["input_ids"].shape), with_kwargs=True
        ):
            custom = consistent(babble.tokenizer, observation=2)
            found = generate(babble, ids, custom_generate=custom, **SAMPLING[name])
        width = ids.shape[1]
        assert all(survives(babble, row.tolist()) for row in found[:, width:])
        assert passes[:4] == [(1, width)] * 4
        assert passes[4] == (4, 1)
        assert 30 <= len(passes) - 4 < 90  # the text that was rolled back most

    def test_generate_writes_a_batch_of_a_recurrent_model_row_by_row(self, tmp_path: Path) -> None:
        """Texts that cannot be read side by side are written one after the other."""
        model = load(write(tmp_path, CONFIGS["lfm2"]))
        assert not model.network.pads
        ids, settings = prompt(model), {"custom_generate": consistent(model.tokenizer)}
        alone = generate(model, ids, **settings)
        assert torch.equal(generate(model, ids.repeat(2, 1), **settings), alone.repeat(2, 1))

    def test_stopping_criteria_stop_each_row_separately(self, english: TorchModel) -> None:
        class AtWord(StoppingCriteria):
            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
                return torch.tensor([input_ids[0, -1] == stop])

        ids = torch.cat([prompt(english, "He is"), prompt(english, "We go")])
        settings = {"custom_generate": consistent(english.tokenizer), "pad_token_id": 0}
        whole = generate(english, ids, **settings)
        (stop, *_) = set(whole[0, 8:].tolist()) - set(whole[1].tolist())
        found = generate(english, ids, stopping_criteria=[AtWord()], **settings)
        first = whole[0].tolist().index(stop, ids.shape[1]) + 1
        assert torch.equal(found[1], whole[1])
        assert torch.equal(found[0, :first], whole[0, :first])
        assert not found[0, first:].any()

    def test_generate_writes_several_texts_of_one_prompt(self, english: TorchModel) -> None:
        custom = consistent(english.tokenizer)
        settings = {"custom_generate": custom, "do_sample": True, "num_return_sequences": 3}
        found = generate(english, prompt(english), **settings)
        assert len({tuple(row.tolist()) for row in found}) == 3
        assert all(survives(english, row[6:].tolist()) for row in found)

    def test_generate_ends_a_text_at_the_eos_token(self, english: TorchModel) -> None:
        ids, custom = prompt(english), consistent(english.tokenizer)
        plain = generate(english, ids, custom_generate=custom)[0].tolist()
        end = plain[-3]
        found = generate(english, ids, custom_generate=custom, eos_token_id=end)[0].tolist()
        assert found == plain[: plain.index(end, ids.shape[1]) + 1]

    def test_stopping_criteria_end_a_text(self, english: TorchModel) -> None:
        class AfterTen(StoppingCriteria):
            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
                return torch.tensor([input_ids.shape[1] >= 10])

        custom = consistent(english.tokenizer)
        ids = generate(
            english, prompt(english), custom_generate=custom, stopping_criteria=[AfterTen()]
        )
        assert 10 <= ids.shape[1] < 20

    def test_streamer_shows_the_text_that_is_written_without_one(self, babble: TorchModel) -> None:
        class Keeper:
            def __init__(self) -> None:
                self.shown: list[int] = []
                self.ended = False

            def put(self, value: torch.Tensor) -> None:
                self.shown += value.flatten().tolist()

            def end(self) -> None:
                self.ended = True

        keeper = Keeper()
        custom = consistent(babble.tokenizer, observation=0, streamer=keeper)
        ids = generate(babble, prompt(babble), custom_generate=custom, do_sample=True)
        assert keeper.ended
        assert keeper.shown == ids[0].tolist()
        plain = consistent(babble.tokenizer, observation=0)
        written = generate(babble, prompt(babble), custom_generate=plain, do_sample=True)
        assert written.tolist() == ids.tolist()

    def test_generate_returns_a_dictionary_when_asked(self, english: TorchModel) -> None:
        custom = consistent(english.tokenizer)
        found = generate(
            english, prompt(english), custom_generate=custom, return_dict_in_generate=True
        )
        assert torch.equal(
            found.sequences, generate(english, prompt(english), custom_generate=custom)
        )

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"num_beams": 2}, "found beams"),
            ({"guidance_scale": 2.0}, "found guidance"),
            ({"prompt_lookup_num_tokens": 3}, "found prompt lookup"),
            ({"stop_strings": ["the"]}, "give stopping_criteria=.StopStringCriteria"),
            (
                {"stop_strings": "the", "tokenizer": object()},
                "without their tokenizer, found 'the'",
            ),
            ({"return_dict_in_generate": True, "output_scores": True}, "found scores"),
            ({"assistant_model": nn.Identity()}, "found an assistant_model"),
        ],
    )
    def test_generate_refuses_unsupported_settings_by_name(
        self, settings: dict[str, Any], message: str, english: TorchModel
    ) -> None:
        custom = consistent(english.tokenizer)
        with pytest.raises(SettingsError, match=message):
            generate(english, prompt(english), custom_generate=custom, **settings)

    def test_streamer_given_to_generate_is_ended_and_refused(self, english: TorchModel) -> None:
        opened = PreTrainedTokenizerFast(tokenizer_object=HUGGING_FACE["hf-gpt2"]()._library)
        streamer = TextIteratorStreamer(opened, skip_prompt=True, timeout=60)
        with pytest.raises(SettingsError, match=r"consistent\(tokenizer, streamer=streamer\)"):
            generate(
                english,
                prompt(english),
                custom_generate=consistent(english.tokenizer),
                streamer=streamer,
            )
        assert "".join(streamer) == ""

    def test_consistent_accepts_a_tokenizer_of_transformers(self, tmp_path: Path) -> None:
        """As one has it at hand: the beginning of text that it adds, no text has."""
        model = load(write(tmp_path, CONFIGS["qwen2"], pieces=False))
        opened = PreTrainedTokenizerFast(tokenizer_object=HUGGING_FACE["hf-gpt2"]()._library)
        ids = torch.tensor([opened("the quick fox").input_ids])
        settings: dict[str, Any] = {"do_sample": True, "eos_token_id": 0, "pad_token_id": 0}
        found, again = (
            generate(model, ids, custom_generate=consistent(tokenizer), **settings)
            for tokenizer in (opened, model.tokenizer)
        )
        assert torch.equal(found, again)
        # What the refusal of stop_strings names instead.
        word = model.tokenizer.token_bytes(int(found[0, -5])).decode(errors="ignore").strip()
        settings["stopping_criteria"] = [StopStringCriteria(opened, [word or "a"])]
        stopped = generate(model, ids, custom_generate=consistent(opened), **settings)
        assert stopped.shape[1] < found.shape[1]
        assert torch.equal(stopped[0], found[0, : stopped.shape[1]])
        ConsistentLogitsProcessor(opened, prompt_length=ids.shape[1], eos_ids=[0])

    @pytest.mark.parametrize("found", [None, "tiny-en", object()])
    def test_consistent_refuses_an_object_that_is_no_tokenizer(self, found: object) -> None:
        for make in (consistent, lambda t: ConsistentLogitsProcessor(t, prompt_length=1)):
            with pytest.raises(SettingsError, match="expected a tokenizer of"):
                make(found)

    def test_generate_refuses_the_tokenizer_of_another_model(
        self, english: TorchModel, babble: TorchModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With ids that have no logits, or logits for many times as many ids."""
        with pytest.raises(SettingsError, match="has 704 logits, found one of 4096 ids"):
            generate(babble, prompt(babble), custom_generate=consistent(english.tokenizer))
        processor = ConsistentLogitsProcessor(english.tokenizer, prompt_length=1)
        for width in (704, 32_000):
            with pytest.raises(SettingsError, match=f"has {width} logits, found one of 4096"):
                processor(torch.tensor([[1]]), torch.zeros(1, width))
        for width in (4096, 4160, 8192):
            assert processor(torch.tensor([[1]]), torch.zeros(1, width)).shape == (1, width)

    def test_generate_allows_special_ids_without_logits(self) -> None:
        """Of a tokenizer that got them later; nothing else is missing."""
        tokenizer = ToyTokenizer(["a", "b", "ab", "", "<pad>"], special=(3, 4))
        processor = ConsistentLogitsProcessor(tokenizer, prompt_length=0, eos_ids=[3])
        scores = processor(torch.tensor([[0]]), torch.zeros(1, 4))
        assert torch.isfinite(scores).tolist() == [[True, False, True, True]]

    @pytest.mark.parametrize("view", ["whole", "continuation"])
    def test_generate_accepts_a_chat_as_prompt(self, view: Any, babble: TorchModel) -> None:
        """Special tokens in its middle are kept: the whole is consistent with them."""
        tokenizer = babble.tokenizer
        turns = [tokenizer.encode(text) for text in ("the quick", "fox", "she sells")]
        ids = torch.tensor([[1, *turns[0], 2, 1, *turns[1], 2, *turns[2]]])
        custom = consistent(tokenizer, view=view)
        whole = generate(babble, ids, custom_generate=custom, do_sample=True)[0].tolist()
        written = whole[ids.shape[1] :]
        kept = whole if view == "whole" else written
        assert len(written) > 5
        assert compare(tokenizer, kept).consistent

    def test_generate_refuses_a_streamer_for_a_batch(self, english: TorchModel) -> None:
        custom = consistent(english.tokenizer, streamer=object())
        with pytest.raises(SettingsError, match="a streamer for several texts"):
            generate(english, prompt(english).repeat(2, 1), custom_generate=custom)

    def test_consistent_names_what_begins_whole_texts_again(self, english: TorchModel) -> None:
        with pytest.raises(SettingsError, match=r"consistent_generate\(ticore.wrap.*'exact'\)"):
            consistent(english.tokenizer, rollback="exact")

    def test_consistent_refuses_a_negative_observation(self, english: TorchModel) -> None:
        with pytest.raises(SettingsError, match="0 or more tokens, found -1"):
            consistent(english.tokenizer, observation=-1)

    def test_generate_fails_when_processors_leave_no_token(self, english: TorchModel) -> None:
        with pytest.raises(CapacityError, match="loosen them"):
            generate(
                english,
                prompt(english),
                custom_generate=consistent(english.tokenizer),
                prefix_allowed_tokens_fn=lambda batch, ids: [UNWRITABLE],
            )


def test_consistent_accepts_observation_by_position_with_a_warning(english: TorchModel) -> None:
    with pytest.warns(DeprecationWarning, match=r"by position is deprecated|observation=\.\.\."):
        assert callable(consistent(english.tokenizer, 3))
