"""The service in words that programs read: OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, get_args

from ..._version import __version__
from ...watermarking import Tokenizations
from .query import MOST_ID, MOST_SEARCHED_BYTES, MOST_TEXTS


def _many(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_TEXTS}


_IDS = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": MOST_ID}}
_QUERY = {
    "type": "object",
    "description": "One of text, texts and ids.",
    "properties": {
        "text": {"type": "string", "description": "without the prompt, if that is possible"},
        "texts": _many({"type": "string"}),
        "ids": {
            "description": "the token ids of one text, or of many",
            "anyOf": [_IDS, _many(_IDS)],
        },
        "configuration": {
            "type": ["string", "null"],
            "description": "look for this one alone; see GET /configurations",
        },
        "tokenizations": {
            "enum": [*get_args(Tokenizations), None],
            "default": "read",
            "description": "places: say how much of the evidence stands where the writer may have "
            "had other tokens. search: look for these tokens, which the p-value pays for. With "
            f"either a request has at most {MOST_SEARCHED_BYTES:,} bytes.",
        },
    },
    "oneOf": [{"required": [name]} for name in ("text", "texts", "ids")],
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
_ANSWERS = {
    "type": "object",
    "properties": {"results": {"type": "array", "items": {"anyOf": [_ANSWER, _ERROR]}}},
    "required": ["results"],
}
_REFUSED_BY_ALL = {
    "400": "the request says something else",
    "421": "the service has another name",
    "500": "an error of the service, which writes a line about it on its terminal",
}
_TOKEN_MISSING = {"401": "the token is missing or wrong"}
_REFUSED_BY_DETECT = {
    "408": "its body did not arrive in time",
    "413": "it is too large",
    "415": "it is not application/json",
    "422": "the text is too short, or has ids that the tokenizer lacks",
    "429": "too many requests from one address",
    "503": "too many requests, or it took too long, or the service ends",
}
_BUSY = {"503": "all connections are at work"}
_LIFELESS = {"503": "the processes that detect answer nothing, or all connections are at work"}
_TOKEN_OR_NONE: list[dict[str, list[str]]] = [{"token": []}, {}]  # as the service is started


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
                        "200": _response("what was found", {"anyOf": [_ANSWER, _ANSWERS]}),
                        **_refusals(_REFUSED_BY_ALL | _TOKEN_MISSING | _REFUSED_BY_DETECT),
                    },
                    "security": _TOKEN_OR_NONE,
                }
            },
            "/configurations": _get(
                "The names of what is looked for",
                _REFUSED_BY_ALL | _TOKEN_MISSING | _BUSY,
                _TOKEN_OR_NONE,
            ),
            "/healthz": _get("Whether the service works", _REFUSED_BY_ALL | _LIFELESS, []),
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _get(
    summary: str, refused: dict[str, str], security: list[dict[str, list[str]]]
) -> dict[str, Any]:
    answers = {"200": _response(summary, {"type": "object"}), **_refusals(refused)}
    return {"get": {"summary": summary, "responses": answers, "security": security}}


def _refusals(said: dict[str, str]) -> dict[str, dict[str, Any]]:
    found = {status: _response(why, _ERROR) for status, why in said.items()}
    if "401" in found:
        found["401"]["headers"] = {
            "WWW-Authenticate": {"schema": {"const": "Bearer"}, "description": "what is asked for"}
        }
    return found


def _response(said: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": said, "content": _json(schema)}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
