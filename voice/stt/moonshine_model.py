"""Moonshine's encoder and decoder on ONNX Runtime, from the files inside the `moonshine-voice` wheel.

The wheel's own library decodes text and nothing else, and takes twice as long. Run like this, the encoder's answer is
there for `voice.stt.kinds` as well, at no further cost.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from voice.stt.base import Pcm

_FOLDER = Path("assets/tiny-en")
"""Where in the wheel the model is."""

_START, _END = 1, 2
"""Tokens before and after a text."""

_BLANK = "\u2581"
"""How the tokens write a space."""

_TOKENS_A_SECOND = 6.5
"""Longest text that is believed, as in the model's own library: what is longer goes round in circles."""

_LEAST_TOKENS = 4
"""However short the audio."""

_FRAME = 384
"""Samples that the encoder moves on from frame to frame."""

_LEAST_SAMPLES = 1023
"""On less the encoder has no frame to give."""

Frames = npt.NDArray[np.float32]
"""The encoder's answer, shape (frames of 24 ms, 288)."""

_Cache = dict[str, npt.NDArray[np.float32]]


def model_folder() -> Path:
    """The model's folder in the installed wheel; found without importing the package, which loads its library."""
    spec = find_spec("moonshine_voice")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("moonshine-voice is not installed; run: pip install moonshine-voice==0.1.0")
    return Path(spec.submodule_search_locations[0]) / _FOLDER


class MoonshineModel:
    """The tiny English model. One thread at a time.

    `threads`: of ONNX Runtime; one is enough for the least wait (a second of speech: 0.03 s), and leaves the other
    cores to the sound.
    """

    def __init__(self, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._encoder = _session("encoder_model.ort", options)
        self._decoder = _session("decoder_model_merged.ort", options)
        self._outputs = [output.name.replace("present", "past_key_values") for output in self._decoder.get_outputs()]
        self._empty: _Cache = {
            each.name: np.zeros((1, *each.shape[1:2], 0, *each.shape[3:]), np.float32)
            for each in self._decoder.get_inputs()
            if each.name.startswith("past_key_values")
        }
        self._tokens = _tokens((model_folder() / "tokenizer.bin").read_bytes())

    def encode(self, audio: Pcm) -> Frames:
        """What the encoder makes of 16 kHz samples; audio shorter than a frame is filled up with silence."""
        samples = np.pad(audio, (0, max(0, _LEAST_SAMPLES - len(audio))))[np.newaxis]
        (frames,) = self._encoder.run(
            None, {"input_values": samples, "attention_mask": np.ones(samples.shape, np.int64)}
        )
        return np.asarray(frames[0], np.float32)

    def read(self, frames: Frames, seconds: float) -> str:
        """The likeliest text, token after token; `seconds`: the length of the audio, which bounds that of the text."""
        longest = max(_LEAST_TOKENS, int(seconds * _TOKENS_A_SECOND))
        token, cache = _START, self._empty
        text: list[int] = []
        for _ in range(longest + 1):
            logits, cache = self._next(frames, cache, token)
            token = int(logits.argmax())
            if token == _END or len(text) == longest:
                break
            text.append(token)
        return self._spell(text)

    def _next(self, frames: Frames, cache: _Cache, token: int) -> tuple[npt.NDArray[np.float32], _Cache]:
        """The logits after one more token, and the cache with it in."""
        begun = cache is not self._empty
        inputs: dict[str, Any] = {
            "input_ids": np.array([[token]], np.int64),
            "encoder_hidden_states": frames[np.newaxis],
            "encoder_attention_mask": np.ones((1, len(frames) * _FRAME), np.int64),
            "use_cache_branch": np.array([begun]),
            **cache,
        }
        logits, *states = self._decoder.run(None, inputs)
        new: _Cache = dict(zip(self._outputs[1:], states, strict=True))
        if begun:  # then the part that rests on the encoder alone comes back empty
            new |= {name: states for name, states in cache.items() if ".encoder." in name}
        return logits[0, -1], new

    def _spell(self, tokens: list[int]) -> str:
        return b"".join(self._tokens[token] for token in tokens).decode("utf-8", "replace").replace(_BLANK, " ").strip()


def _session(file: str, options: Any) -> Any:
    return onnxruntime.InferenceSession(model_folder() / file, options, providers=["CPUExecutionProvider"])


def _tokens(data: bytes) -> list[bytes]:
    """The vocabulary: for each token its length (one byte, or two in base 128 from 128 on) and its UTF-8."""
    tokens, at = [], 0
    while at < len(data):
        length = data[at]
        at += 1
        if length >= 0x80:
            length += 0x80 * (data[at] - 1)
            at += 1
        tokens.append(data[at : at + length])
        at += length
    return tokens
