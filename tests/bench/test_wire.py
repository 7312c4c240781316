"""The bench of the wire decodes real frames: one that it cannot read would be cheap and worth nothing."""

from __future__ import annotations

from voice.bench.wire import ces_frames, infermedica_frames, run
from voice.core.server_events import BadFrame, Ignored
from voice.wire import infermedica
from voice.wire.ces import CesCodec


def test_every_frame_of_the_bench_is_understood() -> None:
    """Hurts whoever trusts the figure."""
    events = [event for frame in infermedica_frames() for event in infermedica.decode(frame)]
    ces = CesCodec()
    events += [event for frame in ces_frames() for event in ces.decode(frame)]
    assert not [event for event in events if isinstance(event, (BadFrame, Ignored))]


def test_every_figure_stands_beside_plain_json() -> None:
    figures = {figure.name: figure for figure in run(rounds=1)}
    assert {name.split(".", 2)[2] for name in figures} == {"event.p50", "event.p95", "rate", "ratio"}
    assert all(figure.value > 0 for figure in figures.values())
    assert all("json.loads" in figure.baseline for name, figure in figures.items() if "ratio" not in name)
