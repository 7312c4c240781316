"""All scenes of a plan, in one process or two; the outcomes do not depend on how many."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from voice.audio.activity import Activity
from voice.audio.base import Pcm
from voice.bench.floor_human import abroad
from voice.bench.floor_outcome import Outcome
from voice.bench.floor_parts import Rendered, TimedRecogniser, render_messages
from voice.bench.floor_phrases import MESSAGES
from voice.bench.floor_scenes import Scene
from voice.bench.floor_stage import World, play
from voice.bench.floor_variants import Variant
from voice.bench.floor_voices import Key, render

_TALKERS = 6
"""Sentences of each person who talks in the background."""

_OTHERS_SILENT = 15.0
"""Seconds of our own voice that the other ways to decide get: without echo cancelling the recogniser is busy with it
all the time, and the first seconds show it."""

Job = tuple[Scene, tuple[Variant, ...]]
"""A scene and who plays it."""

_world: World | None = None


def _begin(clips: Mapping[Key, Pcm], rendered: Rendered) -> None:
    """In a process that plays scenes: load what they share."""
    global _world  # the one state of such a process; its jobs come without any
    from voice.stt.moonshine_worker import MoonshineEngine

    talk = abroad(_TALKERS) or [clip for key, clip in sorted(clips.items())]
    _world = World(clips, rendered, talk, TimedRecogniser(MoonshineEngine(), {}), Activity(), Activity())


def _play(job: Job) -> list[Outcome]:
    assert _world is not None
    scene, variants = job
    outcomes: list[Outcome] = []
    quiet: Outcome | None = None
    for variant in variants:
        if quiet is not None and variant.ours:
            outcomes.append(replace(quiet, variant=variant.name))  # nobody was heard, so there was nothing to decide
            continue
        shorter = scene.kind == "silence" and not variant.ours
        outcomes.append(play(replace(scene, seconds=_OTHERS_SILENT) if shorter else scene, variant, _world))
        if variant.ours and not outcomes[-1].log:
            quiet = outcomes[-1]
    return outcomes


def outcomes(jobs: Sequence[Job], kept: bool, processes: int) -> Iterator[Outcome]:
    """Play the jobs, the longest first. Raises VoiceError or WorkerError when an engine fails."""
    keys = sorted({key for scene, _ in jobs for key in scene.clips})
    clips, rendered = asyncio.run(_rendered(keys, kept))
    ordered = sorted(jobs, key=lambda job: -job[0].seconds)
    if processes == 1:
        _begin(clips, rendered)
        for job in ordered:
            yield from _play(job)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _begin, (clips, rendered)) as pool:
        for results in pool.map(_play, ordered):
            yield from results


async def _rendered(keys: Sequence[Key], kept: bool) -> tuple[Mapping[Key, Pcm], Rendered]:
    return await render(keys, kept), await render_messages(MESSAGES)
