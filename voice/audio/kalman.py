"""A linear echo canceller that keeps the user's words: a partitioned-block Kalman filter in the frequency domain.

The room's impulse response, cut into partitions of one block, is the state of a Kalman filter, one per frequency.
What the model cannot explain, the user above all, is observation noise: the louder it is, the smaller the step, so the
filter stands nearly still in double talk and learns quickly when only the loudspeaker is heard. The model is that of
Enzner and Vary (2006), in the partitioned form of Kuech, Mabande and Enzner (2014).

Where it costs less than by the book: single precision; the constraint that a partition is one block long is imposed on
a quarter of them in each block, in turn; and when the loudspeaker has been silent for the length of the path there is
no echo, and nothing is computed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voice.audio.base import BLOCK, RATE, Pcm

_FFT = 2 * BLOCK
"""Overlap-save: one block of output from two of input, with no waste."""

_SHARE = np.float32(BLOCK / _FFT)
"""Of the frame that holds output."""

_TAIL = 0.32
"""Seconds of echo that are modelled: delay of the devices and the early part of a room's reverberation."""

_PARTITIONS = int(_TAIL * RATE) // BLOCK

_TURNS = 4
"""Blocks in which every partition has its turn to be constrained. All at once cost half as much again and gain 0.2 dB;
over 8 blocks, the echo loss falls by 0.5 dB."""

