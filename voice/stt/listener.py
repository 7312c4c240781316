"""The ears: microphone blocks in, what the user does and says out, as inputs of the session.

1. `hear` (audio thread) asks the voice-activity detector, and the endpointer makes decisions of its answers.
2. While an utterance is open, its audio goes to the loop; from before it, a ring holds the pre-roll.
3. On the loop the decisions are emitted at once; each Began queues an utterance.
4. One task takes the utterances in order: a `Follower` reads each with the recogniser to its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from voice.audio.activity import FRAME, FRAME_SECONDS, Activity
from voice.audio.base import SILENCE_DB, decibels
from voice.core.events import Input
from voice.core.evidence import SpeechPaused, SpeechResumed, SpeechStarted, Utterance, VoiceActivity
from voice.core.expectation import Expectation
from voice.stt.base import RATE, Pcm, Recogniser
from voice.stt.endpoint import Began, Decision, Ended, Endpointer, EndpointRules, Paused, Resumed, Split
from voice.stt.follow import Follower, OpenUtterance

_ECHO_DB = -60.0
"""dBFS of removed echo above which our own voice sounds: what is left of it before the onset reads as words (measured
with an echo 10 dB under the user: 6 % of stop phrases are read right with 0.3 s of it before them, 57 % with 0.04)."""

_UNDER_ECHO_DB = 14.0
"""dB under the echo that was removed below which a frame is no voice, whatever the detector says: the linear filter
takes 20 dB and more out, and a person 10 dB under our full voice still counts. Once the voice is lowered (by 20 dB)
this asks for nothing any more."""

_LEAST_PRE_ROLL = 0.1
"""Seconds before the onset that are always decoded: the first consonant."""

_QUIET = 0.1
"""Probability below which there is surely no voice."""

_HASTE = 0.5
"""Seconds after our own voice for which onsets are looked for twice as often and found sooner; in silence there is no
such hurry."""

_REFRESH = (8, 32)
"""Quiet frames after our own voice (0.25 s), and again and again (1 s), after which the detector forgets what it heard.
After ten seconds of our own echo, well removed, it gave a person at full level 0.4 and less; having forgotten, 1.0. It
does not forget while we speak: its memory is what keeps the rest of the echo from being taken for a voice."""

_RING_MARGIN = 0.3
"""Seconds the ring holds beside the pre-roll: the onset window (128 ms), a frame and a few blocks."""


class Detector(Protocol):
    """What the listener needs of a voice-activity detector; see `voice.audio.activity.Activity`."""

    def feed(self, block: Pcm, time: float) -> list[tuple[float, float]]:
        """(end in seconds, probability) of each 512-sample frame that the block completed."""
        ...

    def reset(self) -> None:
        """Forget the stream so far."""
        ...


@dataclass(frozen=True, slots=True)
class _Frame:
    """One frame of the detector within an utterance; the fields are those of `VoiceActivity`."""

    time: float
    voiced: float
    silent: float
    level_db: float
    echo_db: float


class Listener:
    """See the top of this file.

    `emit` is called on the loop's thread only. `on_error` gets one line for each failure of the recogniser, without
    any of the user's words. `partial_every`: seconds of voice between two partials (more after the first second of
    an utterance). `new_id` makes utterance ids.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        emit: Callable[[Input], None],
        rules: EndpointRules | None = None,
        *,
        partial_every: float = 0.064,
        on_error: Callable[[str], None] = lambda reason: None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        detector: Detector | None = None,
        early: Detector | None = None,
    ) -> None:
        self._recogniser, self._emit, self._new_id = recogniser, emit, new_id
        self._detector = detector or Activity()
        self._early = early or (Activity() if detector is None else None)
        self._endpointer = Endpointer(rules)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        # of the audio thread
        self._ring: deque[tuple[float, Pcm]] = deque()
        self._echoed_until = float("-inf")
        self._settled = True
        self._early_looks = False
        self._held = 0
        """Samples of the detector's frame that is under way."""
        self._quiet = 0
        """Frames without voice and without echo."""
        self._ring_seconds = self._endpointer.rules.pre_roll + _RING_MARGIN
        self._closed_until = float("-inf")
        self._batch: list[Pcm] = []
        self._power = self._voice_power = self._echo_power = self._echo_before = 0.0
        self._blocks = 0
        # of the loop's thread
        self._queue: deque[OpenUtterance] = deque()
        self._newest: OpenUtterance | None = None
        self._queued = asyncio.Event()
        self._follower = Follower(
            recogniser,
            emit,
            on_error,
            self._endpointer.wait,
            usual=self._endpointer.rules.end_silence,
            unread=self._endpointer.rules.unread,
            partial_every=partial_every,
        )

    # ------------------------------------------------------------------ life

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say which loop the results go to. `hear` does nothing before. `start` does it, too."""
        self._loop = loop

    async def start(self) -> None:
        """Load the recogniser and begin to work. Raises RecogniserError."""
        self.bind(asyncio.get_running_loop())
        await self._recogniser.start()
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="listener")

    def expect(self, expectation: Expectation) -> None:
        """Say what the next answer may be, on the loop: a complete one ends its turn sooner."""
        self._follower.expectation = expectation

    async def close(self) -> None:
        """Stop; utterances that are still open are dropped. Ends the recogniser. Safe to call twice."""
        self._loop = None
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._queue.clear()
        self._newest = None
        await self._recogniser.close()

    # ------------------------------------------------------------------ on the audio thread

    def hear(self, gate: Pcm, speech: Pcm, time: float, echo_db: float = SILENCE_DB, settled: bool = True) -> None:
        """Take one block, begun at `time` (seconds), in its two forms: `gate` with the echo removed hard, for the
        detector, and `speech` with the user's voice kept whole, for the recogniser. The arrays are kept, not copied.
        `echo_db`: the level (dBFS RMS) of the echo that was removed from it. `settled`: the gate surely holds no echo.
        """
        loop = self._loop
        if loop is None:
            return
        self._ring.append((time, speech))
        if echo_db > _ECHO_DB:
            self._echoed_until = time + len(speech) / RATE
        if self._endpointer.open:
            self._batch.append(speech)
        self._power += float(gate @ gate) / len(gate)
        self._voice_power += float(speech @ speech) / len(speech)
        self._echo_power += 10 ** (echo_db / 10)
        self._blocks += 1
        self._settled = settled
        self._endpointer.hasty = time <= self._echoed_until + _HASTE
        self._look_early(loop, gate, time)
        for frame_end, probability in self._detector.feed(gate, time):
            if self._under_echo():
                probability = 0.0
            for decision in self._endpointer.update(frame_end, probability, FRAME_SECONDS):
                self._pass_on(loop, decision)
            if self._endpointer.open:
                self._pass_on(loop, self._frame(frame_end))
            self._refresh(frame_end, probability)
            self._echo_before = self._echo_power
            self._power = self._voice_power = self._echo_power = 0.0
            self._blocks = 0
        while self._ring and self._ring[0][0] < time - self._ring_seconds:
            self._ring.popleft()

    def _look_early(self, loop: asyncio.AbstractEventLoop, gate: Pcm, time: float) -> None:
        """While our own voice sounds, a second detector, whose frames lie half a frame later, looks for an onset
        between two frames of the first."""
        held, self._held = self._held, (self._held + len(gate)) % FRAME
        if self._early is None or not self._endpointer.hasty:
            self._early_looks = False
            return
        if not self._early_looks:
            self._early_looks = True
            self._early.reset()
            self._early.feed(np.zeros((held + FRAME // 2) % FRAME, np.float32), time)
        for frame_end, probability in self._early.feed(gate, time):
            if not self._endpointer.open and not self._under_echo():
                for decision in self._endpointer.update(frame_end, probability, FRAME_SECONDS):
                    self._pass_on(loop, decision)

    def _under_echo(self) -> bool:
        """Whether what came since the last frame is far less loud than the echo is, or was just before."""
        return self._power < max(self._echo_power, self._echo_before) * 10 ** (-_UNDER_ECHO_DB / 10)

    def _refresh(self, frame_end: float, probability: float) -> None:
        quiet = probability < _QUIET and self._echoed_until <= frame_end - FRAME_SECONDS
        self._quiet = self._quiet + 1 if quiet else 0
        first, again = _REFRESH
        if self._quiet == first or (self._quiet and self._quiet % again == 0):
            self._detector.reset()

    def _frame(self, end: float) -> _Frame:
        blocks = max(1, self._blocks)
        levels = (decibels(self._voice_power / blocks), decibels(self._echo_power / blocks))
        return _Frame(end, self._endpointer.voiced, max(0.0, self._endpointer.silent), *levels)

    def _pass_on(self, loop: asyncio.AbstractEventLoop, decision: Decision | _Frame) -> None:
        """Hand the audio so far to the utterance it belongs to, then the decision or how it goes on."""
        if isinstance(decision, Began):
            start = max(
                decision.onset - self._endpointer.rules.pre_roll,
                min(decision.onset - _LEAST_PRE_ROLL, self._echoed_until),
                self._closed_until,
            )
            self._batch = [block for time, block in self._ring if time + len(block) / RATE > start]
        elif isinstance(decision, Ended):
            self._closed_until = decision.end
        audio: list[Pcm] = []
        if not isinstance(decision, Began):
            audio, self._batch = self._batch, []
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(self._take, decision, audio, self._endpointer.voiced, self._settled)

    # ------------------------------------------------------------------ on the loop

    def _take(self, decision: Decision | _Frame, audio: list[Pcm], voiced: float, settled: bool) -> None:
        if self._loop is None:
            return
        if isinstance(decision, Began):
            self._newest = OpenUtterance(self._new_id(), decision.onset)
            self._newest.hear([], voiced)
            self._queue.append(self._newest)
            self._queued.set()
            self._emit(SpeechStarted(self._newest.id, decision.onset, settled))
            return
        utterance = self._newest
        if utterance is None:
            return
        utterance.hear(audio, voiced)
        if isinstance(decision, _Frame):
            utterance.silent = decision.silent
            levels = (decision.level_db, decision.echo_db)
            self._emit(VoiceActivity(utterance.id, decision.time, decision.voiced, decision.silent, *levels, settled))
        elif isinstance(decision, Paused):
            utterance.paused = True
            utterance.pauses += 1
            self._emit(SpeechPaused(utterance.id, decision.end))
        elif isinstance(decision, Resumed):
            utterance.paused = False
            self._emit(SpeechResumed(utterance.id))
        elif isinstance(decision, Split):
            utterance.split()
        elif isinstance(decision, Ended):
            utterance.end = decision.end
        utterance.changed.set()

    async def _work(self) -> None:
        while True:
            await self._queued.wait()
            utterance = self._queue[0]
            text = await self._follower.follow(utterance)
            assert utterance.end is not None
            self._queue.popleft()
            if not self._queue:
                self._queued.clear()
            self._emit(Utterance(utterance.id, text, utterance.onset, utterance.end))
