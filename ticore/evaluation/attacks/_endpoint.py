"""Paraphrase by a model at an OpenAI-compatible endpoint.

Requests are `POST {base_url}/chat/completions`. They hold the model's name, the messages and the
fields that the user asks for. There are no other fields, since each server refuses different ones.

The standard library sends the requests. An HTTP client and a retry package would replace only the
loop in `_send`; most of this file is what is sent, what an answer must hold, and errors that never
show the key. That does not justify two more dependencies.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Mapping
from http.client import HTTPException, IncompleteRead, InvalidURL
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ..._support.checks import (
    is_number,
    python_number,
    require,
    require_integer,
    require_number,
)
from ...errors import SettingsError, TicoreError, shown
from ._base import Attacked
from ._paraphrase import INSTRUCTION, PLACE, fill, require_template, share_changed

SYSTEM = (
    "Rewrite the text that the user sends in other words. Keep its meaning, its language and about "
    "its length. Answer with the rewritten text and nothing else."
)
"""The usual instruction as a system message, for `EndpointParaphrase(system=SYSTEM)`."""

_RESERVED = ("messages", "model")  # fields for the text and for the name in the result's label
_LONGEST_PAUSE = 60.0  # seconds, even if a server asks for more
_MOST_BYTES = 16 << 20  # of an answer
_QUOTED = 300  # characters of an answer that an error shows
_BUSY = 429
_FIRST_SERVER_ERROR = 500


class EndpointError(TicoreError):
    """An endpoint cannot be reached, refuses, or answers with something other than a completion."""


class NoCompletionError(EndpointError):
    """An endpoint answers a request with something other than a completion that holds a text.

    That may be about this text alone, which the model refuses, for example.
    """


class EndpointParaphrase:
    """Rewrites texts with a model on a server. Thread-safe.

    The texts are sent to the server. A request is sent again if the server is busy, fails, is
    silent, or closes the connection. The pause before it doubles each time. If
    the server asks for a longer pause, that is used, up to a minute.

    Args:
        base_url: such as `https://api.openai.com/v1` or `http://localhost:8000/v1`.
        model: the name to ask for. The label of the result has the name in the answer.
        key_variable: the environment variable that holds the API key; None sends no key.
        system: a system message with the instruction, such as `SYSTEM`; the user's message is then
            only the text, unless `prompt` is given too. Yan & Murawaki attack in this way, with
            GPT-4o and their own message. None: one user's message with instruction and text.
        prompt: a template with `{text}` in it, sent as the user's message. None: `INSTRUCTION`, or
            only the text if there is a system message.
        fields: more fields of the request, such as `{"temperature": 0.7, "max_tokens": 500}`, but
            not `model` and `messages`, which would replace the text.
        timeout: seconds that the server may be silent.
        attempts: how many times to send a request, the first time included.
        pause: seconds before the second time.
        draw: random numbers that vary the pauses, so that many clients do not return at once; None
            uses those of the operating system.

    Raises:
        SettingsError: a setting is out of range, the template does not hold `{text}` exactly once,
            or the environment variable holds no key.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key_variable: str | None = "OPENAI_API_KEY",
        system: str | None = None,
        prompt: str | None = None,
        fields: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        attempts: int = 5,
        pause: float = 1.0,
        draw: random.Random | None = None,
    ) -> None:
        if prompt is None:
            prompt = INSTRUCTION if system is None else PLACE
        require_template(prompt)
        if reserved := [name for name in _RESERVED if name in (fields or {})]:
            raise SettingsError(
                f"fields: expected none of {', '.join(_RESERVED)}, which hold the text and the "
                f"model's name, found {', '.join(reserved)}; give system, prompt or model"
            )
        fields = {name: python_number(value) for name, value in (fields or {}).items()}
        try:
            json.dumps(fields, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise SettingsError(
                f"fields: expected values that JSON has, found others ({error})"
            ) from None
        self._url = _checked(base_url)
        attempts = require_integer("attempts", attempts, 1)
        timeout = require_number("timeout", timeout, above=0)
        require(is_number(pause) and pause >= 0, "pause", "0 seconds or more", pause)
        self.name = f"paraphrase by {model}"
        self._model = model
        self._key = _key(key_variable)
        self._system = system
        self._prompt = prompt
        self._fields = fields
        self._timeout = timeout
        self._attempts = attempts
        self._pause = pause
        self._draw = draw or random.SystemRandom()

    def __call__(self, text: str) -> Attacked:
        """The text in the model's words, without white space at its ends.

        Raises:
            EndpointError: the endpoint refused, or failed each time.
            NoCompletionError: an EndpointError too: it answered, and not with a completion.
        """
        if not text.strip():
            return Attacked(text, self.name, 0.0)
        said = [("user", fill(self._prompt, text))]
        if self._system is not None:
            said.insert(0, ("system", self._system))
        messages = [{"role": role, "content": content} for role, content in said]
        body = {**self._fields, "model": self._model, "messages": messages}
        answer = self._read(self._send(json.dumps(body).encode()))
        choice = answer["choices"][0]
        after = choice["message"]["content"].strip()
        return Attacked(
            after,
            label=f"paraphrase by {answer.get('model') or self._model}",
            changed=share_changed(text, after),
            complete=choice.get("finish_reason") in ("stop", None),
        )

    def _send(self, body: bytes) -> bytes:
        """The body of the first successful answer. Raises EndpointError."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, body, headers, method="POST")
        problem = ""
        for attempt in range(self._attempts):
            pause = self._pause * 2**attempt * (1 - self._draw.random() / 2)
            try:
                with _OPENER.open(request, timeout=self._timeout) as response:
                    data: bytes = response.read(_MOST_BYTES + 1)
                    if len(data) > _MOST_BYTES:
                        raise EndpointError(
                            f"{self._url}: expected a completion of at most {_MOST_BYTES:,} "
                            f"bytes, found more; is this an OpenAI-compatible endpoint?"
                        )
                    if response.length:  # read(limit) does not report an answer that is cut off.
                        raise IncompleteRead(data, response.length)
                    return data
            except HTTPError as error:
                problem = self._said(error)
                if error.code != _BUSY and error.code < _FIRST_SERVER_ERROR:
                    raise EndpointError(
                        f"{self._url}: expected a completion, found {problem}; {_advice(error)}"
                    ) from None
                pause = max(pause, _seconds(error.headers.get("Retry-After")))
            except TimeoutError:
                problem = f"no answer within {self._timeout:g} seconds"
            except URLError as error:
                silent = isinstance(error.reason, TimeoutError)
                problem = (
                    f"no answer within {self._timeout:g} seconds" if silent else str(error.reason)
                )
            except (InvalidURL, ValueError) as error:
                raise EndpointError(
                    f"{self._url}: expected an address that a request can be sent to, found an "
                    f"unusable one ({error}); check base_url, and the proxy's address"
                ) from None
            except (OSError, HTTPException) as error:
                problem = f"a connection that broke off ({type(error).__name__})"
            if attempt + 1 < self._attempts:
                time.sleep(min(pause, _LONGEST_PAUSE))
        raise EndpointError(
            f"{self._url}: expected a completion, found {problem}, {self._attempts} times; check "
            f"that the server is running, or try again with more attempts or a longer timeout"
        )

    def _read(self, data: bytes) -> Any:
        """The answer as JSON that holds the text of a first choice. Raises NoCompletionError."""
        try:
            answer = json.loads(data)
            content = answer["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            content = None
        if not isinstance(content, str):
            raise NoCompletionError(
                f"{self._url}: expected JSON with choices[0].message.content, a text, found "
                f"{self._quote(data)}; is this an OpenAI-compatible endpoint, and did the model "
                f"answer with text?"
            )
        return answer

    def _said(self, error: HTTPError) -> str:
        try:
            with error:
                said = self._quote(error.read(_MOST_BYTES))
        except (OSError, HTTPException):
            said = "nothing"
        return f"status {error.code} {error.reason} ({said})"

    def _quote(self, data: bytes) -> str:
        """The beginning of an answer without the key, which some servers repeat."""
        text = data.decode(errors="replace")
        if self._key is not None:
            text = text.replace(self._key, "***")
        text = re.sub(r"\s+", " ", text).strip()
        return (text[:_QUOTED] + "..." if len(text) > _QUOTED else text) or "nothing"


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirects, which would send the key to another server."""

    def redirect_request(self, *args: Any) -> None:
        return None


_OPENER = build_opener(_NoRedirect)


def _checked(base_url: str) -> str:
    """The address to send to. Raises SettingsError."""
    if not _is_address(base_url):
        # The text before an @ or after a ? may be secret.
        more = any(sign in base_url for sign in "@?#")
        found = "one with a user, a query or a fragment" if more else shown(base_url)
        raise SettingsError(
            f"base_url: expected an address such as https://api.openai.com/v1, found {found}"
        )
    base = base_url.rstrip("/")
    return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


def _is_address(base_url: str) -> bool:
    if not (base_url.isascii() and base_url.isprintable()) or " " in base_url:
        return False
    try:
        parts = urlsplit(base_url)
        parts.port  # noqa: B018  # raises if it is not the number of a port
    except ValueError:
        return False
    more = parts.query or parts.fragment or "@" in parts.netloc
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not more


def _key(variable: str | None) -> str | None:
    """The API key. Raises SettingsError if it is not set, or if a header cannot hold it."""
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SettingsError(
            f"expected an API key in the environment variable {variable}, found none; set it, or "
            f"give key_variable=None for an endpoint that takes no key"
        )
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(
            f"expected an API key of printable ASCII characters in the environment variable "
            f"{variable}, found others; copy it again"
        )
    return key


def _seconds(asked: str | None) -> float:
    """The seconds in a header Retry-After; 0 if it has a date or is missing."""
    return float(asked) if asked is not None and asked.strip().isdecimal() else 0.0


def _advice(error: HTTPError) -> str:
    if error.code in (401, 403):
        return "is the API key the right one?"
    if 300 <= error.code < 400:
        return f"give the address that it points to: {error.headers.get('Location')}"
    if error.code == 404:
        return "is base_url right up to /v1, and does the endpoint have this model?"
    return "see what it says, and change model, prompt or fields"
