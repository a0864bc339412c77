"""Conversations as prompts: what was said so far, written the way a chat model was trained on.

_chat.py              a conversation
_prompts.py           the ids of any prompt, for one model
_rendering.py         a model's template, rendered in a process whose time and memory are bounded
_template_process.py  that process
"""

from ._chat import Chat
from ._prompts import Prompt, conversation_ids, prompt_ids

__all__ = ["Chat", "Prompt", "conversation_ids", "prompt_ids"]
