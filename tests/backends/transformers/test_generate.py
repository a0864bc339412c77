"""`generate` with rollback: always consistent, and else what transformers does by itself."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
import transformers
from torch import nn
from transformers import (
    CLIPVisionConfig,
    DynamicCache,
    GenerationConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedTokenizerFast,
    RepetitionPenaltyLogitsProcessor,
    StoppingCriteria,
    StopStringCriteria,
    SynthIDTextWatermarkingConfig,
    SynthIDTextWatermarkLogitsProcessor,
    T5Config,
    T5ForConditionalGeneration,
    TextIteratorStreamer,
    WatermarkDetector,
    WatermarkingConfig,
)

import ticore_embedded
from tests.support.tokenizers import HUGGING_FACE
from tests.support.torch_checkpoints import CONFIGS, load, named, network, write
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Verifier, compare
from ticore.errors import CapacityError, ModelError, PromptError, SettingsError, WrongTypeError
from ticore_torch import TorchModel
from ticore_transformers import ConsistentLogitsProcessor, consistent
from ticore_transformers import generate as generate_consistent
from ticore_transformers._consistent import _beside_ids
from ticore_transformers._stop_strings import StopStrings

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


def padded(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows, padded at the left with 0, and their attention mask."""
    longest = max(map(len, rows))
    ids = [[0] * (longest - len(row)) + row for row in rows]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
    return torch.tensor(ids), torch.tensor(mask)


def penalty_that_ignores(ignored: Any) -> RepetitionPenaltyLogitsProcessor:
    """A repetition penalty that ignores as many ids at the beginning of each row."""
    try:
        return RepetitionPenaltyLogitsProcessor(1.5, prompt_ignore_length=ignored)
    except ValueError:
        pytest.skip("this version of transformers penalizes the padding of a row, too")


def generate(model: TorchModel, ids: torch.Tensor, seed: int = 0, **settings: Any) -> Any:
    torch.manual_seed(seed)
    return model.network.module.generate(ids, **{"max_new_tokens": 30, **settings})


def survives(model: TorchModel, ids: list[int]) -> bool:
    tokenizer = model.tokenizer
    written = [token for token in ids if token not in model.eos_ids]
    return tokenizer.encode(tokenizer.decode(written)) == written


class Likely(LogitsProcessor):
    """Makes a token certain at one position."""

    def __init__(self, token: int, at: int) -> None:
        self._token, self._at = token, at

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if input_ids.shape[1] != self._at:
            return scores
        scores = scores.clone()
        scores[:, self._token] = scores.max() + 100
        return scores


