"""What the readers were compared with is said once: in their modules and in the documentation."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.support import watermark_engines
from ticore.schemes import external

DOCS = Path(__file__).parents[3] / "docs" / "engine-watermarks.md"
MODULES = sorted(
    {getattr(external, name).__module__ for name in external.__all__ if name[0] in "STV"}
)


def said_in(module):
    said = re.search(r"Compared with ([^:]+):", " ".join(import_module(module).__doc__.split()))
    assert said is not None
    return said[1]


@pytest.mark.parametrize("module", MODULES)
def test_versions_in_the_documentation_are_those_of_the_module(module):
    scheme = module.rpartition("._")[2]
    setting = {"vllm": "`gumbel`", "vllm_dual_key": "`dual_key_gumbel`", "vllm_sbw": "`sbw`"}
    setting |= {"transformers": "for_transformers(", "synthid": "watermarking_config)`: weighted"}
    setting |= {"sglang": "SGLang", "textseal": "TextSeal"}
    rows = [line.split("|") for line in DOCS.read_text().splitlines() if line.startswith("|")]
    (row,) = [row for row in rows if len(row) == 7 and setting[scheme] in "|".join(row[:4])]
    assert row[5].strip().startswith(said_in(module) + ":")


def test_vectors_were_made_with_the_version_that_is_said():
    made = json.loads(watermark_engines.GOLDENS.read_text())["made with"]
    for name in ("transformers", "synthid"):
        assert made.startswith(said_in(f"ticore.schemes.external._{name}") + ".")
