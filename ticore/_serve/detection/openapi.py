"""The service in words that programs read: OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, get_args

from ..._version import __version__
from ...watermarking._detector import Tokenizations
from .query import MOST_SEARCHED_BYTES, MOST_TEXTS

_IDS = {"type": "array", "items": {"type": "integer", "minimum": 0}}
_QUERY = {
    "type": "object",
    "description": "One of text, texts and ids.",
    "properties": {
        "text": {"type": "string", "description": "without the prompt, if that is possible"},
        "texts": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_TEXTS},
        "ids": {
            "description": "the token ids of one text, or of many",
            "anyOf": [_IDS, {"type": "array", "items": _IDS, "maxItems": MOST_TEXTS}],
        },
        "configuration": {
            "type": "string",
            "description": "look for this one alone; see GET /configurations",
        },
        "tokenizations": {
            "enum": list(get_args(Tokenizations)),
            "default": "read",
            "description": "places: say how much of the evidence stands where the writer may have "
            "had other tokens. search: look for these tokens, which the p-value pays for. With "
            f"either a request has at most {MOST_SEARCHED_BYTES:,} bytes.",
        },
    },
    "additionalProperties": False,
}
_ANSWER = {
    "type": "object",
    "properties": {
        "score": {"type": "number", "description": "standard deviations above unmarked text"},
        "p_value": {
            "type": "number",
            "description": "the probability that text without a watermark looks as marked, over "
            "all configurations that were looked for",
        },
        "num_scored_tokens": {"type": "integer"},
        "is_watermarked": {"type": "boolean"},
        "verdict": {
            "enum": ["watermarked", "watermarked in part", "no watermark found"],
        },
        "sentence": {"type": "string", "description": "the same for a person"},
        "configuration": {"type": ["string", "null"], "description": "the best one, if found"},
        "detection": {"type": "object", "description": "all numbers"},
    },
    "required": ["score", "p_value", "num_scored_tokens", "is_watermarked"],
}
_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
}
_MANY = {
    "type": "object",
    "properties": {"results": {"type": "array", "items": {"anyOf": [_ANSWER, _ERROR]}}},
    "required": ["results"],
}
_REFUSALS = {
    "400": "the request says something else",
    "401": "the token is missing or wrong",
    "408": "its body did not arrive in time",
    "413": "it is too large",
    "415": "it is not application/json",
    "421": "the service has another name",
    "422": "the text is too short, or has ids that the tokenizer lacks",
    "429": "too many requests from one address",
    "503": "too many requests, or it took too long",
}


def description(most_bytes: int) -> dict[str, Any]:
    """The description.

    Args:
        most_bytes: of a request.
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "ticore detect-server", "version": __version__},
        "paths": {
            "/detect": {
                "post": {
                    "summary": f"Look for watermarks; at most {most_bytes:,} bytes",
                    "requestBody": {"required": True, "content": _json(_QUERY)},
                    "responses": {
                        "200": _response("what was found", {"anyOf": [_ANSWER, _MANY]}),
                        **{status: _response(said, _ERROR) for status, said in _REFUSALS.items()},
                    },
                    "security": [{"token": []}, {}],
                }
            },
            "/configurations": _get("The names of what is looked for"),
            "/healthz": _get("Whether the service works"),
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _get(summary: str) -> dict[str, Any]:
    return {
        "get": {"summary": summary, "responses": {"200": _response(summary, {"type": "object"})}}
    }


def _response(said: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": said, "content": _json(schema)}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