class Keeper:
    """A streamer that keeps what it is shown."""

    def __init__(self) -> None:
        self.shown: list[int] = []
        self.ends = 0

    def put(self, value: torch.Tensor) -> None:
        self.shown += value.flatten().tolist()

    def end(self) -> None:
        self.ends += 1


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
        assert passes[0] == (1, width)  # the prompt that all of them have
        assert passes[1] == (4, 1)
        assert 30 <= len(passes) - 1 < 90  # the text that was rolled back most

    def test_a_processor_may_keep_the_scores_of_each_step(self, english: TorchModel) -> None:
        """They are not written over, and may be of another type."""
        kept = []

        class Keeping(LogitsProcessor):
            def __call__(self, input_ids: Any, scores: Any) -> Any:
                kept.append((scores, scores.clone()))
                return scores.double()

        settings = {"logits_processor": [Keeping()], "do_sample": True, "max_new_tokens": 5}
        custom = consistent(english.tokenizer)
        generate(english, prompt(english).repeat(2, 1), custom_generate=custom, **settings)
        assert len(kept) >= 5
        assert all(torch.equal(scores, copy) for scores, copy in kept)

    @pytest.mark.parametrize("rows", [8, 32])
    def test_generate_reads_the_prompts_of_a_batch_in_one_pass(
        self, rows: int, english: TorchModel
    ) -> None:
        """Prompts of 1 to `rows` ids: the logits are those of the same prompts alone."""
        text = prompt(english, "Once upon a time there was a little girl who had a dog. " * 4)[0]
        ids = torch.stack([text[:rows].roll(rows - count) for count in range(1, rows + 1)])
        mask = torch.stack([torch.arange(rows) >= rows - count for count in range(1, rows + 1)])
        settings = {
            "custom_generate": consistent(english.tokenizer),
            "max_new_tokens": 1,
            "return_dict_in_generate": True,
            "output_logits": True,
        }
        shapes = []
        with english.network.module.register_forward_pre_hook(
            lambda module, args, kwargs: shapes.append(kwargs["input_ids"].shape), with_kwargs=True
        ):
            found = generate(english, ids, attention_mask=mask.long(), **settings)
        assert shapes == [(rows, rows)]
        for row in (0, 1, rows // 2, rows - 1):
            alone = generate(english, text[None, : row + 1], **settings)
            torch.testing.assert_close(found.logits[0][row], alone.logits[0][0])

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
                return input_ids[:, -1] == stop

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

    @pytest.mark.parametrize("how", ["rollback", "masks", "beams", "processor"])
    def test_an_end_that_has_a_text_is_verified_as_part_of_it(
        self, babble: TorchModel, how: str
    ) -> None:
        """As a line end, which some tokenizers join with the full stop before it."""
        tokenizer, ids, ended = babble.tokenizer, prompt(babble), 0
        ends = list(range(260, tokenizer.vocab_size, 3))
        settings: dict[str, Any] = {"do_sample": True, "max_new_tokens": 6, "eos_token_id": ends}
        for seed in range(16):
            torch.manual_seed(seed)
            if how == "processor":
                processor = ConsistentLogitsProcessor(
                    tokenizer, prompt_length=ids.shape[1], eos_ids=ends
                )
                found = generate(babble, ids, seed, logits_processor=[processor], **settings)
            else:
                given = settings | {"pad_token_id": 0}
                given |= {"consistency": "masks", "num_beams": 2} if how == "beams" else {}
                given |= {"consistency": "masks"} if how == "masks" else {}
                found = generate_consistent(babble.network.module, tokenizer, ids, **given)
            written = found[0, ids.shape[1] :].tolist()
            assert compare(tokenizer, written).consistent
            ended += written[-1] in ends and len(written) < 6
        assert ended > 3

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
        keeper = Keeper()
        custom = consistent(babble.tokenizer, observation=0, streamer=keeper)
        ids = generate(babble, prompt(babble), custom_generate=custom, do_sample=True)
        assert keeper.ends == 1
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
            ({"penalty_alpha": 0.6, "top_k": 4}, "found contrastive search"),
            ({"dola_layers": "low"}, "found DoLa"),
            ({"prompt_lookup_num_tokens": 3}, "found prompt lookup"),
            ({"stop_strings": [""]}, "stop_strings: expected a string, or several"),
            ({"return_dict_in_generate": True, "output_attentions": True}, "found attentions"),
            (
                {"assistant_model": nn.Identity()},
                "found an assistant_model.*an assistant must then have the model's own tokenizer",
            ),
        ],
    )
    def test_generate_refuses_unsupported_settings_by_name(
        self, settings: dict[str, Any], message: str, english: TorchModel
    ) -> None:
        custom = consistent(english.tokenizer)
        with pytest.raises(SettingsError, match=message):
            generate(english, prompt(english), custom_generate=custom, **settings)

    @pytest.mark.filterwarnings("ignore:.*past_key_values.*deprecated:FutureWarning")
    def test_generate_refuses_a_cache_that_is_filled_already(self, english: TorchModel) -> None:
        """By its old name, under which all versions of transformers take it."""
        filled = DynamicCache()
        filled.update(torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 1), 0)
        custom = consistent(english.tokenizer)
        with pytest.raises(SettingsError, match="found a cache that is filled already"):
            generate(english, prompt(english), custom_generate=custom, past_key_values=filled)

    @pytest.mark.parametrize(
        ("more", "named"),
        [
            ({"token_type_ids": torch.zeros(1, 3, dtype=torch.int64)}, "token_type_ids"),
            (
                {
                    "encoder_hidden_states": torch.zeros(1, 1, 32),
                    "token_type_ids": torch.zeros(1, 3, dtype=torch.int64),
                },
                "encoder_hidden_states, token_type_ids",
            ),
        ],
    )
    def test_generate_refuses_inputs_that_no_pass_would_get(
        self, more: dict[str, Any], named: str
    ) -> None:
        """Else the text would be written without them."""
        module, tokenizer = network(CONFIGS["gpt2"]), HUGGING_FACE["hf-gpt2"]()
        ids, settings = torch.tensor([[5, 6, 7]]), {"max_new_tokens": 3, "pad_token_id": 0}
        with pytest.raises(SettingsError, match=rf"found model inputs beside ids \({named}\)"):
            generate_consistent(module, tokenizer, ids, **settings, **more)

    def test_generate_takes_what_says_no_more_than_the_ids(self) -> None:
        module, tokenizer = network(CONFIGS["gpt2"]), HUGGING_FACE["hf-gpt2"]()
        ids, settings = torch.tensor([[5, 6, 7]]), {"max_new_tokens": 3, "pad_token_id": 0}
        plain = generate_consistent(module, tokenizer, ids, **settings)
        more: dict[str, Any] = {
            "attention_mask": torch.ones_like(ids),
            "position_ids": torch.arange(3)[None],
            **named(DynamicCache(), module),
            "token_type_ids": None,
            "use_cache": True,
            "output_attentions": True,
        }
        found = generate_consistent(module, tokenizer, ids, **settings, **more)
        assert torch.equal(found, plain)

    def test_generate_takes_positions_that_count_the_ids_alone(self, english: TorchModel) -> None:
        module, settings = english.network.module, {"max_new_tokens": 3, "pad_token_id": 0}
        ids = torch.tensor([[0, 0, 5, 6, 7], [1, 9, 8, 7, 6]])
        inputs = {"attention_mask": torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])}
        plain = generate_consistent(module, english.tokenizer, ids, **settings, **inputs)
        inputs["position_ids"] = torch.tensor([[1, 1, 0, 1, 2], [0, 1, 2, 3, 4]])
        found = generate_consistent(module, english.tokenizer, ids, **settings, **inputs)
        assert torch.equal(found, plain)
        inputs["position_ids"] = torch.arange(5).expand(2, 5)
        with pytest.raises(SettingsError, match="found position_ids that do not count the ids"):
            generate_consistent(module, english.tokenizer, ids, **settings, **inputs)

    def test_generate_refuses_a_picture_and_takes_text_alone(self) -> None:
        image, tokenizer = CONFIGS["llama"].vocab_size - 1, HUGGING_FACE["hf-gpt2"]()
        sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
        vision = CLIPVisionConfig(**sizes, num_hidden_layers=1, image_size=4, patch_size=2)
        config = LlavaConfig(
            vision_config=vision,
            text_config=CONFIGS["llama"],
            image_token_index=image,
            vision_feature_layer=-1,
        )
        module = LlavaForConditionalGeneration(config).eval()
        ids, settings = torch.tensor([[1, 5, 6]]), {"max_new_tokens": 3, "pad_token_id": 0}
        assert generate_consistent(module, tokenizer, ids, **settings).shape[1] > 3
        shown = torch.tensor([[1, *[image] * 4, 5, 6]])
        kinds: list[Any] = ["rollback", "masks"]
        for consistency in kinds:
            with pytest.raises(SettingsError, match=r"\((image|pixel_values)\).*processor"):
                generate_consistent(
                    module,
                    tokenizer,
                    shown,
                    consistency=consistency,
                    pixel_values=torch.zeros(1, 3, 4, 4),
                    **settings,
                )

    def test_kinds_of_ids_count_where_they_are_not_all_text(self) -> None:
        """Processors of models for pictures give them with every text."""
        text = torch.zeros(1, 3, dtype=torch.int64)
        assert _beside_ids({"mm_token_type_ids": text, "mm_encoder_outputs": {}}) == []
        assert _beside_ids({"mm_token_type_ids": text + 1}) == ["mm_token_type_ids"]

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
        # transformers' own criterion.
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
        keeper = Keeper()
        custom = consistent(english.tokenizer, streamer=keeper)
        with pytest.raises(SettingsError, match="a streamer for several texts"):
            generate(english, prompt(english).repeat(2, 1), custom_generate=custom)
        assert keeper.ends == 1

    def test_consistent_names_what_begins_whole_texts_again(self, english: TorchModel) -> None:
        with pytest.raises(SettingsError, match=r"consistent_generate\(ticore.wrap.*'exact'\)"):
            consistent(english.tokenizer, rollback="exact")

    def test_consistent_refuses_a_negative_observation(self, english: TorchModel) -> None:
        with pytest.raises(SettingsError, match="observation: expected an integer of at least 0"):
            consistent(english.tokenizer, observation=-1)

    def test_generate_fails_when_processors_leave_no_token(self, english: TorchModel) -> None:
        with pytest.raises(CapacityError, match="loosen them"):
            generate(
                english,
                prompt(english),
                custom_generate=consistent(english.tokenizer),
                prefix_allowed_tokens_fn=lambda batch, ids: [UNWRITABLE],
            )

    @pytest.mark.parametrize(
        ("sample", "value"), [(True, torch.nan), (False, torch.nan), (True, torch.inf)]
    )
    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_generate_names_logits_that_are_not_finite(
        self, sample: bool, value: float, consistency: Any, english: TorchModel
    ) -> None:
        module = deepcopy(english.network.module)
        module.set_output_embeddings(deepcopy(module.get_output_embeddings()))
        with torch.no_grad():
            module.get_output_embeddings().weight[7] = value
        settings = {"do_sample": sample, "max_new_tokens": 4, "consistency": consistency}
        with pytest.raises(ModelError, match="found NaN or infinity among those of the network"):
            generate_consistent(module, english.tokenizer, prompt(english), **settings)

    @pytest.mark.parametrize(
        ("ids", "error", "said"),
        [
            (
                [[1, 5]],
                WrongTypeError,
                r"expected prompts as a tensor int64\[rows, n\], found list",
            ),
            (torch.ones(1, 2), WrongTypeError, r"found torch\.float32; give"),
            (torch.ones(1, 2, dtype=torch.bool), WrongTypeError, r"found torch\.bool; give"),
            (torch.ones(2, dtype=torch.int64), SettingsError, r"found the shape \[2\]"),
            (torch.ones(0, 2, dtype=torch.int64), SettingsError, r"found the shape \[0, 2\]"),
            (torch.ones(1, 0, dtype=torch.int64), PromptError, "at least one id each"),
            (torch.tensor([[1, 10**6]]), SettingsError, "ids from 0 to 4,095, found 1,000,000"),
            (torch.tensor([[1, -1]]), SettingsError, "ids from 0 to 4,095, found -1"),
        ],
    )
    def test_generate_refuses_prompts_that_the_network_cannot_read(
        self, ids: Any, error: type[Exception], said: str, english: TorchModel
    ) -> None:
        module = english.network.module
        for given in ({"inputs": ids}, {"input_ids": ids}):
            with pytest.raises(error, match=said):
                generate_consistent(module, english.tokenizer, max_new_tokens=2, **given)

    def test_generate_refuses_a_row_of_padding_alone(self, english: TorchModel) -> None:
        ids = prompt(english).repeat(2, 1)
        mask = torch.ones_like(ids)
        mask[1] = 0
        with pytest.raises(PromptError, match="at least one id each, found an empty one"):
            generate_consistent(
                english.network.module,
                english.tokenizer,
                ids,
                attention_mask=mask,
                max_new_tokens=2,
            )

    def test_generate_refuses_a_model_of_ticore(self, english: TorchModel) -> None:
        model: Any = english
        with pytest.raises(
            WrongTypeError, match=r"found TorchModel; .* ticore.consistent_generate"
        ):
            generate_consistent(model, english.tokenizer, prompt(english))


