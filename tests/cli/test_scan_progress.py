"""A log gets a line now and then, with the pace and the time that is left."""

from __future__ import annotations

from ticore._cli.scan_progress import ProgressLines


def test_lines_come_every_half_minute_and_leave_out_what_was_done_before() -> None:
    now, said = [0.0], list[str]()
    progress = ProgressLines("looking", 500, said.append, lambda: now[0])
    for batch in range(10):  # half of it was scanned before; each batch takes 10 s
        now[0] += 10
        progress(5000 + batch * 500, 10_000)
    assert said == [
        "ticore: looking: 60%, 50 rows per second, 80 s left",
        "ticore: looking: 75%, 50 rows per second, 50 s left",
        "ticore: looking: 90%, 50 rows per second, 20 s left",
    ]
