"""What stands in an Arrow column, as JSON has it.

Python's own types hold less than Arrow's: no nanoseconds, no year 10000, no text that is no
Unicode. What they cannot hold is put into words here, so that no value is lost or stops a scan.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from ..errors import FileError
from .extras import need

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NO_TIME = -(1 << 63)  # what NumPy takes for no time at all


def json_values(name: str, column: Any) -> Iterator[object]:
    """The values of a column, in their order.

    Bytes become base64, numbers that are none null, times and dates ISO 8601, tables of pairs lists
    of pairs, and what else JSON does not know text.

    Args:
        name: of the column.
        column: an Arrow array.

    Raises FileError, which names the column, where a value cannot be put into words.
    """
    try:
        try:
            found = column.to_pylist()
        except Exception:  # of whatever kind: it is what Python's types say
            found = map(_value, column)
        yield from map(_plain, found)
    except Exception as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise FileError(
            f"column {name!r}: expected values that JSON can hold, found {column.type}: {why}; "
            f"write a Parquet file, or leave the column out"
        ) from error


def _value(scalar: Any) -> object:
    """A value as Python has it, in words where it has none."""
    try:
        return scalar.as_py()
    except Exception:  # as above
        pass
    pa = need("pyarrow", "data", "a Parquet file")
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
    return [_value(item) for item in scalar.values]  # the kinds of lists


def _time(scalar: Any, kind: Any, pa: Any) -> str:
    """A point in time or a duration that Python does not know."""
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
        except Exception:  # a zone that is not known here: the same moment in UTC
            pass
    return f"{np.datetime64(value, kind.unit)}{'' if kind.tz is None else '+00:00'}"


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else _worded(value)


def _worded(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        # The kind that pandas has, which Arrow uses where it is installed, knows nanoseconds.
        micro = timedelta(value.days, value.seconds, value.microseconds)
        return _duration(micro, getattr(value, "nanoseconds", 0))
    return str(value)


def _duration(micro: timedelta, nano: int) -> str:
    """As Python writes it, with nanoseconds where there are any.

    >>> _duration(timedelta(days=1, seconds=2), 0), _duration(timedelta(0), 3)
    ('1 day, 0:00:02', '0:00:00.000000003')
    """
    said = str(micro)
    return f"{said}{'' if micro.microseconds else '.000000'}{nano:03}" if nano else said
