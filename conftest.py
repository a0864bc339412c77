"""Folders whose packages are not installed are left out."""

from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent
# A module elsewhere that cannot be imported is an error; tests say themselves what they need.
NEEDED = {
    "backends/ticore_jax": "jax",
    "backends/ticore_llamacpp": "llama_cpp",
    "backends/ticore_masks": "torch",
    "backends/ticore_sglang": "torch",
    "backends/ticore_torch": "torch",
    "backends/ticore_transformers": "transformers",
    "backends/ticore_vllm": "torch",
    "ticore/backend_kit/checkpoint/_gguf": "gguf",
    "training": "torch",
}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """True inside of such a folder; None lets pytest decide."""
    for folder, package in NEEDED.items():
        if collection_path.is_relative_to(ROOT / folder) and find_spec(package) is None:
            return True
    return None
