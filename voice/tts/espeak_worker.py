"""The child side of the espeak voice: espeak-ng's C API, in a process of its own.

The library is GPL-3 and global state, so nothing of it is ever loaded into the program itself. One request is one
clause; its audio leaves in pieces while the rest is synthesised.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from voice.core.events import WordMark
from voice.tts.base import VoiceError
from voice.tts.clean import clean, text_kept_out
from voice.tts.marks import AUDIBLE, MarkTrack, WordEvent
from voice.worker import Reply, Servant

_BUFFER_MS = 50
"""Audio a callback, in milliseconds: the smallest piece from which the resampler lets samples out at every rate; it
takes espeak about half a millisecond to make."""

_MOST_BUFFERS = 8
"""Buffers a piece, at most: pieces double in length from one buffer on, so the first leaves at once and the
later ones don't crowd the pipe. 400 ms of audio also bound the work that is done after a cancellation (1 ms)."""

# speak_lib.h
_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_UTF8, _END_PAUSE = 1, 0x1000
_POSITION_CHARACTER = 1
_WORD = 1
_RATE, _PITCH = 1, 3


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),  # characters, from 1
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


class _VoiceEntry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.POINTER(ctypes.c_char)),  # (priority byte, name, NUL) ... NUL
        ("identifier", ctypes.c_char_p),
        ("rest", ctypes.c_ubyte * 16),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


@dataclass(frozen=True, slots=True)
class Request:
    """Speak `text` at `wpm` words per minute; samples at `rate` Hz."""

    text: str
    rate: int
    wpm: int


Part = tuple[bytes, tuple[WordMark, ...], bool]
"""float32 samples, marks in samples at the asked rate, true on the last part."""


class Espeak:
    """The servant: speaks one `Request` after the other."""

    def __init__(self, language: str, variant: str, pitch: int | None, system: bool = False) -> None:
        self._lib, self._data = _load(system)
        self._rate = self._lib.espeak_Initialize(_SYNCHRONOUS, _BUFFER_MS, self._data.encode(), _DONT_EXIT)
        if self._rate <= 0:
            raise VoiceError("espeak-ng does not start; reinstall the package espeakng-loader")
        self._choose(language, variant)
        if pitch is not None:
            self._lib.espeak_SetParameter(_PITCH, min(max(pitch, 0), 100), 0)

    def _choose(self, language: str, variant: str) -> None:
        wanted = language.strip().lower().replace("_", "-")
        known = self._languages()
        if wanted not in known:
            close = ", ".join(sorted(k for k in known if k[:2] == wanted[:2])) or "en-us, de, fr-fr, es, cmn, ja, ko"
            raise VoiceError(f"no language {language!r} in this espeak-ng; close to it or common: {close}")
        variants = Path(self._data) / "voices" / "!v"  # espeak-ng takes an unknown variant without a word
        if variant and not (variants / variant).is_file():
            raise VoiceError(f"no variant {variant!r} in this espeak-ng; try f1 to f5, m1 to m7 or none")
        name = known[wanted] + (f"+{variant}" if variant else "")
        if self._lib.espeak_SetVoiceByName(name.encode()) != 0:
            raise VoiceError(f"espeak-ng cannot load its voice for {language!r}; reinstall the package espeakng-loader")

    def _languages(self) -> dict[str, str]:
        """Every language name, in lower case -> the identifier of its best voice."""
        entries = self._lib.espeak_ListVoices(None)
        known: dict[str, tuple[int, str]] = {}
        index = 0
        while entries[index]:
            entry = entries[index].contents
            identifier = entry.identifier.decode()
            if not identifier.startswith("mb/"):  # needs MBROLA's own files
                for priority, name in _names(entry.languages):
                    if name not in known or priority < known[name][0]:
                        known[name] = (priority, identifier)
            index += 1
        return {name: identifier for name, (_, identifier) in known.items()}

    def __call__(self, request: Request, reply: Reply) -> None:
        """Speak; raises VoiceError when espeak-ng refuses."""
        with text_kept_out():
            self._speak(request, reply)

    def _speak(self, request: Request, reply: Reply) -> None:
        self._lib.espeak_SetParameter(_RATE, request.wpm, 0)
        clause = _Clause(request, self._rate, reply)
        failure: list[BaseException] = []

        def on_audio(samples: Any, count: int, events: Any) -> int:
            try:
                return 0 if clause.take(samples, count, events) else 1
            except BaseException as error:
                failure.append(error)
                return 1

        callback = _Callback(on_audio)
        self._lib.espeak_SetSynthCallback(callback)
        text = clean(request.text).encode()
        status = self._lib.espeak_Synth(text, len(text) + 1, 0, _POSITION_CHARACTER, 0, _UTF8 | _END_PAUSE, None, None)
        if failure:
            raise failure[0]
        if clause.cancelled:
            return
        if status != 0:
            raise VoiceError(f"espeak-ng refused the clause (status {status})")
        clause.finish()


