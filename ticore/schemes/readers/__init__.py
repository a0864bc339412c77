"""Readers of watermarks that other engines write; each stands alone and needs NumPy only."""

from .kgw import TransformersKGW
from .sglang import SGLangGumbel
from .synthid import TransformersSynthID
from .vllm import VLLMGumbel

__all__ = ["SGLangGumbel", "TransformersKGW", "TransformersSynthID", "VLLMGumbel"]
