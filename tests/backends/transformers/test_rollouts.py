"""Rollouts whose ids, text and log-probabilities agree, for a trainer of TRL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
from torch.nn.functional import log_softmax
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tests.support.tokenizers import HUGGING_FACE
from tests.support.torch_checkpoints import network
from ticore.consistency import Verifier, compare
from ticore.errors import SettingsError
from ticore_transformers import rollouts

CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
PROMPTS = ["the quick", "the quick", "she sells sea"]
END = 0


class FakeTrainer:
    """What `rollouts` uses of TRL's GRPOTrainer, by the same names."""

    def __init__(self, **settings: Any) -> None:
        library = HUGGING_FACE["hf-gpt2"]()._library
        self.processing_class = PreTrainedTokenizerFast(tokenizer_object=library)
        self.processing_class.chat_template = CHAT
        size = len(self.processing_class)
        config = LlamaConfig(
            vocab_size=size,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            attention_dropout=0.3,
        )
        module = network(config).train()
        assert isinstance(module, LlamaForCausalLM)
        self.model = module
        self.tools: list[Any] = []
        self.chat_template: str | None = None
        self.chat_template_kwargs: dict[str, Any] = {}
        self.environment_factories: dict[str, Any] | None = None
        self.accelerator = SimpleNamespace(unwrap_model=lambda model: model)
        self.generation_kwargs = {
            "max_new_tokens": 12,
            "do_sample": True,
            "eos_token_id": [END],
            "pad_token_id": END,
            "temperature": 1.0,
            "top_k": 0,
            **settings,
        }

    def log_probabilities(self, prompt: list[int], completion: list[int]) -> torch.Tensor:
        """float[len(completion), width], in one pass, as a trainer computes them."""
        self.model.eval()
        with torch.inference_mode():
            logits = self.model(torch.tensor([prompt + completion])).logits[0]
        self.model.train()
        scaled = logits[len(prompt) - 1 : -1] / self.generation_kwargs["temperature"]
        return log_softmax(scaled, dim=-1)


def test_several_texts_of_a_prompt_are_refused() -> None:
    """TRL gives a prompt as often as it wants texts: what is returned has one for each prompt."""
    trainer = FakeTrainer()
    with pytest.raises(SettingsError, match="num_return_sequences: expected 1, found 2"):
        rollouts(trainer.processing_class, num_return_sequences=2)(PROMPTS, trainer)
    found = rollouts(trainer.processing_class, num_return_sequences=1)(PROMPTS, trainer)
    assert len(found["completion_ids"]) == len(PROMPTS)


@pytest.mark.parametrize("consistency", ["rollback", "masks"])
def test_text_of_rollouts_is_read_back_as_their_ids(consistency: Any) -> None:
    trainer = FakeTrainer()
    torch.manual_seed(0)
    found = rollouts(trainer.processing_class, consistency=consistency)(PROMPTS, trainer)
    assert found.keys() == {"prompt_ids", "completion_ids", "logprobs"}
    assert found["prompt_ids"] == [trainer.processing_class(text).input_ids for text in PROMPTS]
    for ids, values in zip(found["completion_ids"], found["logprobs"], strict=True):
        assert 0 < len(ids) == len(values) <= 12
        written = ids[:-1] if ids[-1] == END else ids
        text = trainer.processing_class.decode(written)
        assert trainer.processing_class(text).input_ids == written
    assert trainer.model.training


def test_log_probabilities_are_those_of_the_masked_network() -> None:
    trainer = FakeTrainer(temperature=0.8)
    torch.manual_seed(1)
    found = rollouts(trainer.processing_class, consistency="masks")(PROMPTS, trainer)
    verifier = Verifier(trainer.processing_class, mode="prefix")
    for prompt, ids, values in zip(*found.values(), strict=True):
        steps = trainer.log_probabilities(prompt, ids)
        text = verifier.start()
        for token, value, step in zip(ids, values, steps, strict=True):
            allowed = torch.from_numpy(text.mask().copy())
            allowed[END] = True
            masked = log_softmax(step.masked_fill(~allowed, -torch.inf), dim=0)
            assert value == pytest.approx(float(masked[token]), abs=1e-3)
            text.push(token)


def test_log_probabilities_of_rollback_are_the_networks_where_nothing_is_banned() -> None:
    """A ban makes the other tokens more likely, never less."""
    trainer = FakeTrainer()
    torch.manual_seed(1)
    found = rollouts(trainer.processing_class)(PROMPTS, trainer)
    equal = 0
    for prompt, ids, values in zip(*found.values(), strict=True):
        steps = trainer.log_probabilities(prompt, ids)
        trainers = steps.gather(1, torch.tensor(ids)[:, None])[:, 0]
        difference = torch.tensor(values) - trainers
        assert (difference > -1e-3).all()
        equal += int((difference < 1e-3).sum())
    assert equal > 10


def test_chats_are_templated() -> None:
    trainer = FakeTrainer(max_new_tokens=2)
    chat = [{"role": "user", "content": "the quick"}]
    found = rollouts(trainer.processing_class)([chat], trainer)
    expected = trainer.processing_class("user: the quick\nassistant:").input_ids
    assert found["prompt_ids"] == [expected]


