"""The ears: microphone blocks in, what the user does and says out, as inputs of the session.

1. `hear` (audio thread) asks the voice-activity detector, and the endpointer makes decisions of its answers.
2. While an utterance is open, its audio goes to the loop; from before it, a ring holds the pre-roll.
3. On the loop the decisions are emitted at once; each Began queues an utterance.
4. One task takes the utterances in order: it feeds the recogniser and asks for partials while there is voice and
   when a word may be over, for a speculative final when the voice pauses, and for the final at the end unless the
   speculation holds.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from voice.audio.activity import FRAME_SECONDS, Activity
from voice.audio.base import SILENCE_DB, decibels
from voice.core.events import Input
from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance, VoiceActivity
from voice.stt.base import RATE, Pcm, Reading, Recogniser, RecogniserError
from voice.stt.endpoint import Began, Decision, Ended, Endpointer, EndpointRules, Paused, Resumed

_FIRST_PARTIAL = 0.2
"""Seconds of voice before the first decode: on less the recogniser guesses."""

_WORD_OVER = 0.09
"""Seconds of silence (three frames) after which a word may be over: a short order ("Stop!") is read then, and does not
wait until the pause is long enough for a speculative final."""

_ORDER = 1.2
"""Seconds of voice up to which an utterance may be such an order; what is longer is not decoded once more for it."""

_QUICK = 0.15
"""Seconds that a decode may take for a further one to be worth it: on a slow machine it holds up the final."""

_GROWTH = 0.2
"""Partials of a long utterance come this share of its voice apart: each is decoded from the beginning, so at a fixed
distance their cost would grow with the square of its length, and the final would wait behind a stale one."""

_LEAST_VOICE = 2 * FRAME_SECONDS
"""Seconds of voice below which nothing is decoded. Only the continuation of an overlong utterance can have so little:
the tail of its last word, or nobody, and recognisers invent words ("You", "The") on silence."""

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

_REFRESH = (8, 32)
"""Quiet frames after our own voice (0.25 s), and again and again (1 s), after which the detector forgets what it heard.
After ten seconds of our own echo, well removed, it gave a person at full level 0.4 and less; having forgotten, 1.0. It
does not forget while we speak: its memory is what keeps the rest of the echo from being taken for a voice."""

_RING_MARGIN = 0.3
"""Seconds the ring holds beside the pre-roll: the onset window (128 ms), a frame and a few blocks."""

_EPSILON = 1e-6
"""Seconds: sums of frame lengths are compared up to rounding."""

_TRIES = 2
"""Decodes of a final: the second goes to the worker process that replaced the first."""


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


@dataclass(slots=True)
class _Open:
    """An utterance on the loop, from its onset until it has been emitted."""

    id: str
    onset: float
    waiting: list[Pcm] = field(default_factory=list)
    """Audio not yet fed to the recogniser."""
    voiced: float = 0.0
    silent: float = 0.0
    paused: bool = False
    pauses: int = 0
    """Which pause it is; a speculation belongs to one."""
    end: float | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)


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
        partial_every: float = 0.1,
        on_error: Callable[[str], None] = lambda reason: None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        detector: Detector | None = None,
    ) -> None:
        self._recogniser, self._emit, self._on_error, self._new_id = recogniser, emit, on_error, new_id
        self._partial_every = partial_every
        self._detector = detector or Activity()
        self._endpointer = Endpointer(rules)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        # of the audio thread
        self._ring: deque[tuple[float, Pcm]] = deque()
        self._echoed_until = float("-inf")
        self._quiet = 0
        """Frames without voice and without echo."""
        self._ring_seconds = self._endpointer.rules.pre_roll + _RING_MARGIN
        self._closed_until = float("-inf")
        self._batch: list[Pcm] = []
        self._power = self._echo_power = self._echo_before = 0.0
        self._blocks = 0
        # of the loop's thread
        self._queue: deque[_Open] = deque()
        self._newest: _Open | None = None
        self._queued = asyncio.Event()
        self._took = 0.0
        """Seconds of the newest decode."""

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

    def hear(self, gate: Pcm, speech: Pcm, time: float, echo_db: float = SILENCE_DB) -> None:
        """Take one block, begun at `time` (seconds), in its two forms: `gate` with the echo removed hard, for the
        detector, and `speech` with the user's voice kept whole, for the recogniser. The arrays are kept, not copied.
        `echo_db`: the level (dBFS RMS) of the echo that was removed from it.
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
        self._echo_power += 10 ** (echo_db / 10)
        self._blocks += 1
        for frame_end, probability in self._detector.feed(gate, time):
            if self._under_echo():
                probability = 0.0
            for decision in self._endpointer.update(frame_end, probability, FRAME_SECONDS):
                self._pass_on(loop, decision)
            if self._endpointer.open:
                self._pass_on(loop, self._frame(frame_end))
            self._refresh(frame_end, probability)
            self._power = self._echo_power = 0.0
            self._blocks = 0
        while self._ring and self._ring[0][0] < time - self._ring_seconds:
            self._ring.popleft()

    def _under_echo(self) -> bool:
        """Whether the frame is far less loud than the echo was, in it or just before."""
        echo, before = self._echo_power, self._echo_before
        self._echo_before = echo
        return self._power < max(echo, before) * 10 ** (-_UNDER_ECHO_DB / 10)

    def _refresh(self, frame_end: float, probability: float) -> None:
        quiet = probability < _QUIET and self._echoed_until <= frame_end - FRAME_SECONDS
        self._quiet = self._quiet + 1 if quiet else 0
        first, again = _REFRESH
        if self._quiet == first or (self._quiet and self._quiet % again == 0):
            self._detector.reset()

    def _frame(self, end: float) -> _Frame:
        blocks = max(1, self._blocks)
        levels = (decibels(self._power / blocks), decibels(self._echo_power / blocks))
        return _Frame(end, self._endpointer.voiced, max(0.0, self._endpointer.silent), *levels)

    def _pass_on(self, loop: asyncio.AbstractEventLoop, decision: Decision | _Frame) -> None:
        """Hand the audio so far to the utterance it belongs to, then the decision or how it goes on."""
        if isinstance(decision, Began) and not decision.continues:
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
            loop.call_soon_threadsafe(self._take, decision, audio, self._endpointer.voiced)

    # ------------------------------------------------------------------ on the loop

    def _take(self, decision: Decision | _Frame, audio: list[Pcm], voiced: float) -> None:
        if self._loop is None:
            return
        if isinstance(decision, Began):
            self._newest = _Open(self._new_id(), decision.onset, voiced=voiced)
            self._queue.append(self._newest)
            self._queued.set()
            self._emit(SpeechStarted(self._newest.id, decision.onset))
            return
        utterance = self._newest
        if utterance is None:
            return
        utterance.waiting += audio
        if not isinstance(decision, Ended):  # by then the endpointer may count for the next utterance
            utterance.voiced = voiced
        if isinstance(decision, _Frame):
            utterance.silent = decision.silent
            levels = (decision.level_db, decision.echo_db)
            self._emit(VoiceActivity(utterance.id, decision.time, decision.voiced, decision.silent, *levels))
        elif isinstance(decision, Paused):
            utterance.paused = True
            utterance.pauses += 1
            self._emit(SpeechPaused(utterance.id, decision.end))
        elif isinstance(decision, Resumed):
            utterance.paused = False
            self._emit(SpeechResumed(utterance.id))
        elif isinstance(decision, Ended):
            utterance.end = decision.end
        utterance.changed.set()

    async def _work(self) -> None:
        while True:
            await self._queued.wait()
            utterance = self._queue[0]
            self._recogniser.begin()
            text = await self._follow(utterance)
            assert utterance.end is not None
            self._queue.popleft()
            if not self._queue:
                self._queued.clear()
            self._emit(Utterance(utterance.id, text, utterance.onset, utterance.end))

    async def _follow(self, utterance: _Open) -> str:
        """Feed one utterance to the recogniser until its end; return its text."""
        tried = 0
        speculation: Reading | None = None
        partial_at = _FIRST_PARTIAL
        read = 0.0  # seconds of voice in the newest decode
        shown = ""
        while True:
            utterance.changed.clear()
            voiced, pause = utterance.voiced, utterance.pauses
            this_pause_tried = utterance.paused and tried == pause
            if utterance.end is not None:
                if this_pause_tried and speculation is not None:
                    return speculation.text
                return await self._final(utterance)
            decodable = voiced + _EPSILON >= _LEAST_VOICE
            if utterance.paused and not this_pause_tried and decodable:
                tried = pause
                reading = speculation = await self._decode(utterance, final=True)
            elif not utterance.paused and (
                voiced + _EPSILON >= partial_at or (decodable and self._took < _QUICK and _order_over(utterance, read))
            ):
                partial_at = voiced + max(self._partial_every, _GROWTH * voiced)
                read = voiced
                reading = await self._decode(utterance, final=False)
            else:
                await utterance.changed.wait()
                continue
            if reading is not None and (reading.text or shown or reading.kinds):
                shown = reading.text
                self._emit(Partial(utterance.id, reading.text, voiced, reading.kinds))

    async def _decode(self, utterance: _Open, final: bool) -> Reading | None:
        """Feed what is new and ask once; None when the recogniser failed, which is reported."""
        waiting, utterance.waiting = utterance.waiting, []
        for pcm in waiting:
            self._recogniser.feed(pcm)
        clock = asyncio.get_running_loop()
        began = clock.time()
        try:
            return await (self._recogniser.finish() if final else self._recogniser.partial())
        except RecogniserError as error:
            self._on_error(str(error))
            return None
        finally:
            self._took = clock.time() - began

    async def _final(self, utterance: _Open) -> str:
        if utterance.voiced + _EPSILON < _LEAST_VOICE:
            return ""
        for _ in range(_TRIES):
            reading = await self._decode(utterance, final=True)
            if reading is not None:
                return reading.text
        self._on_error("the recogniser failed twice on one utterance; it counts as without words")
        return ""


def _order_over(utterance: _Open, read: float) -> bool:
    """Whether a word may be over of which only the first `read` seconds of voice were decoded."""
    return utterance.silent >= _WORD_OVER and read + _EPSILON < utterance.voiced <= _ORDER
