"""Settings and tensors of GGUF files are those of the checkpoints they were made of."""

import math
import re

import numpy as np
import pytest

pytest.importorskip("gguf", reason="gguf is not installed")

import gguf

from tests.support.gguf_files import write_gguf
from tests.support.small_checkpoints import SETTINGS, shapes_of, tensors_of
from ticore.backend_kit.checkpoint import StartToken, open_model_files
from ticore.errors import ModelFilesError

DIGESTS = {
    "llama": "9d1ddedf58d7f5aa3d91bb5013ab3ba4bad8c808db8ed7e92e99fe5cc67303f9",
    "qwen2": "e583b53ba0a09413bc558c69287f0aaeeaaed9efc52b13551c11ba3a6c4b7062",
    "gemma3": "e97048810ccd99d5538508a991be45c6c670a8906b26c3aa166d349aa70c630f",
    "gpt2": "15e5e5f8ecc5245435536c21dcea346947a6ddae6e25cf5e99d3cd5d79283161",
}


def tokens(writer):
    """As much of a tokenizer as a model asks for."""
    writer.add_tokenizer_model("gpt2")
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


@pytest.fixture
def written(tmp_path):
    """`written(family, ...)`: the files of a model, as a backend opens them."""

    def written(family, settings=None, tensors=None, *, kind=None, more=lambda writer: None):
        def write(writer):
            tokens(writer)
            more(writer)

        path = tmp_path / "model.gguf"
        settings = SETTINGS[family] if settings is None else settings
        tensors = tensors_of(family, SETTINGS[family]) if tensors is None else tensors
        write_gguf(path, family, settings, tensors, kind=kind, more=write)
        return open_model_files(path)

    return written


def numbers(tensor):
    return tensor.data.view("<f4").reshape(tensor.shape)


@pytest.mark.parametrize("family", SETTINGS)
def test_file_gives_the_settings_and_tensors_of_the_checkpoint(family, written):
    files = written(family)
    assert files.settings == SETTINGS[family] | {"bos_token_id": 1, "eos_token_id": 2}
    expected, found = tensors_of(family, SETTINGS[family]), dict(files.tensors.items())
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        # Gemma's scales are stored with one added, which rounds them.
        np.testing.assert_allclose(numbers(found[name]), array, rtol=0, atol=3e-7, err_msg=name)
        if not (family == "gemma3" and "norm" in name):
            assert np.array_equal(numbers(found[name]), array), name


@pytest.mark.parametrize("family", SETTINGS)
def test_packed_matrices_come_in_the_layout_of_the_checkpoint(family, written):
    kind = gguf.GGMLQuantizationType.Q8_0
    for name, tensor in written(family, kind=kind).tensors.items():
        original = tensors_of(family, SETTINGS[family])[name]
        step = np.abs(original).max() / 127
        assert np.abs(numbers(tensor) - original).max() < step, name
        assert tensor.kind == ("Q8_0" if original.ndim > 1 else "F32")


def test_biases_of_llama_are_settings_and_ordered_like_weights(written):
    rng = np.random.default_rng(1)
    biases = {
        name.replace(".weight", ".bias"): rng.standard_normal(shape[0], np.float32)
        for name, shape in shapes_of("llama", SETTINGS["llama"]).items()
        if "_proj" in name
    }
    files = written("llama", tensors=tensors_of("llama", SETTINGS["llama"]) | biases)
    assert files.settings["attention_bias"]
    assert files.settings["mlp_bias"]
    found = dict(files.tensors.items())
    assert all(np.array_equal(numbers(found[name]), array) for name, array in biases.items())


def llama3_divisors(theta, width, factor):
    """By how much Llama 3.1 divides the angles: not the fast ones, and the slow ones by all."""
    for i in range(0, width, 2):
        wave = 2 * math.pi * theta ** (i / width)
        share = (8192 / wave - 1) / 3
        yield factor if share < 0 else 1 if share > 1 else 1 / ((1 - share) / factor + share)


