"""What is written: prose, lists, code, or the replies of a chat."""

from __future__ import annotations

from pathlib import Path

from benchmarks._harness.prompts import language_of, load_prompts

KINDS = ("prose", "lists", "code", "chat")

_OF_KIND = {
    "lists": (
        "Shopping list:\n\n- milk\n- bread\n",
        "What to pack for a week at the sea:\n\n1. Sunscreen\n2.",
        "Pancakes\n\nIngredients:\n\n- 2 cups of flour\n-",
        "The ten largest cities of Europe:\n\n1. Istanbul\n2.",
        "Agenda of the meeting\n\n* Welcome\n* Minutes of the last meeting\n*",
        "Changes in version 2.1:\n\n- Fixed a crash on start\n-",
        "Five reasons to learn to cook:\n\n1. It saves money.\n",
        "Steps to plant a tree:\n\n1. Dig a hole twice as wide as the roots.\n2.",
    ),
    "code": (
        "def fibonacci(n):\n",
        "import os\n\n\nclass FileReader:\n    def __init__(self, path):\n",
        "#include <stdio.h>\n\nint main(void) {\n",
        "function sum(numbers) {\n    let total = 0;\n",
        "SELECT name, price\nFROM products\n",
        "public class Account {\n    private double balance;\n\n",
        "#!/bin/sh\n\nfor file in *.txt; do\n",
        "<html>\n  <head>\n    <title>My page</title>\n",
    ),
    "chat": (
        "What is a good name for a black cat?",
        "Give me a recipe for a simple soup, with a list of what I need.",
        "How do I reverse a list in Python? Show me the code.",
        "Why is the sky blue?",
        "Write a short poem about the sea.",
        "Plan a day in Paris for two people.",
        "Explain what a prime number is, with three examples.",
        "My train is late. What should I tell my boss?",
    ),
}


def prompts_of(kind: str, model: str, data: Path | None) -> list[str]:
    """The prompts for a kind of text; what a user says for `chat`.

    Args:
        kind: one of `KINDS`. All but `prose` are English.
        model: its place, which tells its language.
        data: as for `load_prompts`.

    Raises:
        InputFileError: see `load_prompts`.
    """
    return list(_OF_KIND[kind]) if kind in _OF_KIND else load_prompts(data, language_of(model))