class TestRowsOutOfStep:
    """After rollbacks the texts of a batch have different lengths."""

    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_each_row_is_what_it_is_alone(self, consistency: Any, babble: TorchModel) -> None:
        """With processors that read ids, one that is told the row, and a criterion."""
        texts = "the quick", "she sells", "a fox is"
        ids = torch.tensor([[1, *babble.tokenizer.encode(text)[:2]] for text in texts])
        custom = consistent(babble.tokenizer, consistency=consistency)
        settings = {"custom_generate": custom, "max_new_tokens": 20, "pad_token_id": 0}
        settings |= {"repetition_penalty": 1.5, "no_repeat_ngram_size": 2}
        together = generate(babble, ids, **settings)
        alone = [generate(babble, row[None], **settings)[0].tolist() for row in ids]
        longest = max(map(len, alone))
        assert together.tolist() == [row + [0] * (longest - len(row)) for row in alone]

    @pytest.mark.parametrize("one_by_one", [False, True])
    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_penalty_of_a_padded_row_is_that_of_the_row_alone(
        self, consistency: Any, one_by_one: bool, babble: TorchModel
    ) -> None:
        """Rows are out of step, and end before others."""
        texts = "the quick brown fox", "she sells", "a"
        rows = [[1, *babble.tokenizer.encode(text)] for text in texts]
        ids, mask = padded(rows)
        penalty_that_ignores((mask == 0).sum(dim=1))
        ends = babble.tokenizer.encode("e")[-1:]
        custom = consistent(babble.tokenizer, consistency=consistency)
        settings = {"custom_generate": custom, "repetition_penalty": 1.5, "pad_token_id": 0}
        settings |= {"return_dict_in_generate": True, "output_scores": True, "eos_token_id": ends}
        if one_by_one:
            settings["prefix_allowed_tokens_fn"] = lambda row, ids: range(3, 600)
        together = generate(babble, ids, attention_mask=mask, **settings)
        lengths = set()
        for number, row in enumerate(rows):
            alone = generate(babble, torch.tensor([row]), **settings)
            written = alone.sequences[0, len(row) :].tolist()
            found = together.sequences[number, ids.shape[1] :].tolist()
            assert found == written + [0] * (len(found) - len(written))
            for step, scores in enumerate(alone.scores):
                of_row = together.scores[step][number]
                torch.testing.assert_close(of_row, scores[0], rtol=1e-3, atol=1e-3)
            lengths.add(len(written))
        assert len(lengths) > 1

    def test_penalty_of_the_caller_keeps_what_it_ignores(self, babble: TorchModel) -> None:
        ids, mask = padded([[1, *babble.tokenizer.encode(text)] for text in ("the quick", "a")])
        ignored: Any = (mask == 0).sum(dim=1)
        penalty = penalty_that_ignores(ignored)
        custom = consistent(babble.tokenizer)
        settings = {"custom_generate": custom, "do_sample": True, "attention_mask": mask}
        found = generate(babble, ids, logits_processor=[penalty], **settings)
        assert torch.equal(found, generate(babble, ids, repetition_penalty=1.5, **settings))
        assert penalty.prompt_ignore_length is ignored

    def test_prefix_function_is_told_the_row(self, english: TorchModel) -> None:
        ids = prompt(english).repeat(3, 1)
        words = [english.tokenizer.encode(word)[0] for word in ("said", "could", "very")]
        found = generate(
            english,
            ids,
            max_new_tokens=1,
            custom_generate=consistent(english.tokenizer),
            prefix_allowed_tokens_fn=lambda row, ids: [words[row]],
        )
        assert found[:, -1].tolist() == words

    def test_processors_see_all_rows_at_once_when_in_step(self, english: TorchModel) -> None:
        shapes = []

        class Watching(LogitsProcessor):
            def __call__(self, input_ids: Any, scores: Any) -> Any:
                shapes.append((*input_ids.shape, len(scores)))
                return scores

        # A bound that no inconsistency reaches: every row goes on without rollback.
        custom = consistent(english.tokenizer, observation=50)
        ids = prompt(english).repeat(4, 1)
        generate(
            english,
            ids,
            max_new_tokens=5,
            custom_generate=custom,
            logits_processor=[Watching()],
            do_sample=True,
            eos_token_id=None,
        )
        assert shapes[:3] == [(4, ids.shape[1] + step, 4) for step in range(3)]

    def test_a_penalty_on_the_prompts_of_a_batch_is_refused(self, english: TorchModel) -> None:
        custom = consistent(english.tokenizer)
        with pytest.raises(SettingsError, match="found a penalty on the prompts of a batch"):
            generate(
                english,
                prompt(english).repeat(2, 1),
                custom_generate=custom,
                encoder_repetition_penalty=1.3,
            )


