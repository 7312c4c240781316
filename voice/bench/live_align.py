"""Finds what was to be played in the recording of what was, bit for bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voice.audio.base import BLOCK, RATE, Pcm

SOUND = 1e-3
"""Sample value from which on something is played; a sink that is idle gives exact zeros."""


def played_whole(recording: Pcm, audio: Pcm, start: int) -> tuple[int, int]:
    """How many samples of `audio` the recording holds unchanged from `start` on, and where in it they end.

    Where the sound server ran dry, the rest is looked for a little later: a hole in the sound loses no word. Where the
    voice was lowered and came back, it goes on behind that: only a lowering that lasts ends what was heard.
    """
    same, at = 0, start
    while same < audio.size:
        length = min(audio.size - same, recording.size - at)
        differs = np.abs(recording[at : at + length] - audio[same : same + length]) > 1e-4
        count = int(np.argmax(differs)) if differs.any() else length
        same, at = same + count, at + count
        if not differs.any():
            break
        if (back := _same_again(differs[count:], audio[same:])) is not None:
            same, at = same + back, at + back
        elif (found := find(recording, audio[same : same + BLOCK], at, RATE // 2)) is not None:
            at = found
        else:
            break
    return same, at


def _same_again(differs: npt.NDArray[np.bool_], audio: Pcm) -> int | None:
    """The first sample from which on a whole block is unchanged and is no silence."""
    changed = np.concatenate([[0], np.cumsum(differs)])
    for at in np.flatnonzero(changed[BLOCK:] == changed[:-BLOCK]):
        if np.abs(audio[at : at + BLOCK]).max() > 10 * SOUND:
            return int(at)
    return None


def place_of(recording: Pcm, audio: Pcm, start: int) -> int | None:
    """Where in the recording, from `start` on, `audio` begins: where the first 40 ms of its sound are, unchanged; None
    if they are not there at full level."""
    sound = int(np.flatnonzero(np.abs(audio) > SOUND)[0])
    found = find(recording, audio[sound : sound + 4 * BLOCK], start, recording.size)
    return None if found is None else found - sound


def find(recording: Pcm, part: Pcm, start: int, reach: int) -> int | None:
    """The first place of `part`, unchanged but for 1 % of its energy, in `reach` samples from `start` on."""
    window = recording[start : start + reach + part.size]
    if window.size < part.size or not part.any():
        return None
    size = 1 << (window.size + part.size).bit_length()
    product = np.fft.irfft(np.fft.rfft(window, size) * np.conj(np.fft.rfft(part, size)), size)
    product = product[: window.size - part.size + 1]
    energy = np.concatenate([[0.0], np.cumsum(window.astype(np.float64) ** 2)])
    there, own = energy[part.size :] - energy[: -part.size], float(part @ part)
    rest = there + own - 2 * product  # energy of the difference
    fits = np.flatnonzero(rest < 0.01 * own)
    if not fits.size:
        return None
    first = int(fits[0])
    return start + first + int(np.argmin(rest[first : first + 20]))  # its neighbours fit nearly as well