def _names(raw: Any) -> Iterator[tuple[int, str]]:
    """The (priority, language) pairs of a voice: each a byte and a name ended by NUL; a NUL byte ends the list."""
    at = 0
    while (priority := raw[at][0]) != 0:
        begin = at = at + 1
        while raw[at] != b"\0":
            at += 1
        yield priority, raw[begin:at].decode().lower()
        at += 1


class _Clause:
    """One clause on its way out: raw audio and events in, resampled pieces and scaled marks out."""

    def __init__(self, request: Request, raw_rate: int, reply: Reply) -> None:
        self._reply = reply
        self._ratio = request.rate / raw_rate
        self._resampler = soxr.ResampleStream(raw_rate, request.rate, 1, dtype="float32")
        self._track = MarkTrack(request.text)
        self._held: list[Any] = []  # raw buffers of the piece under way
        self._quota = 1
        self._sounds = False
        self._sent = 0
        self._marks: list[WordMark] = []  # settled, of audio that is not sent yet
        self.cancelled = False

    def take(self, samples: Any, count: int, events: Any) -> bool:
        """One callback of the library; false: stop."""
        if events:
            index = 0
            while (event := events[index]).type != 0:
                if event.type == _WORD:
                    self._track.event(WordEvent(event.text_position - 1, event.length, event.sample))
                index += 1
        if not samples or count <= 0:
            return True
        pcm = np.ctypeslib.as_array(samples, (count,)).astype(np.float32) / np.float32(32768)
        self._track.audio(pcm)
        self._held.append(pcm)
        # A clause in which nothing can be heard is to have no samples, so nothing leaves before the first sound.
        self._sounds = self._sounds or bool(np.any(np.abs(pcm) >= AUDIBLE))
        if self._sounds and len(self._held) >= self._quota:
            self._quota = min(2 * self._quota, _MOST_BUFFERS)
            self._marks += self._track.settled()
            self._send(final=False)
        return not self.cancelled

    def finish(self) -> None:
        """Send what is left."""
        self._marks += self._track.finish()
        if not self._sounds:
            self._held, self._marks = [], []
        self._send(final=True)

    def _send(self, final: bool) -> None:
        raw = np.concatenate(self._held) if self._held else np.zeros(0, np.float32)
        self._held = []
        pcm = self._resampler.resample_chunk(raw, last=final) if self._sounds else raw
        self._sent += pcm.size
        marks = []
        while self._marks and (final or round(self._marks[0].last * self._ratio) <= self._sent):
            mark = self._marks.pop(0)
            first, last = (min(round(at * self._ratio), self._sent) for at in (mark.first, mark.last))
            marks.append(WordMark(mark.start, mark.end, first, last))
        if pcm.size or marks or final:
            part: Part = (pcm.astype(np.float32).tobytes(), tuple(marks), final)
            self.cancelled = not self._reply(part)


def _load(system: bool) -> tuple[Any, str]:
    try:
        if system:
            lib = ctypes.CDLL("libespeak-ng.so.1")
            lib.espeak_Initialize(_SYNCHRONOUS, _BUFFER_MS, None, _DONT_EXIT)
            path = ctypes.c_char_p()
            lib.espeak_Info(ctypes.byref(path))
            data = (path.value or b"").decode()
        else:
            import espeakng_loader  # here, not above: only the worker process may load the library

            lib = ctypes.CDLL(espeakng_loader.get_library_path())
            data = str(espeakng_loader.get_data_path())
    except (ImportError, OSError) as error:
        package = "the Debian package espeak-ng" if system else "espeakng-loader"
        raise VoiceError(f"the espeak-ng library cannot be loaded ({error}); install {package}") from error
    lib.espeak_Initialize.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int)
    lib.espeak_SetVoiceByName.argtypes = (ctypes.c_char_p,)
    lib.espeak_SetParameter.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int)
    lib.espeak_SetSynthCallback.argtypes = (_Callback,)
    lib.espeak_SetSynthCallback.restype = None
    lib.espeak_ListVoices.argtypes = (ctypes.c_void_p,)
    lib.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_VoiceEntry))
    lib.espeak_Synth.argtypes = (
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    )
    return lib, data


def make_espeak(language: str, variant: str, pitch: int | None, system: bool = False) -> Servant:
    """The servant of a worker process. `system`: the library that the system has, not our own: what pyttsx3 speaks
    with on Linux. Raises VoiceError (language, variant, library)."""
    return Espeak(language, variant, pitch, system)
