"""The program under test of `voice bench live`, a process of its own: the conversation of `voice talk`, watched.

Everything in it is what `voice talk` uses; besides, it writes down when each callback of the device came, when each
event entered or left the session, and what the microphone got. A line on standard input ends the conversation.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from voice.app.parts import make_conversation
from voice.audio.base import Capture, Pcm, Render
from voice.audio.device import SoundCard
from voice.config import Config, FloorConfig
from voice.core.events import DeviceLost, Duck, Input, MessageClosed, Notice, Output, SendUserMessage, StopVoice
from voice.core.evidence import Partial, SpeechStarted, Utterance


class WatchedCard(SoundCard):
    """The sound card, and the times of its callbacks."""

    def __init__(self) -> None:
        super().__init__()
        self.rendered: list[tuple[float, float]] = []
        """(called, sounds from), seconds of the monotonic clock."""
        self.captured: list[tuple[float, float]] = []
        """(called, taken from)."""
        self.heard: list[Pcm] = []
        self.lost: list[float] = []
        self.opened: list[float] = []
        self.closed: list[float] = []
        self.latencies: list[tuple[float, float]] = []
        """PortAudio's own, seconds: microphone, loudspeaker."""

    def open(self, render: Render, capture: Capture, lost: Callable[[str], None]) -> None:
        """As of a sound card."""

        def watched_render(out: Pcm, stamp: float) -> None:
            self.rendered.append((time.monotonic(), stamp))
            render(out, stamp)

        def watched_capture(pcm: Pcm, stamp: float) -> None:
            self.captured.append((time.monotonic(), stamp))
            self.heard.append(pcm)
            capture(pcm, stamp)

        def watched_lost(reason: str) -> None:
            self.lost.append(time.monotonic())
            lost(reason)

        super().open(watched_render, watched_capture, watched_lost)
        self.opened.append(time.monotonic())
        self.latencies.append((self._microphone.stream.latency, self._loudspeaker.stream.latency))

    def close(self) -> None:
        """As of a sound card."""
        if len(self.closed) < len(self.opened):
            self.closed.append(time.monotonic())
        super().close()


class Log:
    """An observer that keeps what happened: (seconds, name, what)."""

    def __init__(self) -> None:
        self.entries: list[tuple[float, str, Any]] = []

    def __call__(self, t: float, item: Input | Output) -> None:
        """Take what enters or leaves the session at `t`;"""
        match item:
            case SpeechStarted():
                self._add("started", item.onset)
            case Partial():
                self._add("partial", item.voiced)
            case Utterance():
                self._add("utterance", item.text)
            case Duck():
                self._add("duck", item.down)
            case StopVoice():
                self._add("stop", item.cause)
            case MessageClosed():
                self._add("closed", {"heard": item.heard, "cut": item.cut})
            case SendUserMessage():
                self._add("sent", {"played": item.played_content, "interrupted": item.is_interrupted})
            case DeviceLost():
                self._add("lost", item.reason)
            case Notice():
                self._add("notice", item.code)

    def _add(self, name: str, what: Any) -> None:
        self.entries.append((time.monotonic(), name, what))


async def hold(url: str, sensitivity: Any, out: Path) -> None:
    """Hold one conversation and write what happened to `out`."""
    card, log = WatchedCard(), Log()
    config = Config(floor=FloorConfig(sensitivity=sensitivity))
    conversation = make_conversation(config, card, url=url, observers=(log,))
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, conversation.shut_down)
    try:
        await conversation.run()
    finally:
        loop.remove_reader(sys.stdin)
    np.savez(
        out,
        rendered=np.array(card.rendered).reshape(-1, 2),
        captured=np.array(card.captured).reshape(-1, 2),
        heard=np.concatenate([np.zeros(0, np.float32), *card.heard]),
        log=json.dumps(log.entries),
        card=json.dumps(
            {
                "underflows": card.underflows,
                "overflows": card.overflows,
                "dropped": conversation._chain.dropped,
                "buffer": card.buffer,
                "jumps": conversation._chain.reference.jumps,
                "drift_ppm": conversation._chain.reference.drift_ppm,
                "lost": card.lost,
                "opened": card.opened,
                "closed": card.closed,
                "latencies": card.latencies,
            }
        ),
    )


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
