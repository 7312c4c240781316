"""Echo cancellers: the microphone without the loudspeaker's own voice.

One canceller gives two signals, because two listeners want different things. The *gate* decides whether somebody
speaks at all: no echo may be left in it, even if that costs some of the user's words. The *speech* is what the
recogniser reads: the user's words must be whole, even if a little echo is left. WebRTC's AEC3 is strong and fast to
learn (espeak in the virtual kiosk: 22 dB within the first second, 33 dB after three) but takes words out of double
talk; a linear filter keeps the words but needs seconds to learn. A canceller that runs both gives the better of each
to its listener; see `voice.audio.gate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pywebrtc_audio

from voice.audio.base import BLOCK, RATE, SILENCE_DB, Pcm, decibels
from voice.audio.delay import DelaySearch
from voice.audio.drift import DriftMeter
from voice.audio.gate import Gate
from voice.audio.kalman import KalmanCanceller

_LEARNT_DB = -6.0
"""What is left of the echo from which the linear filter has found its way."""

_WITHIN = round(0.25 * RATE)
"""Samples of delay that leave enough of the filter's tail (0.32 s) for the room."""

_AHEAD = round(0.03 * RATE)
"""Samples by which a far end that is held back still comes before its echo: the search finds the strongest way of the
sound, not always the first."""

_FAR_FLOOR = np.float32(10 ** (-120 / 20))
"""RMS of a noise that AEC3 is told was played, too: on digital silence its filters fade into denormal numbers, and a
block costs 1500 us instead of 110. At -120 dBFS it is below the last bit of any sound card."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One block without the loudspeaker's voice."""

    gate: Pcm
    """To decide on, shape (BLOCK,)."""
    speech: Pcm
    """With the user's words whole, shape (BLOCK,)."""
    echo_db: float = SILENCE_DB
    """dBFS RMS of the echo that the linear filter took out of the block."""
    settled: bool = True
    """False: the way of the echo is not known yet, so the gate may hold our own voice."""


class EchoCanceller(Protocol):
    """Takes the echo out of microphone blocks of `BLOCK` samples at `RATE`; called from one thread."""

    delay: int
    """Samples by which both outputs lag behind the microphone."""

    def process(self, mic: Pcm, far: Pcm) -> Cleaned:
        """Take one block of the microphone and what was played meanwhile, each of shape (BLOCK,)."""
        ...

    @property
    def drift_ppm(self) -> float:
        """By how much the microphone's clock was found to be faster than the loudspeaker's; 0 while nothing is known.
        The far end is to be resampled by so much."""
        ...

    def path_changed(self) -> None:
        """Samples were lost or the device is another: what was learnt about the way of the echo may be wrong."""
        ...


class NoCanceller:
    """For headphones, and to measure what the others are worth."""

    delay = 0
    drift_ppm = 0.0

    def process(self, mic: Pcm, far: Pcm) -> Cleaned:
        """The microphone as it is."""
        return Cleaned(mic, mic)

    def path_changed(self) -> None:
        """Nothing was learnt."""


class WebRtcCanceller:
    """WebRTC's AEC3 for both outputs."""

    delay = 128
    """Samples (8 ms), measured: a burst comes out 128 samples late."""
    drift_ppm = 0.0

    def __init__(self) -> None:
        self._aec = pywebrtc_audio.EchoCanceller(sample_rate=RATE, num_channels=1, stream_delay_ms=0)
        self._floor = np.random.default_rng(0).standard_normal(BLOCK).astype(np.float32) * _FAR_FLOOR

    def process(self, mic: Pcm, far: Pcm) -> Cleaned:
        """The same signal twice; how much echo was in it, AEC3 does not say."""
        if mic.size != BLOCK or far.size != BLOCK:
            raise ValueError(f"blocks of {BLOCK} samples are wanted, not {mic.size} and {far.size}")
        out = np.asarray(self._aec.process(mic, far + self._floor), np.float32)
        return Cleaned(out, out)

    def path_changed(self) -> None:
        """Nothing to do: AEC3 finds the new way within a second, sooner than from nothing."""


class TwoFilterCanceller:
    """The speech is the Kalman filter's output, the gate what `voice.audio.gate` chooses.

    AEC3 lags, so the linear filter gets the microphone as late. That costs nothing and gives it room before the
    stamps' zero: an echo that seems to come before its sound, by stamps that are wrong by a few ms, is still found.
    An echo too late for the filter's tail is searched for, and from then on the far end is held back.
    """

    delay = WebRtcCanceller.delay

    def __init__(self) -> None:
        self._aec3, self._kalman = WebRtcCanceller(), KalmanCanceller()
        self._gate, self._drift, self._search = Gate(), DriftMeter(), DelaySearch()
        self._mic_held: Pcm = np.zeros(self.delay, np.float32)
        self._far_held: Pcm = np.zeros(0, np.float32)
        self._restarts = 0
        self._strongest: int | None = None

    @property
    def left_db(self) -> float:
        """What the linear filter leaves of the echo, measured: dB of the microphone's power, 0 while it is young."""
        return self._gate.left_db

    @property
    def drift_ppm(self) -> float:
        """See `EchoCanceller`."""
        return self._drift.ppm

    @property
    def echo_delay(self) -> float | None:
        """Seconds from the far end as it is handed in to its echo in the microphone; None while it is not known."""
        if self._strongest is None or self.left_db > _LEARNT_DB:
            return None
        return (self._far_held.size + self._strongest - self.delay) / RATE

    def process(self, mic: Pcm, far: Pcm) -> Cleaned:
        """See the class."""
        held = np.concatenate([self._mic_held, mic])
        late, self._mic_held = held[:BLOCK], held[BLOCK:]
        self._search.hear(late, far)
        if self._far_held.size:
            held = np.concatenate([self._far_held, far])
            far, self._far_held = held[:BLOCK], held[BLOCK:]
        aec3 = self._aec3.process(mic, far).gate
        speech = self._kalman.process(late, far)
        if self._kalman.restarts != self._restarts:
            self._restarts = self._kalman.restarts
            self._begin_anew()
        if self._drift.observe(self._kalman.path, self._kalman.sounding):
            self._look()
        power = self._kalman.echo_power
        return Cleaned(self._gate.choose(late, far, power, speech, aec3), speech, decibels(power), self._gate.settled)

    def path_changed(self) -> None:
        """Both learn the new way."""
        self._aec3.path_changed()
        self._kalman.path_changed()
        self._search.begin_anew()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._gate.begin_anew()
        self._drift.begin_anew()
        self._strongest = None

    def _look(self) -> None:
        """Where the echo lies, once a second of far-end sound."""
        self._strongest = int(np.argmax(np.abs(self._kalman.response)))
        if self.left_db <= _LEARNT_DB:
            return
        delay = self._search.found()
        if delay is None:
            return
        wanted = 0 if delay <= _WITHIN else delay - _AHEAD
        if abs(wanted - self._far_held.size) > _AHEAD // 2:
            self._far_held = self._search.played(wanted)
            self._kalman.path_changed()
            self._begin_anew()
