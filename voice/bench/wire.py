"""What it costs to decode a frame, beside what `json.loads` alone costs on the same frames in the same run.

The frames are those of a conversation: many short deltas, a message's end, and now and then a long one (a summary,
diagnostics). Rounds of the two are taken in turn, so that a machine that slows down slows both.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from voice.bench.messages import MESSAGES
from voice.bench.output import Figure, percentiles
from voice.wire import infermedica
from voice.wire.ces import CesCodec

ROUNDS, QUICK_ROUNDS = 200, 20


def run(rounds: int) -> Iterator[Figure]:
    """Microseconds an event and events a second, for both servers."""
    for name, frames, decoder in (
        ("infermedica", infermedica_frames(), lambda: infermedica.decode),
        ("ces", ces_frames(), lambda: CesCodec().decode),
    ):
        yield from _figures(name, frames, decoder, rounds)


def _figures(
    name: str, frames: list[str], decoder: Callable[[], Callable[[str], tuple[Any, ...]]], rounds: int
) -> Iterator[Figure]:
    ours: list[float] = []
    plain: list[float] = []
    events = 0
    for _ in range(rounds):
        decode = decoder()
        start = time.perf_counter()
        events = sum(len(decode(frame)) for frame in frames)
        between = time.perf_counter()
        for frame in frames:
            json.loads(frame)
        end = time.perf_counter()
        ours.append((between - start) * 1e6 / events)
        plain.append((end - between) * 1e6 / events)
    n = events * rounds
    theirs = [figure.value for figure in percentiles("", plain, "")]
    for figure, beside in zip(percentiles(f"wire.{name}.event", ours, "us"), theirs, strict=True):
        yield Figure(figure.name, figure.value, "us", n, {"json.loads": beside})
    median, loads = float(np.median(ours)), theirs[0]
    yield Figure(f"wire.{name}.rate", 1e6 / median, "events/s", n, {"json.loads": 1e6 / loads})
    yield Figure(f"wire.{name}.ratio", median / loads, "of json.loads", n)


def infermedica_frames() -> list[str]:
    """A conversation of the sixteen messages of the other benches, word by word, with a summary at its end."""
    frames: list[dict[str, Any]] = []
    for turn, text in enumerate(MESSAGES):
        about = {"id": f"m{turn}", "turn_id": f"t{turn}", "kind": "follow_up", "can_interrupt": True}
        for word in text.split(" "):
            delta = {**about, "delta": word + " "}
            frames.append({"type": "conversation.assistant_message.delta", "assistant_message": delta})
        whole = {**about, "content_parts": [{"type": "text", "text": text + " "}]}
        frames.append({"type": "conversation.assistant_message.completed", "assistant_message": whole})
        frames.append({"type": "conversation.turn.completed", "turn_id": f"t{turn}"})
    items = [{"text": f"Finding {number}", "children": [{"text": "and what belongs to it"}]} for number in range(40)]
    summary = {"type": "summary", "groups": [{"type": "reported", "title": "Reported", "items": items}]}
    part = {"type": "ui_widget", "widget": summary}
    last = {"id": "m", "turn_id": "t", "kind": "read_back", "can_interrupt": True, "content_parts": [part]}
    frames.append({"type": "conversation.assistant_message.completed", "assistant_message": last})
    return [json.dumps(frame) for frame in frames]


def ces_frames() -> list[str]:
    """The same messages as streamed text, each turn with its diagnostics."""
    frames: list[dict[str, Any]] = []
    for turn, text in enumerate(MESSAGES, 1):
        frames += ({"sessionOutput": {"turnIndex": turn, "text": word + " "}} for word in text.split(" "))
        time_stamp = "2030-01-02T10:15:28.100Z"
        messages = [{"role": "agent", "eventTime": time_stamp, "chunks": [{"text": text}]}]
        span = {"name": "turn", "startTime": time_stamp, "duration": "1.250s", "childSpans": [{"name": "llm"}]}
        told = {"messages": messages, "rootSpan": span}
        frames.append({"sessionOutput": {"turnIndex": turn, "turnCompleted": True, "diagnosticInfo": told}})
    return [json.dumps(frame) for frame in frames]
