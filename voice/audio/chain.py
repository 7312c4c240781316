"""The audio chain between a device and the ears: player, far-end reference, echo canceller, levels.

Give `render` and `capture` to a device's `open`. The loudspeaker's side runs in the device's callback (the player,
then a copy into the reference). The microphone's side, echo cancellation and whatever `hear` does, runs in one audio
thread fed by a bounded queue, so that a slow moment there never holds up the device; on virtual time
(`threaded=False`) it runs within `capture`, and the result is the same every time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voice.audio.base import RATE, SILENCE_DB, Pcm, decibels
from voice.audio.echo import EchoCanceller
from voice.audio.player import Player
from voice.audio.reference import Reference

Hear = Callable[[Pcm, Pcm, float, float, bool], None]
"""`hear(gate, speech, time, echo_db, settled)`: the two outputs of the canceller for one block, when its first sample
reached the microphone (seconds of the device's clock), how loud the echo was that was taken out of it (dBFS RMS, -100:
none), and whether the gate surely holds none of it. Called from the audio thread."""

LONGEST_QUEUE = 50
"""Blocks (0.5 s) that may wait for the audio thread; sound older than that is of no use to a conversation."""

_FALL_DB = 0.3
"""dB a block by which a meter falls (30 dB a second), so that an eye can follow it."""


@dataclass(frozen=True, slots=True)
class Levels:
    """dBFS RMS, rising at once and falling slowly."""

    loudspeaker: float = SILENCE_DB
    microphone: float = SILENCE_DB
    gate: float = SILENCE_DB


class Chain:
    """See the top of this file.

    `hear` gets every block that is not dropped. `notice(code, text)` is told, at most once a second of sound, that
    blocks were dropped ("audio_overload") or that the audio thread failed ("audio_failed"); it is called from the
    audio thread.
    """

    def __init__(
        self,
        player: Player,
        canceller: EchoCanceller,
        hear: Hear,
        *,
        threaded: bool,
        notice: Callable[[str, str], None] | None = None,
    ) -> None:
        self.player = player
        self.reference = Reference(player.rate)
        self.dropped = 0
        """Microphone blocks dropped since the start because the audio thread was behind."""
        self._canceller = canceller
        self._hear = hear
        self._notice = notice or (lambda code, text: None)
        self._loudspeaker_db = self._microphone_db = self._gate_db = SILENCE_DB
        self._jumps = 0
        self._told = 0
        self._quiet = 0
        self._queue: deque[tuple[Pcm, float]] = deque()
        self._wake = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        if threaded:
            self._thread = threading.Thread(target=self._run, name="audio", daemon=True)
            self._thread.start()

    # ------------------------------------------------------------------ the device's callbacks

    def render(self, out: Pcm, time: float) -> None:
        """Fill the block that leaves the loudspeaker from `time` on."""
        self.player.render(out, time)
        self.reference.wrote(out, time)
        self._loudspeaker_db = _meter(self._loudspeaker_db, out)

    def capture(self, pcm: Pcm, time: float) -> None:
        """Take the block that entered the microphone from `time` on."""
        if self._thread is None:
            self._process(pcm, time)
            return
        with self._wake:
            if len(self._queue) >= LONGEST_QUEUE:
                self._queue.popleft()
                self.dropped += 1
            self._queue.append((pcm, time))
            self._wake.notify()

    # ------------------------------------------------------------------ the loop's side

    @property
    def levels(self) -> Levels:
        """The meters of the newest blocks."""
        return Levels(self._loudspeaker_db, self._microphone_db, self._gate_db)

    def close(self) -> None:
        """End the audio thread; what waits is dropped. Safe to call twice. Close the device first."""
        with self._wake:
            self._closing = True
            self._queue.clear()
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    # ------------------------------------------------------------------ the audio thread

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                if self._closing:
                    return
                pcm, time = self._queue.popleft()
            try:
                self._process(pcm, time)
            except Exception as error:
                self._notice("audio_failed", f"the audio thread ended: {type(error).__name__}; nothing is heard now")
                raise

    def _process(self, pcm: Pcm, time: float) -> None:
        self._tell_of_drops()
        far = self.reference.at(time, pcm.size)
        if self.reference.jumps != self._jumps:
            self._jumps = self.reference.jumps
            self._canceller.path_changed()
        cleaned = self._canceller.process(pcm, far)
        if self._canceller.drift_ppm != self.reference.drift_ppm:
            self.reference.drift_ppm = self._canceller.drift_ppm
        self._microphone_db = _meter(self._microphone_db, pcm)
        self._gate_db = _meter(self._gate_db, cleaned.gate)
        self._hear(cleaned.gate, cleaned.speech, time - self._canceller.delay / RATE, cleaned.echo_db, cleaned.settled)

    def _tell_of_drops(self) -> None:
        self._quiet -= 1
        if self.dropped > self._told and self._quiet <= 0:
            count, self._told = self.dropped - self._told, self.dropped
            self._quiet = 100  # blocks: one second
            self._notice("audio_overload", f"{count} microphone blocks of 10 ms dropped; the machine is too busy")


def _meter(level: float, pcm: Pcm) -> float:
    power = float(np.dot(pcm, pcm)) / max(1, pcm.size)
    return max(decibels(power), level - _FALL_DB, SILENCE_DB)
