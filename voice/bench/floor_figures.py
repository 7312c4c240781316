"""From the outcomes of scenes to figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from voice.bench.floor_outcome import Outcome
from voice.bench.floor_scenes import BACKGROUNDS, COLD_ONSETS, FOR_US, GROAN, TICS, Kind
from voice.bench.floor_variants import OTHERS, OURS, Variant
from voice.bench.output import Figure
from voice.stt.words import word_errors

YIELD_WITHIN = 2.0
"""Seconds from onset to silence in which an interruption must have had its way."""

_BEFORE = 0.02
"""Seconds before the onset at which a decision may still be one on the person: half a frame of the detector, which may
hear what lies more than 25 dB below."""

Value = Callable[[Sequence[Outcome]], tuple[float, int] | None]
"""The value and how many cases it rests on; None without any."""


def yielded(out: Outcome) -> bool:
    """Whether our voice gave way to the person in time, and not before they began."""
    if out.silence is None or out.onset is None:
        return False
    return not early(out) and out.silence - out.onset <= YIELD_WITHIN


def early(out: Outcome) -> bool:
    """Whether our voice was cut before anybody else was there: by itself, or by what it took for somebody."""
    return out.silence is not None and out.onset is not None and out.silence < out.onset - _BEFORE


def _of(outcomes: Iterable[Outcome], *kinds: Kind) -> list[Outcome]:
    return [out for out in outcomes if out.scene.kind in kinds]


def _not_cut(out: Outcome) -> bool:
    return not out.cuts


def _any(out: Outcome) -> bool:
    return True


def _rate(kinds: Sequence[Kind], good: Callable[[Outcome], bool], which: Callable[[Outcome], bool] = _any) -> Value:
    def value(outcomes: Sequence[Outcome]) -> tuple[float, int] | None:
        these = [out for out in _of(outcomes, *kinds) if which(out)]
        return (sum(map(good, these)) / len(these), len(these)) if these else None

    return value


def _percentile(kinds: Sequence[Kind], time: Callable[[Outcome], float | None], q: float) -> Value:
    def value(outcomes: Sequence[Outcome]) -> tuple[float, int] | None:
        times = [t * 1000 for out in _of(outcomes, *kinds) if (t := time(out)) is not None]
        return (float(np.percentile(times, q)), len(times)) if times else None

    return value


def to_duck(out: Outcome) -> float | None:
    """Seconds from onset to duck."""
    early = out.duck is None or out.onset is None or out.duck < out.onset
    return None if early or out.duck is None or out.onset is None else out.duck - out.onset


def to_silence(out: Outcome) -> float | None:
    """Seconds from onset to silence, where the voice gave way."""
    return out.silence - out.onset if yielded(out) and out.silence is not None and out.onset is not None else None


def after_phrase(out: Outcome) -> float | None:
    """Seconds from the end of a phrase to silence; below zero where the voice stopped before that."""
    return out.silence - out.end if yielded(out) and out.silence is not None and out.end is not None else None


def to_message(out: Outcome) -> float | None:
    """Seconds from the end of speech to the message, where there is one."""
    return None if len(out.sent) != 1 or out.end is None or out.sent[0][0] < out.end else out.sent[0][0] - out.end


def split(out: Outcome) -> bool:
    """Whether one utterance was sent as two, or before it was over."""
    return len(out.sent) > 1 or (out.end is not None and out.sent[0][0] < out.end)


def _extra_errors(outcomes: Sequence[Outcome]) -> tuple[float, int] | None:
    errors = words = 0
    for out in _of(outcomes, *FOR_US):
        if out.sent:
            wrong, count = word_errors(out.scene.text, " ".join(text for _, text in out.sent))
            errors += wrong - word_errors(out.scene.text, out.clean)[0]
            words += count
    return (errors / words, words) if words else None


def _per_hour(count: Callable[[Outcome], int]) -> Value:
    def value(outcomes: Sequence[Outcome]) -> tuple[float, int] | None:
        minutes = sum(out.scene.seconds for out in outcomes) / 60
        return (sum(map(count, outcomes)) * 60 / minutes, round(minutes)) if minutes else None

    return value


def _share(plays: bool) -> Value:
    def value(outcomes: Sequence[Outcome]) -> tuple[float, int] | None:
        sound = sum(out.sound[plays] for out in outcomes)
        return (sum(out.cpu[plays] for out in outcomes) / sound, len(outcomes)) if sound else None

    return value


PER_SENSITIVITY: dict[str, tuple[str, Value]] = {
    "duck_ms.p50": ("ms", _percentile(FOR_US, to_duck, 50)),
    "duck_ms.p95": ("ms", _percentile(FOR_US, to_duck, 95)),
    "silence_ms.p50": ("ms", _percentile(("interruption", "pause"), to_silence, 50)),
    "silence_ms.p95": ("ms", _percentile(("interruption", "pause"), to_silence, 95)),
    "stop_phrase_ms.p50": ("ms", _percentile(("stop",), after_phrase, 50)),
    "stop_phrase_ms.p95": ("ms", _percentile(("stop",), after_phrase, 95)),
    "R_Y": ("share", _rate(FOR_US, yielded)),
    "S_BC": ("share", _rate(("backchannel",), _not_cut)),
    "S_VT": ("share", _rate(("tic",), _not_cut)),
    "S_ND": ("share", _rate(("others",), _not_cut)),
    "S_BG": ("share", _rate(("background",), _not_cut)),
    "early_cut_share": ("share", _rate((*FOR_US, "backchannel", "tic", "others"), early)),
    "extra_word_errors": ("share", _extra_errors),
    "end_of_speech_to_message_ms.p50": ("ms", _percentile(FOR_US, to_message, 50)),
    "end_of_speech_to_message_ms.p95": ("ms", _percentile(FOR_US, to_message, 95)),
    "split_share": ("share", lambda outs: _rate(FOR_US, split)([out for out in outs if out.sent])),
}
"""Of the scenes at 0 dB in a quiet room, which is what the targets are about; of all; and of those at 0 dB that begin
within 1.5 s of our first sample."""


def _tic(name: str) -> Value:
    return _rate(("tic",), _not_cut, lambda out: out.scene.tic == name)


def _background(name: str) -> Value:
    return _rate(("background",), _not_cut, lambda out: out.scene.background == name)


TOLD_APART: dict[str, Value] = {
    **{f"S_VT.{name}": _tic(name) for name in (*TICS, GROAN)},
    **{f"S_BG.{name}": _background(name) for name in BACKGROUNDS},
}
"""Which noises are told from somebody who wants the floor, at all levels."""

IN_GENERAL: dict[str, tuple[str, str]] = {
    "stop_phrase_ms.p95": ("stop_phrase_ms.p95", "default"),
    "double_talk_extra_word_errors": ("extra_word_errors", "default"),
    "end_of_speech_to_message_ms.p50": ("end_of_speech_to_message_ms.p50", "default"),
    "split_share": ("split_share", "default"),
}
"""Names without a sensitivity, and whose they are."""


def curve(outcomes: Sequence[Outcome], variants: Sequence[Variant]) -> list[Figure]:
    """What each of some variants of ours comes to in the same scenes: a point of a trade-off each."""
    by_variant = _by_variant(outcomes, variants)
    result: list[Figure] = []
    for variant in variants:
        for name, (unit, value) in PER_SENSITIVITY.items():
            result += _figure(f"floor.{variant.name}.{name}", unit, value, by_variant, variant.name, _required)
    return result


def figures(outcomes: Sequence[Outcome]) -> list[Figure]:
    """Every figure that the outcomes can give."""
    by_variant = _by_variant(outcomes, OURS)
    result: list[Figure] = []
    for variant in OURS:
        for name, (unit, value) in PER_SENSITIVITY.items():
            for prefix, chosen in (("", _required), ("all_levels.", _any), ("cold.", _cold)):
                result += _figure(f"floor.{variant.name}.{prefix}{name}", unit, value, by_variant, variant.name, chosen)
    for name, (key, variant_name) in IN_GENERAL.items():
        unit, value = PER_SENSITIVITY[key]
        result += _figure(f"floor.{name}", unit, value, by_variant, variant_name, _required)
    for suffix, ppm in (("", False), (".drift_60ppm", True)):
        for name, count in (("self_interruptions_per_hour", _cuts), ("false_ducks_per_hour", _ducks)):
            for variant in OURS:
                own = "" if variant.name == "default" else f".{variant.name}"
                result += _figure(
                    f"floor.{name}{own}{suffix}",
                    "per hour",
                    _per_hour(count),
                    by_variant,
                    variant.name,
                    lambda out, ppm=ppm: out.scene.kind == "silence" and bool(out.scene.drift_ppm) == ppm,  # type: ignore[misc]
                )
    for variant in OURS:
        for label, value in TOLD_APART.items():
            result += _figure(f"floor.{variant.name}.{label}", "share", value, by_variant, variant.name, _any)
    result += _cost(outcomes)
    return result


def _by_variant(outcomes: Sequence[Outcome], ours: Sequence[Variant]) -> dict[str, list[Outcome]]:
    return {variant.name: [out for out in outcomes if out.variant == variant.name] for variant in (*ours, *OTHERS)}


def _cost(outcomes: Sequence[Outcome]) -> list[Figure]:
    ours = [out for out in outcomes if out.variant in {variant.name for variant in OURS}]
    idle = [out for out in ours if out.scene.kind == "idle"]
    result: list[Figure] = []
    for name, value in (
        ("floor.audio_thread_share", _share(True)([out for out in ours if out.scene.kind != "idle"])),
        ("floor.audio_thread_share.listening", _share(False)([out for out in ours if out.scene.kind != "idle"])),
        ("floor.audio_thread_share.idle", _share(False)(idle)),
    ):
        result += [Figure(name, value[0], "of one core", value[1])] if value else []
    return result


def _cuts(out: Outcome) -> int:
    return out.cuts


def _ducks(out: Outcome) -> int:
    return out.ducks


def _required(out: Outcome) -> bool:
    """At 0 dB in a quiet room, and not soon after the first sample of a session."""
    return out.scene.required and not _soon(out)


def _cold(out: Outcome) -> bool:
    return out.scene.required and _soon(out)


def _soon(out: Outcome) -> bool:
    return 0 < out.scene.onset <= COLD_ONSETS[1]


def _figure(
    name: str,
    unit: str,
    value: Value,
    by_variant: dict[str, list[Outcome]],
    variant: str,
    chosen: Callable[[Outcome], bool],
) -> list[Figure]:
    ours = value([out for out in by_variant[variant] if chosen(out)])
    if ours is None:
        return []
    others = {
        other.name: result[0]
        for other in OTHERS
        if (result := value([out for out in by_variant[other.name] if chosen(out)])) is not None
    }
    return [Figure(name, *ours[:1], unit, ours[1], others)]