def test_divisors_of_llama_3_become_its_settings(written):
    def more(factor, theta=1e6):
        divisors = np.array([*llama3_divisors(theta, 16, factor)], np.float32)
        return lambda writer: writer.add_tensor("rope_freqs.weight", divisors)

    assert written("llama", more=more(32.0)).settings["rope_scaling"] == {
        "rope_type": "llama3",
        "factor": 32.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    with pytest.raises(ModelFilesError, match=r"rope_freqs\.weight to be as in Llama 3\.1"):
        _ = written("llama", more=more(32.0, theta=5e5)).settings


def test_scaled_angles_become_settings(written):
    def scaled(**values):
        def more(writer):
            for name, value in values.items():
                add = writer.add_string if isinstance(value, str) else writer.add_float32
                add = writer.add_uint32 if isinstance(value, int) else add
                add(f"qwen2.rope.scaling.{name}", value)

        return written("qwen2", more=more).settings["rope_scaling"]

    assert scaled(type="none") is None
    assert scaled(factor=4.0) == {"rope_type": "linear", "factor": 4.0}
    assert scaled(type="yarn", factor=4.0, original_context_length=10) == {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 10,
    }
    for values, message in (
        ({"type": "longrope"}, "'none' or 'linear' or 'yarn', found 'longrope'"),
        ({"type": "none", "factor": 2.0}, "'linear' or 'yarn', found 'none'"),
        ({"type": "yarn"}, "factor to be a number, found None"),
        ({"attn_factor": 2.0}, "found 'qwen2.rope.scaling.attn_factor'"),
    ):
        with pytest.raises(ModelFilesError, match=re.escape(message)):
            scaled(**values)


def test_pattern_of_gemma_may_be_a_number_or_a_list(written):
    def kinds(pattern):
        add = "add_uint32" if isinstance(pattern, int) else "add_array"
        key = "gemma3.attention.sliding_window_pattern"
        files = written("gemma3", more=lambda writer: getattr(writer, add)(key, pattern))
        return [kind == "sliding_attention" for kind in files.settings["layer_types"]]

    assert kinds(2) == [True, False, True, False, True, False, True]
    assert kinds([False] * 6 + [True]) == [False] * 6 + [True]
    for wrong in ([True], [0] * 7, 0):
        with pytest.raises(ModelFilesError, match="sliding_window_pattern to be a positive"):
            kinds(wrong)


def test_every_id_that_ends_a_text_or_a_turn_is_named(written):
    files = written("llama", more=lambda writer: writer.add_eot_token_id(5))
    assert files.settings["eos_token_id"] == [2, 5]
    with pytest.raises(ModelFilesError, match=r"eom_token_id to be token ids from 0 to 19"):
        _ = written("llama", more=lambda writer: writer.add_eom_token_id(20)).settings


def test_start_token_is_that_of_llama_cpp(written):
    def start(**added):
        def more(writer):
            for name, value in added.items():
                getattr(writer, name)(value)

        return written("llama", more=more).find_start_token(1, 2, 20)

    assert start() == StartToken(1, always=False)
    assert start(add_tokenizer_pre="llama-bpe") == StartToken(1, always=True)
    assert start(add_add_bos_token=True) == StartToken(1, always=True)
    assert start(add_tokenizer_pre="tekken", add_add_bos_token=False).always is False


@pytest.mark.parametrize(("family", "digest"), DIGESTS.items())
def test_digest_of_a_file_never_changes(family, digest, written):
    """Agreements hold it: a setting that is read in another way would make them useless."""
    shapes = shapes_of(family, SETTINGS[family])
    tensors = {
        name: (np.arange(math.prod(shape)) % 17).astype(np.float32).reshape(shape)
        for name, shape in shapes.items()
    }
    files = written(family, tensors=tensors, kind=gguf.GGMLQuantizationType.Q8_0)
    assert files.checkpoint(StartToken(1, always=True)).digest() == digest


def test_chat_template_and_its_special_tokens_are_kept(written):
    def more(writer):
        writer.add_chat_template("{{ messages }}")
        writer.add_token_list(["<unk>", "<s>", "</s>"])

    found = written("llama", more=more).checkpoint(StartToken(1, always=True))
    assert found.chat_template == "{{ messages }}"
    assert found.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"}
    assert written("llama").chat_template is None


def without(mapping, *names):
    return {name: value for name, value in mapping.items() if name not in names}


class TestRefusals:
    def refuse(self, written, message, family="llama", **changes):
        with pytest.raises(ModelFilesError, match=re.escape(message)) as refusal:
            _ = written(family, **changes).settings
        assert "\n" not in str(refusal.value)

    def test_other_families(self, written, tmp_path):
        writer = gguf.GGUFWriter(tmp_path / "model.gguf", "mamba")
        for write in (writer.write_header_to_file, writer.write_kv_data_to_file):
            write()
        writer.write_tensors_to_file()
        writer.close()
        with pytest.raises(ModelFilesError, match="one of llama, qwen2, gemma3, gpt2, found 'mam"):
            _ = open_model_files(tmp_path / "model.gguf").settings

    def test_one_part_of_several(self, written):
        self.refuse(written, "one part of several", more=lambda w: w.add_uint16("split.count", 3))

    def test_settings_that_are_not_known(self, written):
        def experts(writer):
            writer.add_uint32("llama.expert_count", 8)

        self.refuse(written, "found 'llama.expert_count'; use", more=experts)

    @pytest.mark.parametrize(
        ("family", "name"),
        [("llama", "hidden_size"), ("gpt2", "n_layer"), ("qwen2", "rms_norm_eps")],
    )
    def test_settings_that_are_missing(self, family, name, written):
        settings = without(SETTINGS[family], name)
        self.refuse(written, "found None", family, settings=settings)

    def test_settings_of_another_type(self, written):
        def lists(writer):
            writer.add_array("llama.rope.scaling.type", ["linear"])
            writer.add_array("llama.rope.dimension_count", [16, 16])

        self.refuse(written, "rope.dimension_count to be 16, found [16, 16]", more=lists)

    def test_lists_longer_than_any_network(self, written):
        def long(writer):
            writer.add_array("llama.attention.head_count_kv", np.ones(10_001, np.uint8).tolist())

        self.refuse(written, "head_count_kv to be at most 10,000 numbers, found 10001", more=long)

    def test_heads_that_do_not_share_the_rows(self, written):
        def odd(writer):
            writer.add_tensor("blk.0.attn_q.weight", np.ones((60, 32), np.float32))

        tensors = without(
            tensors_of("llama", SETTINGS["llama"]), "model.layers.0.self_attn.q_proj.weight"
        )
        message = "blk.0.attn_q.weight: expected a multiple of 8 rows, found 60"
        self.refuse(written, message, tensors=tensors, more=odd)

    def test_tensors_that_are_not_known(self, written):
        def odd(writer):
            writer.add_tensor("blk.0.attn_sinks.weight", np.ones(4, np.float32))

        self.refuse(written, "found 'blk.0.attn_sinks.weight'; use", more=odd)

    def test_files_without_an_embedding(self, written):
        tensors = without(tensors_of("llama", SETTINGS["llama"]), "model.embed_tokens.weight")
        self.refuse(written, "a matrix token_embd.weight, found none", tensors=tensors)
