"""Consistent token lists from SGLang.

    "custom_logit_processor": ticore_sglang.ConsistentTokens().to_str()

_server.py     what is read of a running SGLang server
_processor.py  `ConsistentTokens`
"""

from ._processor import ConsistentTokens

__all__ = ["ConsistentTokens"]
