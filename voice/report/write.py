"""Writes the report of a conversation into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice.audio.base import RATE
from voice.report.audio import Recordings, conversation_wav
from voice.report.files import private_folder, write_private
from voice.report.page import page
from voice.report.record import Record
from voice.report.scene import scene
from voice.report.summary import start_of, summary, write_summary
from voice.report.words import SpokenWord


@dataclass(frozen=True, slots=True)
class Written:
    """Where the report lies; `conversation` is None when nothing was recorded."""

    summary: Path
    report: Path
    timeline: Path
    conversation: Path | None


def write_report(
    out_dir: str | Path,
    record: Record,
    recordings: Recordings | None = None,
    *,
    backend: str,
    flow: str,
    device: str,
    engines: Mapping[str, Any] | None = None,
    title: str = "A spoken conversation",
    rate: int = RATE,
) -> Written:
    """Write summary.json, report.html, timeline.png and (with recordings) conversation.wav into `out_dir`.

    The folder is created with mode 0700. Each file appears at once, whole; summary.json last, so whoever waits for it
    finds the others. `recordings` is a room, or anything with both sides at `rate` Hz and their `t0`. Raises OSError.
    """
    from voice.report.timeline import envelope, timeline_png  # takes a second to load: only when a report is written

    folder = private_folder(Path(out_dir))
    origin = None if recordings is None else recordings.t0
    zero = start_of(record, origin)
    values = summary(record, backend=backend, flow=flow, device=device, engines=engines or {}, origin=origin)
    voice = user = sound = None
    length = None
    if recordings is not None:
        sound = conversation_wav(recordings.loudspeaker, recordings.user, rate)
        voice, user = envelope(recordings.loudspeaker, rate), envelope(recordings.user, rate)
        length = max(len(recordings.loudspeaker), len(recordings.user), rate) / rate
        write_private(folder / "conversation.wav", sound)
    picture = timeline_png(scene(record, origin, length), f"{title} · {backend}, {flow}", voice, user)
    write_private(folder / "timeline.png", picture)
    words = {
        message_id: [SpokenWord(w.text, w.t_start - zero, w.t_end - zero, w.whole) for w in record.words(message_id)]
        for message_id in record.messages
    }
    text = page(values, words, title=title, picture=picture, sound=sound)
    write_private(folder / "report.html", text.encode())
    write_summary(folder / "summary.json", values)
    return Written(
        folder / "summary.json",
        folder / "report.html",
        folder / "timeline.png",
        None if sound is None else folder / "conversation.wav",
    )