def test_chats_are_templated_as_the_trainer_templates_them() -> None:
    trainer = FakeTrainer(max_new_tokens=2)
    trainer.tools = [{"name": "sea"}, {"name": "shells"}]
    names = "{% for tool in tools %}{{ tool['name'] }} {% endfor %}"
    trainer.chat_template = names + "{{ manner }} {{ messages[0]['content'] }}"
    trainer.chat_template_kwargs = {"manner": "quick"}
    chat = [{"role": "user", "content": "fox"}]
    found = rollouts(trainer.processing_class)([chat], trainer)
    assert found["prompt_ids"] == [trainer.processing_class("sea shells quick fox").input_ids]


def test_the_model_trains_as_before() -> None:
    """A part that was frozen stays so."""
    trainer = FakeTrainer()
    layer = trainer.model.model.layers[0].eval()
    before = [module.training for module in trainer.model.modules()]
    rollouts(HUGGING_FACE["hf-gpt2"]())(PROMPTS, trainer)
    assert [module.training for module in trainer.model.modules()] == before
    assert not layer.training


def test_a_trainer_with_a_paged_cache_is_refused() -> None:
    """With it transformers writes texts without asking anything of ticore."""
    trainer = FakeTrainer(cache_implementation="paged")
    with pytest.raises(SettingsError, match="found cache_implementation='paged'"):
        rollouts(trainer.processing_class)(PROMPTS, trainer)


def test_no_prompts_give_no_rollouts() -> None:
    found = rollouts(HUGGING_FACE["hf-gpt2"]())([], FakeTrainer())
    assert found == {"prompt_ids": [], "completion_ids": [], "logprobs": []}


def test_environments_with_their_own_tools_are_refused() -> None:
    trainer = FakeTrainer()
    trainer.environment_factories = {"maze": object, "garden": object}
    chat = [{"role": "user", "content": "fox"}]
    with pytest.raises(SettingsError, match="found several"):
        rollouts(trainer.processing_class)([chat], trainer)


def test_a_trainer_with_vllm_is_refused() -> None:
    trainer = FakeTrainer()
    del trainer.generation_kwargs
    with pytest.raises(SettingsError, match="use_vllm=False"):
        rollouts(trainer.processing_class)(PROMPTS, trainer)


@pytest.mark.slow
@pytest.mark.parametrize("keeps_consistent", [True, False])
def test_grpo_on_texts_drifts_only_without(keeps_consistent: bool) -> None:
    """A few steps of GRPO that store rollouts as text, and read them again to train on them."""
    trainer = FakeTrainer(suppress_tokens=[END])
    optimizer = torch.optim.Adam(trainer.model.parameters(), lr=1e-3)
    opened = trainer.processing_class
    generate = rollouts(opened) if keeps_consistent else _plain_rollouts
    torch.manual_seed(2)
    drifted, moved = 0, False
    before = trainer.model.lm_head.weight.detach().clone()
    for _ in range(3):
        found = generate(["the quick"] * 4, trainer)
        texts = [opened.decode(ids) for ids in found["completion_ids"]]
        rewards = torch.tensor([float(text.count("e")) for text in texts])
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
        optimizer.zero_grad()
        for prompt, ids, text, advantage in zip(
            found["prompt_ids"], found["completion_ids"], texts, advantages, strict=True
        ):
            again = opened(text).input_ids
            drifted += not compare(opened, ids).consistent
            assert (again == ids) == compare(opened, ids).consistent
            logits = trainer.model(torch.tensor([prompt + again])).logits[0, len(prompt) - 1 : -1]
            chosen = log_softmax(logits, dim=-1).gather(1, torch.tensor(again)[:, None])
            (-advantage * chosen.mean()).backward()
        optimizer.step()
        moved |= not torch.equal(before, trainer.model.lm_head.weight)
    assert moved
    assert (drifted == 0) == keeps_consistent


def _plain_rollouts(prompts: list[str], trainer: FakeTrainer) -> dict[str, Any]:
    ids = torch.tensor([trainer.processing_class(text).input_ids for text in prompts])
    generate: Any = trainer.model.generate
    found = generate(ids, **trainer.generation_kwargs)
    return {"prompt_ids": ids.tolist(), "completion_ids": found[:, ids.shape[1] :].tolist()}


def test_templates_are_told_of_no_tools_where_there_are_none() -> None:
    trainer = FakeTrainer(max_new_tokens=2)
    trainer.chat_template = "{% if tools == none %}sea{% endif %} {{ messages[0]['content'] }}"
    found = rollouts(trainer.processing_class)([[{"role": "user", "content": "fox"}]], trainer)
    assert found["prompt_ids"] == [trainer.processing_class("sea fox").input_ids]


class Sharded:
    """FSDP's outermost module: its own parameters are whole only within `summon_full_params`."""

    is_whole = False

    def __init__(self, module: Any) -> None:
        self.module = module
        module.register_forward_pre_hook(self._require_whole)

    def _require_whole(self, *_: Any) -> None:
        assert Sharded.is_whole

    @staticmethod
    @contextmanager
    def summon_full_params(model: Any, recurse: bool, writeback: bool) -> Iterator[None]:
        assert isinstance(model, Sharded)
        assert (recurse, writeback) == (False, False)
        Sharded.is_whole = True
        yield
        Sharded.is_whole = False


def test_what_fsdp_leaves_to_the_outermost_module_is_gathered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torch.distributed.fsdp.FullyShardedDataParallel", Sharded)
    trainer = FakeTrainer(max_new_tokens=2)
    trainer.accelerator.unwrap_model = lambda model: model.module
    trainer.model = Sharded(trainer.model)
    found = rollouts(trainer.processing_class)(["fox"], trainer)
    assert len(found["completion_ids"]) == 1
    assert not Sharded.is_whole
