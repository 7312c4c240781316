"""Impulse responses of rooms, and the convolution of a stream of blocks with one."""

from __future__ import annotations

from importlib import resources

import numpy as np

from voice.audio.base import BLOCK, DeviceError, Pcm

DRY = "dry"
"""The room without walls: direct sound only."""


def load(name: str) -> tuple[Pcm, list[Pcm]]:
    """The responses of a room: loudspeaker to microphone, and three people's mouths to microphone.

    All have unit energy; a person's begins with the direct sound. Raises DeviceError for an unknown name.
    """
    if name == DRY:
        return np.ones(1, np.float32), [np.ones(1, np.float32)] * 3
    folder = resources.files("voice.audio") / "rooms"
    known = sorted([DRY, *(item.name.removesuffix(".npz") for item in folder.iterdir() if item.name.endswith(".npz"))])
    if name not in known:
        raise DeviceError(f"no room is called {name!r}; there are: {', '.join(known)}")
    with (folder / f"{name}.npz").open("rb") as file, np.load(file) as stored:
        return stored["echo"].astype(np.float32), list(stored["people"].astype(np.float32))


def convolve(pcm: Pcm, response: Pcm) -> Pcm:
    """The whole of `pcm` through `response`: `pcm.size + response.size - 1` samples."""
    size = pcm.size + response.size - 1
    length = 1 << max(1, (size - 1).bit_length())
    product = np.fft.rfft(pcm, length) * np.fft.rfft(response, length)
    return np.fft.irfft(product, length)[:size].astype(np.float32)


class Convolver:
    """Convolves a stream, block by block and without delay, with a response of any length.

    The response is cut into parts of one block; each step transforms one block and sums over the parts (uniformly
    partitioned overlap-save), so a response of 0.3 s costs some 30 us a block instead of 300.
    """

    def __init__(self, response: Pcm, block: int = BLOCK) -> None:
        self.block = block
        parts = -(-response.size // block)
        padded = np.zeros(parts * block, np.float32)
        padded[: response.size] = response
        self._parts = np.fft.rfft(padded.reshape(parts, block), 2 * block, axis=1).astype(np.complex64)
        self._spectra = np.zeros_like(self._parts)
        self._newest = 0
        self._input = np.zeros(2 * block, np.float32)
        self._silent = parts + 1

    def process(self, block: Pcm) -> Pcm:
        """The next block of the result."""
        self._silent = 0 if block.any() else self._silent + 1
        if self._silent > self._parts.shape[0] + 1:
            return np.zeros(self.block, np.float32)
        self._input[: self.block] = self._input[self.block :]
        self._input[self.block :] = block
        parts = self._parts.shape[0]
        self._newest = (self._newest - 1) % parts
        self._spectra[self._newest] = np.fft.rfft(self._input)
        split = parts - self._newest
        spectrum = (self._spectra[self._newest :] * self._parts[:split]).sum(axis=0)
        spectrum += (self._spectra[: self._newest] * self._parts[split:]).sum(axis=0)
        return np.fft.irfft(spectrum, 2 * self.block)[self.block :].astype(np.float32)
