"""One utterance with the recogniser, from its onset to its end.

1. While there is voice, partials: the first after `_FIRST_PARTIAL`, then further apart; and when a word may be over.
2. When the voice pauses, a speculative final; what it reads says how long the ears wait for more (`patience`).
3. A long utterance comes in pieces. Each is decoded on its own, and the text is that of all of them.
4. At the end the speculation is the text, if it holds; else a final is decoded now.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from voice.audio.activity import FRAME_SECONDS
from voice.core.evidence import Partial
from voice.core.expectation import FREE
from voice.core.patience import patience
from voice.core.text import joined
from voice.stt.base import Pcm, Reading, Recogniser, RecogniserError

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
"""Partials of a long piece come this share of its voice apart: each is decoded from the beginning, so at a fixed
distance their cost would grow with the square of its length, and the final would wait behind a stale one."""

_LEAST_VOICE = 2 * FRAME_SECONDS
"""Seconds of voice below which nothing is decoded. Only the rest of a long utterance can have so little: the tail of
its last word, or nobody, and recognisers invent words ("You", "The") on silence."""

_EPSILON = 1e-6
"""Seconds: sums of frame lengths are compared up to rounding."""

_TRIES = 2
"""Decodes of a final: the second goes to the worker process that replaced the first."""


@dataclass(slots=True)
class Piece:
    """A part of an utterance that is decoded on its own."""

    waiting: list[Pcm] = field(default_factory=list)
    """Audio not yet fed to the recogniser."""
    voiced: float = 0.0
    """Seconds of voice in it."""
    pause: int = 0
    """The pause of the utterance that ended it; 0: it goes on, or was ended in the midst of voice."""


@dataclass(slots=True)
class OpenUtterance:
    """An utterance on the loop, from its onset until it has been emitted. Its last piece goes on."""

    id: str
    onset: float
    pieces: deque[Piece] = field(default_factory=lambda: deque([Piece()]))
    voiced: float = 0.0
    silent: float = 0.0
    paused: bool = False
    pauses: int = 0
    """Which pause it is; a speculation belongs to one."""
    end: float | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, audio: list[Pcm], voiced: float) -> None:
        """More audio, and how much voice (seconds) there is in the whole utterance by now."""
        self.pieces[-1].waiting += audio
        self.pieces[-1].voiced += max(0.0, voiced - self.voiced)
        self.voiced = voiced

    def split(self) -> None:
        """The present piece is over."""
        self.pieces[-1].pause = self.pauses if self.paused else 0
        self.pieces.append(Piece())


class Follower:
    """See the top of this file. `emit` gets the partials, `on_error` a line for each failure of the recogniser.

    `wait(onset, pause, seconds)` tells the endpointer how long to wait in a pause; `usual` and `unread` are the
    seconds where nothing is known and while a decode is under way.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        emit: Callable[[Partial], None],
        on_error: Callable[[str], None],
        wait: Callable[[float, int, float], None],
        *,
        usual: float,
        unread: float,
        partial_every: float,
    ) -> None:
        self._recogniser, self._emit, self._on_error, self._wait = recogniser, emit, on_error, wait
        self._usual, self._unread, self._partial_every = usual, unread, partial_every
        self.expectation = FREE
        """What the next answer may be."""
        self._took = 0.0
        """Seconds of the newest decode."""

    async def follow(self, utterance: OpenUtterance) -> str:
        """Feed the utterance to the recogniser until its end; return its text."""
        said = ""
        while True:
            piece = utterance.pieces[0]
            self._recogniser.begin()
            said = joined([said, await self._follow(utterance, piece, said)])
            if utterance.pieces[-1] is piece:
                return said
            utterance.pieces.popleft()
            if said:
                self._emit(Partial(utterance.id, said, utterance.voiced))
            if piece.pause:
                self._be_patient(utterance, piece.pause, said)

    async def _follow(self, utterance: OpenUtterance, piece: Piece, before: str) -> str:
        """The text of one piece; `before` is what was said before it."""
        tried = 0
        speculation: Reading | None = None
        partial_at = _FIRST_PARTIAL
        read = 0.0  # seconds of voice in the newest decode
        shown = bool(before)
        while True:
            utterance.changed.clear()
            over = utterance.pieces[-1] is not piece
            pause = piece.pause if over else utterance.pauses if utterance.paused else 0
            if over or utterance.end is not None:
                if pause and tried == pause and speculation is not None:
                    return speculation.text
                return await self._final(piece)
            decodable = piece.voiced + _EPSILON >= _LEAST_VOICE
            voiced = utterance.voiced
            if pause and tried != pause and decodable:
                tried = pause
                self._wait(utterance.onset, pause, self._unread)
                reading = speculation = await self._decode(piece, final=True)
                self._be_patient(utterance, pause, joined([before, reading.text if reading is not None else ""]))
            elif not utterance.paused and (
                piece.voiced + _EPSILON >= partial_at
                or (decodable and self._took < _QUICK and _order_over(utterance, piece, read))
            ):
                partial_at = piece.voiced + max(self._partial_every, _GROWTH * piece.voiced)
                read = piece.voiced
                reading = await self._decode(piece, final=False)
            else:
                await utterance.changed.wait()
                continue
            if reading is not None and (reading.text or shown or reading.kinds):
                shown = bool(before or reading.text)
                kinds = None if before else reading.kinds  # they are told from the beginning
                self._emit(Partial(utterance.id, joined([before, reading.text]), voiced, kinds))

    def _be_patient(self, utterance: OpenUtterance, pause: int, text: str) -> None:
        self._wait(utterance.onset, pause, patience(text, self.expectation, self._usual))

    async def _decode(self, piece: Piece, final: bool) -> Reading | None:
        """Feed what is new and ask once; None when the recogniser failed, which is reported."""
        waiting, piece.waiting = piece.waiting, []
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

    async def _final(self, piece: Piece) -> str:
        if piece.voiced + _EPSILON < _LEAST_VOICE:
            return ""
        for _ in range(_TRIES):
            reading = await self._decode(piece, final=True)
            if reading is not None:
                return reading.text
        self._on_error("the recogniser failed twice on one utterance; it counts as without words")
        return ""


def _order_over(utterance: OpenUtterance, piece: Piece, read: float) -> bool:
    """Whether a word may be over of which only the first `read` seconds of voice were decoded."""
    return utterance.silent >= _WORD_OVER and read + _EPSILON < piece.voiced and utterance.voiced <= _ORDER
