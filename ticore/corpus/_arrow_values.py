"""The values of an Arrow column as JSON values.

Python's own types hold less than Arrow's: no nanoseconds, no year 10000, no text with invalid
UTF-8. Values that they cannot hold become text here, so that no value is lost or stops a scan.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from .._support.installing import require_module
from ..errors import OutputFileError

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NO_TIME = -(1 << 63)  # NumPy's NaT, "not a time"


def json_values(name: str, column: Any) -> Iterator[object]:
    """The values of a column, in their order.

    Bytes become base64, NaN and infinite numbers null, times and dates ISO 8601, maps lists of
    pairs, and all other values that JSON does not have become text.

    Args:
        name: of the column.
        column: an Arrow array.

    Raises:
        OutputFileError: a value cannot become JSON. The error names the column.
    """
    try:
        try:
            found = column.to_pylist()
        except Exception:  # Python's types raise errors of many kinds.
            found = map(_value, column)
        yield from map(_as_json, found)
    except Exception as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise OutputFileError(
            f"column {name!r}: expected values that JSON can hold, found {column.type}: {why}; "
            f"write a Parquet file, or leave the column out"
        ) from error


def _value(scalar: Any) -> object:
    """A value as a Python object, or as text if Python has no type for it."""
    try:
        return scalar.as_py()
    except Exception:  # of many kinds, as in json_values
        pass
    pa = require_module("pyarrow", "data", "a Parquet file")
    kind, types = scalar.type, pa.types
    if isinstance(scalar, pa.ExtensionScalar | pa.DictionaryScalar):
        return _value(scalar.value)
    if types.is_nested(kind):
        return _nested(scalar, kind, types)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return scalar.as_buffer().to_pybytes().decode(errors="replace")
    return _time(scalar, kind, pa) if types.is_temporal(kind) else str(scalar)


def _nested(scalar: Any, kind: Any, types: Any) -> object:
    if types.is_struct(kind):
        pairs = [(kind.field(at).name, _value(scalar[at])) for at in range(kind.num_fields)]
        return dict(pairs) if len(dict(pairs)) == len(pairs) else pairs
    if types.is_map(kind):
        return [(_value(pair[0]), _value(pair[1])) for pair in scalar.values]
    return [_value(item) for item in scalar.values]  # any kind of list


def _time(scalar: Any, kind: Any, pa: Any) -> str:
    """A time, a date or a duration that Python's types do not hold."""
    value: int = scalar.value
    if pa.types.is_date(kind):
        return str(np.datetime64(value, "D" if pa.types.is_date32(kind) else "ms"))
    if pa.types.is_time(kind):
        micro = pa.scalar(value // 1000, pa.time64("us")).as_py()
        return f"{micro.isoformat(timespec='microseconds')}{value % 1000:03}"
    if pa.types.is_duration(kind):
        micro, nano = divmod(value * 10**9 // _PER_SECOND[kind.unit], 1000)
        try:
            return _duration(timedelta(microseconds=micro), nano)
        except OverflowError:
            return f"{value} {kind.unit}"
    return f"{value} {kind.unit}" if value == _NO_TIME else _moment(value, kind, pa)


def _moment(value: int, kind: Any, pa: Any) -> str:
    if kind.tz is not None and kind.unit == "ns":
        try:
            micro = pa.scalar(value // 1000, pa.timestamp("us", kind.tz)).as_py()
            said = micro.isoformat(timespec="microseconds")
            return f"{said[:26]}{value % 1000:03}{said[26:]}"
        except Exception:  # An unknown time zone: write the same moment in UTC.
            pass
    return f"{np.datetime64(value, kind.unit)}{'' if kind.tz is None else '+00:00'}"


def _as_json(value: object) -> object:
    """A Python object as a JSON value."""
    if isinstance(value, dict):
        return {str(key): _as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(inner) for inner in value]
    if isinstance(value, np.generic):  # float16 becomes NumPy's type in pyarrow before 21
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else _as_text(value)


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        # pandas has a subclass with nanoseconds, which Arrow uses if pandas is installed.
        micro = timedelta(value.days, value.seconds, value.microseconds)
        return _duration(micro, getattr(value, "nanoseconds", 0))
    return str(value)


def _duration(micro: timedelta, nano: int) -> str:
    """A duration as Python writes it, followed by the nanoseconds if there are any.

    >>> _duration(timedelta(days=1, seconds=2), 0), _duration(timedelta(0), 3)
    ('1 day, 0:00:02', '0:00:00.000000003')
    """
    said = str(micro)
    return f"{said}{'' if micro.microseconds else '.000000'}{nano:03}" if nano else said