class TestMasks:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", SAMPLING)
    def test_masked_texts_are_consistent(self, name: str, babble: TorchModel) -> None:
        ids = prompt(babble).repeat(3, 1)
        custom = consistent(babble.tokenizer, consistency="masks")
        found = generate(babble, ids, custom_generate=custom, **SAMPLING[name])
        assert found.shape[1] > ids.shape[1] + 5
        assert all(survives(babble, row.tolist()) for row in found[:, ids.shape[1] :])

    def test_masks_come_first_where_processors_leave_nothing(self, babble: TorchModel) -> None:
        """The likeliest token alone is left, and it is inconsistent: then the next one is taken."""
        ids = prompt(babble)
        settings = {"do_sample": True, "top_k": 1}
        custom = consistent(babble.tokenizer, consistency="masks")
        found = generate(babble, ids, custom_generate=custom, **settings)
        greedy = generate(babble, ids, custom_generate=custom)
        assert torch.equal(found, greedy)
        assert survives(babble, found[0, ids.shape[1] :].tolist())
        assert not torch.equal(found, generate(babble, ids, **settings))

    def test_synthid_brings_no_token_back_that_others_removed(self, babble: TorchModel) -> None:
        """It gives finite scores to what top-k has removed; masks may refuse all the others."""
        ids = prompt(babble).repeat(8, 1)
        config = SynthIDTextWatermarkingConfig(**NGRAMS)
        custom = consistent(babble.tokenizer, consistency="masks")
        settings = {"do_sample": True, "top_k": 1, "watermarking_config": config}
        found = generate(babble, ids, custom_generate=custom, **settings)
        greedy = generate(babble, ids[:1], custom_generate=custom)
        assert all(torch.equal(row[: greedy.shape[1]], greedy[0]) for row in found)