_TURN = -(-_PARTITIONS // _TURNS)

_TRANSITION = 0.9999
"""How much of the echo path is the same a block later: forgets with a time constant of 50 s (people move). With 25 s,
words in double talk at 0 dB are read worse (21 of 92 wrong instead of 16)."""

_UNKNOWN = 1 / _PARTITIONS
"""Variance of a partition of which nothing is known: a path's gain is about 1 in all. (With 1 for each partition, the
first second's echo loss was 2 dB instead of 6, the second's 5 instead of 12.)"""

_NOISE_MEMORY = np.float32(0.8)
"""Smoothing of the observation noise over blocks, 45 ms: the filter must stand still before a user's first syllable
is over. (With 100 ms: 33 of 92 words wrong at -5 dB instead of 30.)"""

_ENERGY_MEMORY = 0.92
"""Smoothing of the energies that tell divergence: 0.12 s."""

_DIVERGED = 1.1
"""Output energy over input energy from which the filter adds echo instead of taking it away."""

_LOUD, _LOUD_MEMORY = 0.05, 0.99
"""Share of the loudest recent energy (it fades by 4 dB a second) below which divergence is no matter: an echo that
comes late is wrongly expected early, in what is nearly silence. (Without this a quiet echo after 240 ms had the filter
start anew every few seconds.)"""

_HOLD = 100
"""Blocks (1 s) after a start without another: in the first moments the filter may be louder than the microphone, and
to throw away what it has learnt costs more."""

_SILENT = BLOCK * 1e-8
"""Energy of a block at -80 dBFS: the loudspeaker says nothing that could come back."""

Spectra = npt.NDArray[np.complex64]
Powers = npt.NDArray[np.float32]


class KalmanCanceller:
    """Takes the linear part of the echo out of blocks of `BLOCK` samples at `RATE`, without delay."""

    def __init__(self) -> None:
        bins = _FFT // 2 + 1
        self._far_blocks: Pcm = np.zeros(_FFT, np.float32)
        self._rest_block: Pcm = np.zeros(_FFT, np.float32)
        # rings, each written twice so that the newest `_PARTITIONS` rows always lie in order
        self._far: Spectra = np.zeros((2 * _PARTITIONS, bins), np.complex64)
        self._far_power: Powers = np.zeros((2 * _PARTITIONS, bins), np.float32)
        self._newest = 0
        self._path: Spectra = np.zeros((_PARTITIONS, bins), np.complex64)
        self._variance: Powers = np.full((_PARTITIONS, bins), _UNKNOWN, np.float32)
        self._noise: Powers = np.full(bins, 1e-3, np.float32)
        self._products = np.zeros_like(self._path)
        self._kept = np.zeros_like(self._variance)
        self._turn = 0
        self._silent = _PARTITIONS
        self._energy_in = self._energy_out = self._loudest = 0.0
        self._hold = _HOLD
        self.restarts = 0
        self.echo_power = 0.0
        """Mean square of the echo that was taken out of the newest block."""

    def process(self, mic: Pcm, far: Pcm) -> Pcm:
        """The microphone block without the echo of what was played; both of shape (BLOCK,)."""
        self._far_blocks[:BLOCK] = self._far_blocks[BLOCK:]
        self._far_blocks[BLOCK:] = far
        self._silent = 0 if float(far @ far) > _SILENT else self._silent + 1
        if self._silent > _PARTITIONS:
            self.echo_power = 0.0
            return mic
        first = self._newest = (self._newest or _PARTITIONS) - 1
        spectrum = np.fft.rfft(self._far_blocks)
        self._far[first] = self._far[first + _PARTITIONS] = spectrum
        self._far_power[first] = self._far_power[first + _PARTITIONS] = spectrum.real**2 + spectrum.imag**2
        played = slice(first, first + _PARTITIONS)
        np.multiply(self._far[played], self._path, out=self._products)
        echo = np.fft.irfft(self._products.sum(axis=0), _FFT)[BLOCK:]
        self.echo_power = float(echo @ echo) / BLOCK
        rest: Pcm = np.asarray(mic - echo, np.float32)
        self._learn(rest, self._far[played], self._far_power[played])
        self._watch(float(mic @ mic), float(rest @ rest))
        return np.clip(rest, -1, 1)

    @property
    def sounding(self) -> bool:
        """Whether the newest block had something to learn from."""
        return self._silent == 0

    @property
    def path(self) -> Spectra:
        """The response from loudspeaker to microphone as it is known, shape (partitions, bins); not a copy."""
        return self._path

    @property
    def response(self) -> Pcm:
        """The same in time, samples at `RATE`."""
        parts = np.fft.irfft(self._path, _FFT, axis=1)[:, :BLOCK]
        return np.asarray(parts.reshape(-1), np.float32)

    def path_changed(self) -> None:
        """The echo takes another way now: learn it as quickly as from nothing, starting from what is known."""
        self._variance[:] = _UNKNOWN

    def _learn(self, rest: Pcm, far: Spectra, power: Powers) -> None:
        self._rest_block[BLOCK:] = rest
        spectrum = np.fft.rfft(self._rest_block)
        self._noise += (1 - _NOISE_MEMORY) * (spectrum.real**2 + spectrum.imag**2 - self._noise)
        np.multiply(power, self._variance, out=self._kept)
        explained = _SHARE * self._kept.sum(axis=0)
        scale = 1 / (explained + self._noise + np.float32(1e-10))
        step = self._products
        np.multiply(far, spectrum.conj() * scale, out=step)
        np.conjugate(step, out=step)
        step *= self._variance
        self._path += step
        self._kept *= -_SHARE * scale
        self._kept += 1
        self._variance *= self._kept
        self._constrain(slice(self._turn * _TURN, (self._turn + 1) * _TURN))
        self._turn = (self._turn + 1) % _TURNS

    def _constrain(self, turn: slice) -> None:
        """Cut the partitions in turn to one block, and let the path have moved since their last turn."""
        response = np.fft.irfft(self._path[turn], _FFT, axis=1)
        response[:, BLOCK:] = 0
        same = np.float32(_TRANSITION**_TURNS)
        path = same * np.fft.rfft(response, axis=1)
        self._path[turn] = path
        moved = (1 - same**2) * (path.real**2 + path.imag**2)
        self._variance[turn] = same**2 * self._variance[turn] + moved + np.float32(1e-9)

    def _watch(self, energy_in: float, energy_out: float) -> None:
        """Start anew when the filter makes the sound louder: the path has jumped."""
        self._energy_in = _ENERGY_MEMORY * self._energy_in + (1 - _ENERGY_MEMORY) * energy_in
        self._energy_out = _ENERGY_MEMORY * self._energy_out + (1 - _ENERGY_MEMORY) * energy_out
        self._loudest = max(self._energy_in, _LOUD_MEMORY * self._loudest)
        self._hold -= 1
        loud = self._energy_in > _LOUD * self._loudest
        if self._hold < 0 and loud and self._energy_out > _DIVERGED * self._energy_in:
            self._path[:] = 0
            self._variance[:] = _UNKNOWN
            self._hold = _HOLD
            self.restarts += 1
