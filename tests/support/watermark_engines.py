"""What transformers itself writes and detects, for comparison; its results are committed.

`python -m tests.support.watermark_engines` writes `schemes/external/goldens.json` again. It needs
torch and transformers; the tests of the schemes do not. With `cuda` after it, on a machine with a
GPU, it writes what transformers draws there to `cuda_goldens.json`.
"""

import json
import sys
import warnings
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).parents[1] / "schemes" / "external" / "goldens.json"
CUDA_GOLDENS = GOLDENS.with_name("cuda_goldens.json")
VOCABULARY = 1000
LENGTH = 160
SPREAD = 1.5  # of random logits: texts of medium entropy
KEYS = [654, 400, 836, 123, 340, 443, 597, 160, 57]

KGW = {
    "default": {},
    "selfhash": {"seeding_scheme": "selfhash", "context_width": 4, "greenlist_ratio": 0.5},
    "wide": {"context_width": 3, "hashing_key": 15485863 + (1 << 40)},
    "negative key": {"hashing_key": -3},
    "largest key": {"hashing_key": (1 << 64) - 1, "greenlist_ratio": 0.5},
    "products that wrap": {
        "hashing_key": (1 << 63) - 25,
        "seeding_scheme": "selfhash",
        "context_width": 2,
    },
    "itself alone": {"seeding_scheme": "selfhash", "bias": 4.0},
}
SYNTHID = {
    "nine layers": {"keys": KEYS, "ngram_len": 5},
    "one layer": {"keys": [77], "ngram_len": 3},
    "large keys": {
        "keys": [-5, (1 << 63) - 1, -(1 << 63), 1 << 40],
        "ngram_len": 2,
        "sampling_table_size": 1 << 10,
        "sampling_table_seed": (1 << 33) + 9,
    },
}


def library():
    """transformers, whose own warnings are not under test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers  # noqa: PLC0415
        from transformers.generation import watermarking  # noqa: F401, PLC0415

        return transformers


def kgw_processor(config, device="cpu"):
    return library().WatermarkingConfig(**config).construct_processor(VOCABULARY, device)


def kgw_found(config, ids, vocabulary=VOCABULARY, distinct=False, device="cpu"):
    """Which tokens transformers finds green, and its z-score."""
    import torch  # noqa: PLC0415

    model = library().PretrainedConfig()
    model.vocab_size, model.bos_token_id = vocabulary, -1  # no token is left out
    detector = library().WatermarkDetector(
        model, device, library().WatermarkingConfig(**config), ignore_repeated_ngrams=distinct
    )
    found = detector(torch.tensor([ids], device=device), return_dict=True)
    processor, start = detector.processor, detector.processor.context_width
    start -= processor.seeding_scheme == "selfhash"
    green = []
    for at in range(start, len(ids)):
        window = ids[: at + (processor.seeding_scheme == "selfhash")]
        last = torch.tensor(window[-processor.context_width :], device=device)
        listed = processor._get_greenlist_ids(last)
        green.append(int(ids[at] in listed.tolist()))
    return green, float(found.z_score[0])


def synthid_processor(config):
    return library().SynthIDTextWatermarkingConfig(**config).construct_processor(0, "cpu")


def synthid_found(config, ids):
    """The g-values, and which of them transformers does not mask."""
    import torch  # noqa: PLC0415

    processor = synthid_processor(config)
    row = torch.tensor([ids])
    mask = processor.compute_context_repetition_mask(row)[0]
    return processor.compute_g_values(row)[0].tolist(), mask.int().tolist()


def written(processor, seed, vocabulary=VOCABULARY, length=LENGTH, spread=SPREAD, device="cpu"):
    """Tokens sampled from random logits, through a processor or, if that is None, without."""
    import torch  # noqa: PLC0415

    rng = np.random.default_rng(seed)
    ids = rng.integers(vocabulary, size=8).tolist()
    for _ in range(length):
        logits = torch.from_numpy(spread * rng.standard_normal((1, vocabulary))).to(device)
        if processor is not None:
            logits = processor(torch.tensor([ids], device=device), logits)
        chances = torch.softmax(logits, -1)[0].cpu().numpy()
        ids.append(int(rng.choice(vocabulary, p=chances / chances.sum())))
    return ids[8:]


def kgw_goldens(device="cpu"):
    """By the name of each configuration: a marked text, its green tokens and its z-score."""
    made = {}
    for seed, (name, config) in enumerate(KGW.items()):
        ids = written(kgw_processor(config, device), seed, device=device)
        green, z = kgw_found(config, ids, device=device)
        made[name] = {"ids": ids, "green": "".join(map(str, green)), "z": z}
    return made


def shuffle_digest(numbers):
    """Of a whole shuffle, int[n]."""
    return sha256(np.asarray(numbers).astype("<i8").tobytes()).hexdigest()


def main():
    import torch  # noqa: PLC0415

    made = {"made with": f"transformers {library().__version__}, torch {torch.__version__}"}
    made["kgw"] = kgw_goldens()
    made["synthid"] = {}
    for seed, (name, config) in enumerate(SYNTHID.items()):
        ids = written(synthid_processor(config), seed)
        bits, mask = synthid_found(config, ids)
        rows = ["".join(map(str, row)) for row in bits]
        mask = "".join(map(str, mask))
        made["synthid"][name] = {"ids": ids, "bits": rows, "mask": mask}
    made["unmarked"] = written(None, 99)
    GOLDENS.write_text(json.dumps(made, separators=(",", ":")) + "\n")


def main_on_a_gpu():
    """Draws the shuffles that the file has again, and writes new texts."""
    torch = import_module("torch")
    gpu = torch.cuda.get_device_properties(0)
    made = {
        "made with": f"transformers {library().__version__}, torch {torch.__version__}, {gpu.name}",
        "threads": gpu.multi_processor_count * gpu.max_threads_per_multi_processor,
        "shuffles": json.loads(CUDA_GOLDENS.read_text())["shuffles"],
        "kgw": kgw_goldens("cuda"),
    }
    generator = torch.Generator("cuda")
    for shuffle in made["shuffles"]:
        generator.manual_seed(shuffle["seed"])
        drawn = torch.randperm(shuffle["size"], generator=generator, device="cuda").tolist()
        shuffle["first"], shuffle["sha256"] = drawn[:8], shuffle_digest(drawn)
    CUDA_GOLDENS.write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main_on_a_gpu() if sys.argv[1:] == ["cuda"] else main()
