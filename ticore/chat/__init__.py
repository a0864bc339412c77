"""Conversations: what was said so far, written the way a chat model was trained on.

_chat.py              a conversation
_transcript.py        a conversation as a rollout left it, with tool calls and all other fields
_prompts.py           the ids of any prompt, for one model
_rendering.py         a model's template, rendered in a process whose time and memory are bounded
_template_process.py  that process
"""

from ._chat import Chat
from ._prompts import Prompt, conversation_ids, prompt_ids
from ._rendering import rendered_transcripts, require_renderer
from ._transcript import Transcript

__all__ = [
    "Chat",
    "Prompt",
    "Transcript",
    "conversation_ids",
    "prompt_ids",
    "rendered_transcripts",
    "require_renderer",
]