class TestDictionary:
    def test_scores_and_logits_are_those_of_transformers(self, english: TorchModel) -> None:
        """Of a text that is not rolled back, in each step, with rows that end before others."""
        ids = torch.cat([prompt(english, "He is"), prompt(english, "We go")])
        asked = {"return_dict_in_generate": True, "output_scores": True, "output_logits": True}
        settings = {"max_new_tokens": 4, "temperature": 0.7, "top_k": 9, "do_sample": True}
        custom = consistent(english.tokenizer)
        same = 0
        for seed in range(4):
            plain = generate(english, ids, seed, **settings, **asked)
            found = generate(english, ids, seed, custom_generate=custom, **settings, **asked)
            assert type(found) is type(plain)
            if torch.equal(found.sequences, plain.sequences):
                same += 1
                for kind in ("scores", "logits"):
                    ours, theirs = torch.stack(found[kind]), torch.stack(plain[kind])
                    kept = torch.isfinite(ours)  # no special token is ever drawn
                    assert torch.allclose(ours[kept], theirs[kept], atol=1e-4)
                    assert kept.sum() > kept.shape[0] * 2 * (8 if kind == "scores" else 4000)
        assert same

    def test_scores_are_those_that_each_token_was_drawn_from(self, babble: TorchModel) -> None:
        """Of a text that was rolled back, too; and with masks, nothing else can follow."""
        ids = prompt(babble).repeat(2, 1)
        for consistency in ("rollback", "masks"):
            custom = consistent(babble.tokenizer, consistency=consistency)  # type: ignore[arg-type]  # both are known
            settings = {"custom_generate": custom, "do_sample": True, "top_k": 0}
            found = generate(
                babble, ids, **settings, return_dict_in_generate=True, output_scores=True
            )
            written = found.sequences[:, ids.shape[1] :]
            assert len(found.scores) == written.shape[1]
            chosen = torch.stack(found.scores).gather(2, written.T[:, :, None])
            assert torch.isfinite(chosen).all()
            if consistency == "masks":
                allowed = Verifier(babble.tokenizer, mode="prefix").start(written[0, :4].tolist())
                kept = torch.isfinite(found.scores[4][0, : babble.tokenizer.vocab_size])
                assert kept.nonzero()[:, 0].tolist() == sorted(
                    {*allowed.mask().nonzero()[0].tolist(), 2}
                )


