"""The player: clauses in, blocks for the loudspeaker out, and a ledger of which sample went into which frame.

The device's thread calls `render`; the loop calls everything else; one short lock lies between them. Frames are
counted as they are written to the device, and the device's own stamps turn frames into time, so a position never
depends on how much audio was queued, on wall clock or on anything that the voice says about itself.

What each written frame may be, and whether it is in the ledger (`Span`):

| frame                                            | in a span |
|--------------------------------------------------|-----------|
| a sample of a clause, at full level or ducked    | yes       |
| silence that was asked for                       | no        |
| lead-in noise that wakes a sleeping sink         | no        |
| an underrun: the queue is empty                  | no        |
| the fade after `stop`                            | no        |
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np

from voice.audio.base import BLOCK, RATE, Pcm
from voice.core.events import Played, Span, Stamp, VoiceStopped

_RAMP = 0.004
"""Seconds in which the voice goes down and up: no click, and a person is given way to within the block."""

LONGEST_FADE = 0.012
"""Seconds: a longer fade is heard as the voice going on after it was told to stop."""

LEAD_IN_LEVEL = 10 ** (-70 / 20)
"""RMS of the lead-in noise: some 50 dB below speech, inaudible, yet far from the digital zero that sinks mute."""


@dataclass(slots=True)
class _Piece:
    """Audio that waits: samples of a clause (`pcm`), or `count` frames of silence (`pcm` is None)."""

    message_id: str
    clause: int
    sample: int
    pcm: Pcm | None
    count: int
    used: int = 0


class Player:
    """Plays clauses in the order in which they come.

    `rate` in Hz; `block` is the usual number of frames a `render` call asks for (any number works). `fade` is the
    length of the fade after `stop`, at most 12 ms. `duck_db` is the gain of the ducked voice. A sink that falls
    asleep swallows what comes first (USB 50 to 500 ms, Bluetooth up to 1 s): after `idle_after` seconds without
    the voice, `lead_in` seconds of inaudible noise go before it.
    """

    def __init__(
        self,
        rate: int = RATE,
        block: int = BLOCK,
        fade: float = 0.006,
        duck_db: float = -20.0,
        lead_in: float = 0.0,
        idle_after: float = 2.0,
    ) -> None:
        if not 0 < fade <= LONGEST_FADE:
            raise ValueError(f"a fade lasts more than 0 and at most {LONGEST_FADE} s, not {fade}")
        self.rate = rate
        self.block = block
        self.frames = 0
        """Frames written to the device since the start."""
        self.generation = 0
        """Goes up by one with every `stop`; see `enqueue`."""
        self._lock = threading.Lock()
        self._queue: deque[_Piece] = deque()
        self._waiting = 0
        self._clause: tuple[str, int] | None = None
        self._clause_samples = 0
        length = max(1, round(fade * rate))
        self._fade_shape = (0.5 + 0.5 * np.cos(np.pi * np.arange(1, length + 1) / length)).astype(np.float32)
        self._fade: Pcm = np.zeros(0, np.float32)
        self._ducked = np.float32(10 ** (duck_db / 20))
        self._ramp = max(1, round(_RAMP * rate))
        self._gain = self._wanted_gain = np.float32(1)
        self._lead_in = _noise(round(lead_in * rate))
        self._lead_in_left = 0
        self._idle_after = round(idle_after * rate)
        self._idle = self._idle_after  # a sink that was never played to may sleep
        self._last = np.float32(0)
        self._spans: list[Span] = []
        self._stamp: Stamp | None = None

    # ------------------------------------------------------------------ the loop's side

    def enqueue(self, message_id: str, clause: int, pcm: Pcm, generation: int | None = None) -> bool:
        """Queue samples behind what is queued; false if they were dropped as late.

        A clause's samples come in one or more calls, in order, without another clause between them; the ledger
        counts them from 0. Whoever synthesises takes `player.generation` when the clause is asked for and hands it
        in with every piece: after a `stop` the number is another, and audio that was still on its way is dropped.
        """
        samples = np.array(pcm, np.float32).reshape(-1)  # a copy: the caller may use its buffer again
        with self._lock:
            if generation is not None and generation != self.generation:
                return False
            if self._clause != (message_id, clause):
                self._clause, self._clause_samples = (message_id, clause), 0
            if samples.size:
                self._queue.append(_Piece(message_id, clause, self._clause_samples, samples, samples.size))
                self._clause_samples += samples.size
                self._waiting += samples.size
            return True

    def silence(self, seconds: float) -> None:
        """Queue silence behind what is queued; it is in no span."""
        count = round(seconds * self.rate)
        if count <= 0:
            return
        with self._lock:
            self._queue.append(_Piece("", -1, 0, None, count))
            self._waiting += count

    def stop(self) -> VoiceStopped:
        """Fade out from the very next frame on, drop the queue, end ducking, and say at once what was played.

        The answer holds the spans that were not reported yet and the frame where the fade begins; nothing of the
        fade counts as heard.
        """
        with self._lock:
            if not self._fade.size:
                self._fade = self._take_fade()
            self._queue.clear()
            self._waiting = self._lead_in_left = 0
            self._clause = None
            self._wanted_gain = self._gain = np.float32(1)
            self.generation += 1
            return VoiceStopped(self._take_spans(), self.frames, self._stamp, self.rate)

    def duck(self, down: bool) -> None:
        """Lower the voice within the next block, or raise it again; positions go on."""
        with self._lock:
            self._wanted_gain = self._ducked if down else np.float32(1)

    def played(self) -> Played:
        """The spans written since the last report, and the device's newest stamp."""
        with self._lock:
            return Played(self._take_spans(), self._stamp, self.rate)

    def queued(self) -> float:
        """Seconds until the queue runs dry, counted from the next frame to be written."""
        with self._lock:
            return (self._waiting + self._lead_in_left) / self.rate

    # ------------------------------------------------------------------ the device's side

    def render(self, out: Pcm, time: float) -> None:
        """Fill `out`, the frames that leave the loudspeaker from `time` on. Called from the device's thread."""
        with self._lock:
            self._stamp = Stamp(self.frames, time)
            faded = min(out.size, self._fade.size)
            if faded:
                out[:faded] = self._fade[:faded]
                self._fade = self._fade[faded:]
                self._idle = 0
            rest = out[faded:]
            if rest.size:
                written = self._fill(rest, self.frames + faded, min(self._gain, self._wanted_gain))
                rest[written:] = 0
                self._apply_gain(rest)
            if out.size:
                self._last = out[-1]
            self.frames += out.size

    # ------------------------------------------------------------------ under the lock

    def _fill(self, out: Pcm, frame: int, level: np.float32 | None) -> int:
        """Move queued frames into `out`; returns how many. `level` None: leave them out of the ledger."""
        done = 0
        while done < out.size:
            if self._lead_in_left:
                count = min(out.size - done, self._lead_in_left)
                start = self._lead_in.size - self._lead_in_left
                out[done : done + count] = self._lead_in[start : start + count]
                self._lead_in_left -= count
                done += count
                continue
            if not self._queue:
                break
            piece = self._queue[0]
            if piece.pcm is not None and self._idle >= self._idle_after and self._lead_in.size:
                self._idle = 0
                self._lead_in_left = self._lead_in.size
                continue
            count = min(out.size - done, piece.count - piece.used)
            if piece.pcm is None:
                out[done : done + count] = 0
                self._idle += count
            else:
                out[done : done + count] = piece.pcm[piece.used : piece.used + count]
                self._idle = 0
                if level is not None:
                    self._note(piece, frame + done, count, float(level))
            piece.used += count
            self._waiting -= count
            if piece.used == piece.count:
                self._queue.popleft()
            done += count
        self._idle += out.size - done
        return done

    def _note(self, piece: _Piece, frame: int, count: int, level: float) -> None:
        sample = piece.sample + piece.used
        if self._spans:
            last = self._spans[-1]
            if (
                (last.message_id, last.clause, last.level) == (piece.message_id, piece.clause, level)
                and last.frame + last.count == frame
                and last.sample + last.count == sample
            ):
                self._spans[-1] = Span(last.frame, last.message_id, last.clause, last.sample, last.count + count, level)
                return
        self._spans.append(Span(frame, piece.message_id, piece.clause, sample, count, level))

    def _apply_gain(self, out: Pcm) -> None:
        if self._gain != self._wanted_gain:
            ramp = min(out.size, self._ramp)
            out[:ramp] *= np.linspace(self._gain, self._wanted_gain, ramp, dtype=np.float32)
            out[ramp:] *= self._wanted_gain
            self._gain = self._wanted_gain
        elif self._gain != 1:
            out *= self._gain

    def _take_fade(self) -> Pcm:
        """The next frames, going down to nothing; where the queue ends, its last value is held."""
        fade = np.empty(self._fade_shape.size, np.float32)
        written = self._fill(fade, self.frames, None)
        fade[:written] *= self._gain
        fade[written:] = fade[written - 1] if written else self._last
        fade *= self._fade_shape
        return fade

    def _take_spans(self) -> tuple[Span, ...]:
        spans, self._spans = tuple(self._spans), []
        return spans


def _noise(count: int) -> Pcm:
    """White noise at `LEAD_IN_LEVEL`, the same every time."""
    return (np.random.default_rng(0).standard_normal(count) * LEAD_IN_LEVEL).astype(np.float32)
