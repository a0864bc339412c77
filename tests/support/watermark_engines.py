"""What transformers itself writes and detects, for comparison; its results are committed.

`python -m tests.support.watermark_engines` writes `schemes/external/goldens.json` again. It needs
torch and transformers; the tests of the schemes do not.
"""

import json
import warnings
from pathlib import Path

import numpy as np

GOLDENS = Path(__file__).parents[1] / "schemes" / "external" / "goldens.json"
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


def kgw_processor(config):
    return library().WatermarkingConfig(**config).construct_processor(VOCABULARY, "cpu")


def kgw_found(config, ids, vocabulary=VOCABULARY, distinct=False):
    """Which tokens transformers finds green, and its z-score."""
    import torch  # noqa: PLC0415

    model = library().PretrainedConfig()
    model.vocab_size, model.bos_token_id = vocabulary, -1  # no token is left out
    detector = library().WatermarkDetector(
        model, "cpu", library().WatermarkingConfig(**config), ignore_repeated_ngrams=distinct
    )
    found = detector(torch.tensor([ids]), return_dict=True)
    processor, start = detector.processor, detector.processor.context_width
    start -= processor.seeding_scheme == "selfhash"
    green = []
    for at in range(start, len(ids)):
        window = ids[: at + (processor.seeding_scheme == "selfhash")]
        listed = processor._get_greenlist_ids(torch.tensor(window[-processor.context_width :]))
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


def written(processor, seed, vocabulary=VOCABULARY, length=LENGTH, spread=SPREAD):
    """Tokens sampled from random logits, through a processor or, if that is None, without."""
    import torch  # noqa: PLC0415

    rng = np.random.default_rng(seed)
    ids = rng.integers(vocabulary, size=8).tolist()
    for _ in range(length):
        logits = torch.from_numpy(spread * rng.standard_normal((1, vocabulary)))
        if processor is not None:
            logits = processor(torch.tensor([ids]), logits)
        chances = torch.softmax(logits, -1)[0].numpy()
        ids.append(int(rng.choice(vocabulary, p=chances / chances.sum())))
    return ids[8:]


def main():
    import torch  # noqa: PLC0415

    made = {"made with": f"transformers {library().__version__}, torch {torch.__version__}"}
    made["kgw"] = {}
    for seed, (name, config) in enumerate(KGW.items()):
        ids = written(kgw_processor(config), seed)
        green, z = kgw_found(config, ids)
        made["kgw"][name] = {"ids": ids, "green": "".join(map(str, green)), "z": z}
    made["synthid"] = {}
    for seed, (name, config) in enumerate(SYNTHID.items()):
        ids = written(synthid_processor(config), seed)
        bits, mask = synthid_found(config, ids)
        rows = ["".join(map(str, row)) for row in bits]
        mask = "".join(map(str, mask))
        made["synthid"][name] = {"ids": ids, "bits": rows, "mask": mask}
    made["unmarked"] = written(None, 99)
    GOLDENS.write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
