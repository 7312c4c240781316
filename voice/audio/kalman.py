"""A linear echo canceller that keeps the user's words: a partitioned-block Kalman filter in the frequency domain.

The room's impulse response, cut into partitions of one block, is the state of a Kalman filter, one per frequency.
What the model cannot explain, the user above all, is observation noise: the louder it is, the smaller the step, so the
filter stands nearly still in double talk and learns quickly when only the loudspeaker is heard. The model is that of
Enzner and Vary (2006), in the partitioned form of Kuech, Mabande and Enzner (2014).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voice.audio.base import BLOCK, RATE, Pcm

_FFT = 2 * BLOCK
"""Overlap-save: one block of output from two of input, with no waste."""

_TAIL = 0.32
"""Seconds of echo that are modelled: delay of the devices and the early part of a room's reverberation."""

_TRANSITION = 0.9998
"""How much of the echo path is the same a block later: forgets with a time constant of 25 s (people move)."""

_UNKNOWN = 1.0
"""Variance of a path of which nothing is known; paths have gains about 1."""

_NOISE_MEMORY = 0.9
"""Smoothing of the observation noise over blocks: 0.1 s, about a syllable."""

_ENERGY_MEMORY = 0.92
"""Smoothing of the energies that tell divergence: 0.12 s."""

_DIVERGED = 1.1
"""Output energy over input energy from which the filter adds echo instead of taking it away."""

_AUDIBLE = 1e-4 * BLOCK / RATE * 100
"""Energy of a block below which divergence is no matter."""

_HOLD = 30
"""Blocks (0.3 s) between two restarts, so that the filter can learn in between."""


class KalmanCanceller:
    """Takes the linear part of the echo out of blocks of `BLOCK` samples at `RATE`, without delay."""

    def __init__(self) -> None:
        self._partitions = int(_TAIL * RATE) // BLOCK
        bins = _FFT // 2 + 1
        shape = (self._partitions, bins)
        self._far_blocks: npt.NDArray[np.float64] = np.zeros(_FFT)
        self._far: npt.NDArray[np.complex128] = np.zeros(shape, np.complex128)
        self._path: npt.NDArray[np.complex128] = np.zeros(shape, np.complex128)
        self._variance: npt.NDArray[np.float64] = np.full(shape, _UNKNOWN)
        self._noise: npt.NDArray[np.float64] = np.full(bins, 1e-3)
        self._energy_in = self._energy_out = 0.0
        self._hold = 0
        self.restarts = 0
        self.echo_power = 0.0
        """Mean square of the echo that was taken out of the newest block."""

    def process(self, mic: Pcm, far: Pcm) -> Pcm:
        """The microphone block without the echo of what was played; both of shape (BLOCK,)."""
        self._far_blocks = np.concatenate([self._far_blocks[BLOCK:], far])
        self._far = np.roll(self._far, 1, axis=0)
        self._far[0] = np.fft.rfft(self._far_blocks)
        echo = np.fft.irfft(np.einsum("pk,pk->k", self._far, self._path), _FFT)[BLOCK:]
        self.echo_power = float(echo @ echo) / BLOCK
        rest = mic - echo
        self._learn(rest)
        self._watch(float(mic @ mic), float(rest @ rest))
        return np.asarray(np.clip(rest, -1, 1), np.float32)

    def path_changed(self) -> None:
        """The echo takes another way now: learn it as quickly as from nothing, starting from what is known."""
        self._variance[:] = _UNKNOWN

    def _learn(self, rest: npt.NDArray[np.float64]) -> None:
        spectrum = np.fft.rfft(np.concatenate([np.zeros(BLOCK), rest]))
        self._noise = _NOISE_MEMORY * self._noise + (1 - _NOISE_MEMORY) * np.abs(spectrum) ** 2
        power = self._far.real**2 + self._far.imag**2
        share = BLOCK / _FFT  # of the frame that holds output
        explained = share * np.einsum("pk,pk->k", power, self._variance)
        gain = self._variance / (explained + self._noise + 1e-10)
        step = np.fft.irfft(gain * self._far.conj() * spectrum, _FFT, axis=1)
        step[:, BLOCK:] = 0  # a partition is one block long
        self._path = _TRANSITION * (self._path + np.fft.rfft(step, axis=1))
        kept = np.clip(1 - share * gain * power, 0, 1) * self._variance
        drift = 1 - _TRANSITION**2
        self._variance = _TRANSITION**2 * kept + drift * (self._path.real**2 + self._path.imag**2) + 1e-9

    def _watch(self, energy_in: float, energy_out: float) -> None:
        """Start anew when the filter makes the sound louder: the path has jumped."""
        self._energy_in = _ENERGY_MEMORY * self._energy_in + (1 - _ENERGY_MEMORY) * energy_in
        self._energy_out = _ENERGY_MEMORY * self._energy_out + (1 - _ENERGY_MEMORY) * energy_out
        self._hold -= 1
        if self._hold < 0 and self._energy_in > _AUDIBLE and self._energy_out > _DIVERGED * self._energy_in:
            self._path[:] = 0
            self._variance[:] = _UNKNOWN
            self._hold = _HOLD
            self.restarts += 1