class TestGenerate:
    """`ticore_transformers.generate`."""

    def test_generate_is_model_generate_with_consistent(self, english: TorchModel) -> None:
        ids, model = prompt(english), english.network.module
        custom = consistent(english.tokenizer)
        expected = generate(english, ids, custom_generate=custom, do_sample=True)
        torch.manual_seed(0)
        settings = {"input_ids": ids, "do_sample": True, "max_new_tokens": 30}
        assert torch.equal(generate_consistent(model, english.tokenizer, **settings), expected)

    def test_streamer_gets_the_text_and_its_end(self, english: TorchModel) -> None:
        keeper = Keeper()
        found = generate_consistent(
            english.network.module,
            english.tokenizer,
            prompt(english),
            streamer=keeper,
            max_new_tokens=20,
        )
        assert keeper.shown == found[0].tolist()
        assert keeper.ends == 1

    @pytest.mark.parametrize(
        "wrong",
        [
            {"no_such_argument": 1},
            {"num_beams": 2, "max_new_tokens": 3},
            {"custom_generate": "x"},
            {"stop_strings": ""},
            {"consistency": "none"},
        ],
    )
    def test_streamer_is_ended_when_generate_fails(
        self, wrong: dict[str, Any], english: TorchModel
    ) -> None:
        keeper = Keeper()
        with pytest.raises((SettingsError, ValueError)):
            generate_consistent(
                english.network.module,
                english.tokenizer,
                prompt(english),
                streamer=keeper,
                **wrong,
            )
        assert keeper.ends == 1

    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_stop_strings_end_the_text(self, consistency: Any, english: TorchModel) -> None:
        ids, model, tokenizer = prompt(english), english.network.module, english.tokenizer
        settings = {"consistency": consistency, "max_new_tokens": 30}
        whole = generate_consistent(model, tokenizer, ids, **settings)[0].tolist()
        string = from_the_middle(tokenizer.decode(whole[ids.shape[1] :]))
        found = generate_consistent(model, tokenizer, ids, stop_strings=string, **settings)
        new = found[0, ids.shape[1] :].tolist()
        assert found[0].tolist() == whole[: found.shape[1]]
        assert string in tokenizer.decode(new)
        assert string not in tokenizer.decode(new[:-3])  # observation is 2

    @pytest.mark.parametrize(
        "how", [{"consistency": "rollback"}, {"consistency": "masks"}, {"num_beams": 2}]
    )
    def test_the_name_of_a_special_token_ends_the_text_with_that_token(
        self, how: dict[str, Any], english: TorchModel
    ) -> None:
        """No text spells it."""
        ids, model, tokenizer = prompt(english), english.network.module, english.tokenizer
        start = 1
        settings = {"consistency": "masks", "max_new_tokens": 12, **how}
        likely = [Likely(start, ids.shape[1] + 4)]
        for strings in ("<s>", ["never", "<s>"]):
            found = generate_consistent(
                model, tokenizer, ids, logits_processor=likely, stop_strings=strings, **settings
            )
            new = found[0, ids.shape[1] :].tolist()
            assert new.index(start) == 4
            assert set(new[5:]) <= {0, 2}  # padding
        other = generate_consistent(model, tokenizer, ids, logits_processor=likely, **settings)
        assert start not in other[0, ids.shape[1] :].tolist()

    @pytest.mark.parametrize("pad", [None, 0])
    def test_beams_that_a_stop_string_ended_need_no_end_token(
        self, pad: int | None, english: TorchModel
    ) -> None:
        """Without one transformers fills rows with -1."""
        module = deepcopy(english.network.module)
        module.generation_config.eos_token_id = module.config.eos_token_id = None
        module.generation_config.pad_token_id = module.config.pad_token_id = pad
        ids = torch.cat([prompt(english, "She is here"), prompt(english, "It was cold")])
        found = generate_consistent(
            module,
            english.tokenizer,
            ids,
            attention_mask=torch.ones_like(ids),
            consistency="masks",
            num_beams=2,
            max_new_tokens=12,
            stop_strings=["a", "e", "i", "b", "c"],
        )
        written = found[:, ids.shape[1] :].tolist()
        assert len(written) == 2
        assert all(survives(english, [i for i in row if i > 0]) for row in written)

    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_end_tokens_may_be_a_tensor(self, consistency: Any, english: TorchModel) -> None:
        ids, model, tokenizer = prompt(english), english.network.module, english.tokenizer
        settings = {"consistency": consistency, "max_new_tokens": 30}
        *_, period = tokenizer.encode("It was late.")
        several, tensor = (
            generate_consistent(model, tokenizer, ids, eos_token_id=ends, **settings)
            for ends in ([2, period], torch.tensor([2, period]))
        )
        assert torch.equal(several, tensor)

    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_stop_strings_of_a_config_are_those_of_the_argument(
        self, consistency: Any, english: TorchModel
    ) -> None:
        """transformers would ask for its own tokenizer."""
        ids, model, tokenizer = prompt(english), english.network.module, english.tokenizer
        settings = {"consistency": consistency, "max_new_tokens": 30}
        whole = generate_consistent(model, tokenizer, ids, **settings)
        string = from_the_middle(tokenizer.decode(whole[0, ids.shape[1] :].tolist()))
        expected = generate_consistent(model, tokenizer, ids, stop_strings=string, **settings)
        config = GenerationConfig(stop_strings=[string], max_new_tokens=30)
        found = generate_consistent(
            model, tokenizer, ids, consistency=consistency, generation_config=config
        )
        assert torch.equal(found, expected)
        assert config.stop_strings == [string]

    def test_stop_strings_of_the_models_own_config_are_refused(
        self, english: TorchModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = english.network.module
        monkeypatch.setattr(model.generation_config, "stop_strings", ["."])
        with pytest.raises(SettingsError, match="give them here, and set"):
            generate_consistent(model, english.tokenizer, prompt(english), max_new_tokens=3)

    @pytest.mark.parametrize("end", [-1, 10**6])
    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_an_end_without_a_logit_never_comes(
        self, consistency: Any, end: int, english: TorchModel
    ) -> None:
        """-1 stands for none in some configs; taken for an index it would be the last id."""
        found = generate_consistent(
            english.network.module,
            english.tokenizer,
            prompt(english),
            consistency=consistency,
            eos_token_id=end,
            max_new_tokens=5,
            output_scores=True,
            return_dict_in_generate=True,
        )
        new = found.sequences[0, prompt(english).shape[1] :].tolist()
        assert survives(english, new)
        assert len(new) == len(found.scores) == 5

    @pytest.mark.parametrize("view", ["continuation", "whole"])
    def test_beams_are_those_of_the_processor_in_each_view(
        self, view: Any, babble: TorchModel
    ) -> None:
        ids, model, tokenizer = prompt(babble), babble.network.module, babble.tokenizer
        settings = {"num_beams": 4, "num_return_sequences": 4, "max_new_tokens": 12}
        processor = ConsistentLogitsProcessor(
            tokenizer, prompt_length=ids.shape[1], eos_ids=[2], view=view
        )
        expected = generate(babble, ids, logits_processor=[processor], **settings)
        found = generate_consistent(
            model, tokenizer, ids, consistency="masks", view=view, **settings
        )
        assert torch.equal(found, expected)

    def test_beams_are_those_of_the_processor(self, babble: TorchModel) -> None:
        ids, model, tokenizer = prompt(babble), babble.network.module, babble.tokenizer
        settings = {"num_beams": 3, "num_return_sequences": 2, "max_new_tokens": 8}
        processor = ConsistentLogitsProcessor(tokenizer, prompt_length=ids.shape[1], eos_ids=[2])
        expected = generate(babble, ids, logits_processor=[processor], **settings)
        found = generate_consistent(model, tokenizer, ids, consistency="masks", **settings)
        assert torch.equal(found, expected)
        assert all(survives(babble, row.tolist()) for row in found[:, ids.shape[1] :])

    def test_beams_may_be_padded_with_an_ordinary_id(self, english: TorchModel) -> None:
        """A text that a stop string ended has no id that says so. Two periods are one token."""
        tokenizer = english.tokenizer
        *_, period = tokenizer.encode("It was late.")
        ids = torch.cat([prompt(english, "She is here"), prompt(english, "It was cold")])
        torch.manual_seed(0)
        found = generate_consistent(
            english.network.module,
            tokenizer,
            ids,
            consistency="masks",
            num_beams=2,
            max_new_tokens=12,
            stop_strings="e",
            pad_token_id=period,
        )
        assert any(row[-2:] == [period, period] for row in found.tolist())

    @pytest.mark.parametrize("beams", [1, 2])
    @pytest.mark.parametrize("consistency", ["rollback", "masks"])
    def test_a_model_with_an_encoder_is_refused(self, consistency: Any, beams: int) -> None:
        """What is written begins with an id of the decoder, and not with the prompt."""
        sizes = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
        module = T5ForConditionalGeneration(T5Config(vocab_size=704, **sizes)).eval()
        with pytest.raises(SettingsError, match="found an encoder, which consistent"):
            generate_consistent(
                module,
                HUGGING_FACE["hf-gpt2"](),
                torch.tensor([[5, 6, 7]]),
                consistency=consistency,
                num_beams=beams,
                max_new_tokens=3,
            )

    @pytest.mark.parametrize("beams", [1, 2])
    def test_a_paged_cache_is_refused(self, beams: int, english: TorchModel) -> None:
        """With it transformers writes the text without asking anything of ticore."""
        with pytest.raises(SettingsError, match="found cache_implementation='paged'"):
            generate_consistent(
                english.network.module,
                english.tokenizer,
                prompt(english),
                consistency="masks",
                num_beams=beams,
                cache_implementation="paged",
                max_new_tokens=3,
            )

    def test_beams_with_rollback_are_refused(self, english: TorchModel) -> None:
        with pytest.raises(SettingsError, match=r"found beams.*consistency='masks'"):
            generate_consistent(
                english.network.module,
                english.tokenizer,
                prompt(english),
                num_beams=2,
                max_new_tokens=3,
            )


@pytest.mark.skipif(
    not hasattr(transformers, "RecurrentGemmaConfig"), reason="transformers has no RecurrentGemma"
)
@pytest.mark.parametrize("consistency", ["rollback", "masks"])
def test_a_model_that_keeps_a_text_in_itself_generates_one_at_a_time(consistency: Any) -> None:
    tokenizer = HUGGING_FACE["hf-gpt2"]()
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
    config = transformers.RecurrentGemmaConfig(
        vocab_size=tokenizer.vocab_size, num_hidden_layers=3, lru_width=32, **sizes
    )
    module = network(config)
    ids = torch.tensor([[5, 6, 7], [8, 9, 10]])
    settings = {"consistency": consistency, "max_new_tokens": 2}
    assert generate_consistent(module, tokenizer, ids[:1], **settings).shape[0] == 1
    for given in ({}, {"num_return_sequences": 2, "do_sample": True}):
        rows = ids if not given else ids[:1]
        with pytest.raises(SettingsError, match=r"expected one text at a time, found 2: Recurr"):
            generate_consistent(module, tokenizer, rows, **settings, **given)


def from_the_middle(text: str) -> str:
    """Five characters that a text has."""
    return text[len(text) // 2 :][:5]


def test_stop_strings_are_found_before_the_last_of_new_tokens() -> None:
    """And across tokens; but not those that stand in the prompt."""
    tokenizer = ToyTokenizer(["a", "b", "ab", "c"])
    for row, most_new, expected in [
        ([1, 3, 0, 1], 1, True),  # "b c|a b"
        ([1, 3, 0, 3], 1, False),
        ([0, 1, 3, 3], 1, False),  # "a b|c c" has it in the prompt
        ([3, 0, 1, 3], 1, True),  # "c a|b c" begins there
        ([3, 3, 2, 3], 2, True),  # "c c|ab c"
    ]:
        criterion = StopStrings(["cc", "ab"][1:], tokenizer, 2, most_new)
        assert criterion(torch.tensor([row]), None).tolist() == [expected], row


def test_consistent_accepts_observation_by_position_with_a_warning(english: TorchModel) -> None:
    with pytest.warns(DeprecationWarning, match=r"by position is deprecated|observation=\.\.\."):
        assert callable(consistent(english.tokenizer, 3))
