"""The listener on virtual time, with a detector that takes loudness for voice and a recogniser that counts samples."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Coroutine
from typing import Any

import numpy as np
import pytest

from voice.audio.activity import FRAME
from voice.audio.base import BLOCK, RATE, Pcm
from voice.core.events import Input
from voice.core.evidence import Partial, SpeechPaused, SpeechResumed, SpeechStarted, Utterance, VoiceActivity
from voice.stt.base import Reading, RecogniserError
from voice.stt.endpoint import EndpointRules
from voice.stt.listener import Listener
from voice.timeloop import run_virtual

from .clips import play

LOUD = 0.25
"""A level that no sample number below reaches: the sign of voice for the detector."""


class LoudnessDetector:
    """Voice is what is louder than LOUD."""

    def __init__(self) -> None:
        self.held: list[float] = []
        self.resets = 0

    def reset(self) -> None:
        self.resets += 1

    def feed(self, block: Pcm, time: float) -> list[tuple[float, float]]:
        frames = []
        for number, sample in enumerate(block):
            self.held.append(float(sample))
            if len(self.held) == FRAME:
                frames.append((time + (number + 1) / RATE, 1.0 if max(self.held) > LOUD else 0.0))
                self.held = []
        return frames


class CountingRecogniser:
    """Says which samples it was fed; takes `decode` seconds, and fails where told to."""

    name = "counting"

    def __init__(self, decode: float = 0.0, failures: tuple[int, ...] = ()) -> None:
        self.decode, self.failures = decode, failures
        self.utterances: list[list[Pcm]] = []
        self.calls: list[str] = []
        self.running = self.most_running = 0
        self.closed = 0

    async def start(self) -> None: ...

    def begin(self) -> None:
        self.utterances.append([])

    def feed(self, pcm: Pcm) -> None:
        self.utterances[-1].append(pcm)

    async def partial(self) -> Reading:
        return await self.answer("partial")

    async def finish(self) -> Reading:
        return await self.answer("finish")

    async def answer(self, what: str) -> Reading:
        self.calls.append(what)
        number = len(self.calls)
        samples = sum(map(len, self.utterances[-1]))
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        await asyncio.sleep(self.decode)
        self.running -= 1
        if number in self.failures:
            raise RecogniserError("counting: the process ended")
        return Reading(f"{samples} samples")

    async def close(self) -> None:
        self.closed += 1


def timeline(*spans: tuple[float, bool]) -> tuple[Pcm, Pcm]:
    """(gate, speech) of spans of (seconds, voice); each speech sample holds its own number, scaled."""
    gate = np.concatenate([np.full(round(seconds * RATE), 0.5 if voice else 0.0) for seconds, voice in spans])
    return gate.astype(np.float32), np.arange(len(gate), dtype=np.float32)


class Heard:
    """What came of one run."""

    def __init__(
        self,
        recogniser: CountingRecogniser,
        rules: EndpointRules | None = None,
        early: LoudnessDetector | None = None,
    ) -> None:
        self.recogniser = recogniser
        self.echo_db, self.settled = -100.0, True
        self.events: list[tuple[float, Input]] = []
        self.errors: list[str] = []
        ids = map(str, itertools.count(1))
        self.listener = Listener(
            recogniser,
            lambda event: self.events.append((asyncio.get_running_loop().time(), event)),
            rules,
            on_error=self.errors.append,
            new_id=lambda: next(ids),
            detector=LoudnessDetector(),
            early=early,
        )

    async def run(self, *spans: tuple[float, bool], settle: float = 1.0) -> None:
        gate, speech = timeline(*spans)
        loop = asyncio.get_running_loop()
        await self.listener.start()
        start = loop.time()
        for first in range(0, len(gate) - BLOCK + 1, BLOCK):
            await asyncio.sleep(start + (first + BLOCK) / RATE - loop.time())
            block = slice(first, first + BLOCK)
            self.listener.hear(gate[block], speech[block], start + first / RATE, self.echo_db, self.settled)
        await asyncio.sleep(settle)
        await self.listener.close()

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for _, event in self.events if isinstance(event, kind)]

    def names(self) -> list[str]:
        """The kinds of events in order, repeats of Partial left out."""
        return [name for name, _ in itertools.groupby(type(event).__name__ for _, event in self.events)]

    def fed(self, utterance: int) -> np.ndarray[Any, Any]:
        """The sample numbers that an utterance of the recogniser was fed."""
        return np.concatenate(self.recogniser.utterances[utterance])


def hear(
    *spans: tuple[float, bool], recogniser: CountingRecogniser | None = None, rules: EndpointRules | None = None
) -> Heard:
    async def main() -> Heard:
        heard = Heard(recogniser or CountingRecogniser(), rules)
        await heard.run(*spans)
        return heard

    return run_virtual(main())


def contiguous(numbers: np.ndarray[Any, Any]) -> bool:
    return bool(np.all(np.diff(numbers) == 1))


class TestOneUtterance:
    def test_order_and_times(self):
        """The floor acts on these in this order; a final before its onset would be an answer to nothing."""
        heard = hear((1.0, False), (1.0, True), (1.0, False))
        names = [name for name in heard.names() if name != "VoiceActivity"]
        assert names == ["SpeechStarted", *["Partial"] * 8, "SpeechPaused", "Partial", "Utterance"]
        (started,), (paused,), (utterance,) = (heard.of(k) for k in (SpeechStarted, SpeechPaused, Utterance))
        assert started.onset == utterance.onset == pytest.approx(1.0, abs=0.032)
        assert paused.end == utterance.end == pytest.approx(2.0, abs=0.032)
        assert {event.utterance_id for _, event in heard.events} == {"1"}

    def test_events_come_in_time(self):
        """Every 100 ms of delay here is 100 ms of talking over each other."""
        heard = hear((1.0, False), (1.0, True), (1.0, False))
        at = {type(event).__name__: time for time, event in reversed(heard.events)}
        assert at["SpeechStarted"] == pytest.approx(1.04, abs=0.04)
        assert at["Partial"] == pytest.approx(1.22, abs=0.05)
        assert at["Utterance"] == pytest.approx(2.52, abs=0.05)

    def test_what_was_before_the_onset_is_recognised(self):
        """F10: the "N" of a short "No" is quieter than the detector's threshold; without it the answer is "Oh"."""
        heard = hear((1.0, False), (0.25, True), (1.0, False))
        first, last = heard.fed(0)[0], heard.fed(0)[-1]
        assert contiguous(heard.fed(0))
        assert (1.0 - 0.3 - 0.042) * RATE <= first <= (1.0 - 0.3) * RATE
        assert last >= 1.25 * RATE

    def test_right_at_the_start(self):
        """F10 again: somebody who answers in the first instant has less before the onset, and loses nothing."""
        heard = hear((0.05, False), (0.25, True), (1.0, False))
        assert heard.fed(0)[0] == 0
        assert len(heard.of(Utterance)) == 1

    def test_a_short_pause_keeps_it_one(self):
        """Somebody who takes a breath is not answered in the middle of the sentence."""
        heard = hear((0.5, False), (0.5, True), (0.4, False), (0.5, True), (1.0, False))
        assert len(heard.of(SpeechStarted)) == len(heard.of(Utterance)) == len(heard.of(SpeechResumed)) == 1
        assert contiguous(heard.fed(0))
        assert heard.of(Utterance)[0].text == heard.of(Partial)[-1].text == f"{len(heard.fed(0))} samples"

    def test_partials_follow_the_voice(self):
        """In the first third of a second, on which the floor decides, there is news every 64 ms; later less often."""
        heard = hear((0.5, False), (1.0, True), (1.0, False))
        voiced = [partial.voiced for partial in heard.of(Partial)]
        steps = np.diff(voiced)
        assert steps[0] == pytest.approx(0.064, abs=0.001)
        assert all(step <= max(0.064, 0.2 * v) + 0.032 for v, step in zip(voiced, steps, strict=False))
        assert voiced == sorted(voiced)
        assert voiced[0] == pytest.approx(0.2, abs=0.033)

    def test_long_speech_does_not_drown_the_recogniser(self):
        """Each partial decodes from the beginning: half a minute of speech must not cost four minutes of decoding."""
        recogniser = CountingRecogniser()
        heard = hear((0.5, False), (30.0, True), (1.0, False), recogniser=recogniser)
        assert sum(partial.voiced for partial in heard.of(Partial)) < 8 * 30
        assert len(heard.of(Partial)) < 30

    def test_a_short_order_is_read_as_soon_as_it_is_over(self):
        """ "Stop!" must not wait until a pause is certain: the voice would go on for a fifth of a second."""
        heard = hear((0.5, False), (0.3, True), (1.0, False))
        at, last = next((t, e) for t, e in heard.events if isinstance(e, Partial) and e.voiced > 0.29)
        assert at == pytest.approx(0.8 + 0.096, abs=0.04)
        assert last.text

    def test_how_the_voice_goes_on_is_told_frame_by_frame(self):
        """Sustained voice is the earliest sign that somebody wants the floor."""
        heard = hear((0.5, False), (0.5, True), (1.0, False))
        frames = heard.of(VoiceActivity)
        times = [frame.time for frame in frames]
        assert np.diff(times) == pytest.approx(0.032)
        assert max(frame.voiced for frame in frames) == pytest.approx(0.52, abs=0.04)
        assert frames[-1].silent == pytest.approx(0.43, abs=0.04)
        assert frames[-1].level_db > frames[0].level_db, "of what the recogniser hears, and that grows here"
        assert frames[0].echo_db == -100

    def test_an_onset_between_two_frames_is_found_while_we_speak(self):
        """Sixteen milliseconds sooner: the voice goes down before the person's first syllable is over."""
        sooner = []
        for echo_db in (-100.0, -30.0):
            heard = Heard(CountingRecogniser(), early=LoudnessDetector())
            gate, speech = timeline((0.512 + 0.008, False), (0.3, True), (1.0, False))

            async def run(heard=heard, gate=gate, speech=speech, echo_db=echo_db) -> None:
                loop = asyncio.get_running_loop()
                await heard.listener.start()
                start = loop.time()
                for first in range(0, len(gate) - BLOCK + 1, BLOCK):
                    await asyncio.sleep(start + (first + BLOCK) / RATE - loop.time())
                    block = slice(first, first + BLOCK)
                    heard.listener.hear(gate[block], speech[block], start + first / RATE, echo_db)
                await heard.listener.close()

            run_virtual(run())
            sooner.append(next(t for t, event in heard.events if isinstance(event, SpeechStarted)))
        assert sooner[0] - sooner[1] == pytest.approx(0.01, abs=0.011)
        assert sooner[1] < sooner[0]

    def test_what_is_far_below_the_echo_is_no_voice(self):
        """What the canceller leaves of a loud voice reads as speech; a person is never that much quieter than it."""
        heard = Heard(CountingRecogniser())
        heard.echo_db = 10.0  # the "voice" here has -6 dBFS
        run_virtual(heard.run((0.5, False), (1.0, True), (1.0, False)))
        assert heard.events == []

    def test_who_speaks_before_the_echo_is_known_is_told_apart(self):
        """The floor asks more of what may be our own voice."""
        for settled in (True, False):
            heard = Heard(CountingRecogniser())
            heard.settled = settled
            run_virtual(heard.run((0.5, False), (0.5, True), (1.0, False)))
            (started,) = heard.of(SpeechStarted)
            assert started.sure == settled

    def test_silence_is_nothing(self):
        """An empty room must not begin a turn, and costs no decoding."""
        heard = hear((5.0, False))
        assert heard.events == []
        assert heard.recogniser.calls == []


class TestSpeculation:
    def test_the_text_is_ready_at_the_end(self):
        """The decode at 0.2 s of silence is the final one when no voice comes: 0.3 s saved at every turn."""
        heard = hear((0.5, False), (0.15, True), (1.0, False), recogniser=CountingRecogniser(decode=0.1))
        assert heard.recogniser.calls == ["partial", "finish"]
        at, _ = heard.events[-1]
        assert at == pytest.approx(0.65 + 0.512, abs=0.05)

    def test_it_is_waited_for(self):
        """A decode that is slower than the end of the utterance is not started twice."""
        heard = hear((0.5, False), (0.15, True), (1.0, False), recogniser=CountingRecogniser(decode=0.6))
        assert heard.recogniser.calls == ["partial", "finish"]
        assert len(heard.of(Utterance)) == 1

    def test_it_is_made_anew_after_more_voice(self):
        """What was said after the pause must be in the text."""
        heard = hear((0.5, False), (0.15, True), (0.35, False), (0.15, True), (1.0, False))
        assert heard.recogniser.calls.count("finish") == 2
        assert heard.of(Utterance)[0].text == f"{len(heard.fed(0))} samples"
        assert heard.fed(0)[-1] >= 1.15 * RATE


class TestSlowAndBroken:
    def test_one_decode_at_a_time(self):
        """A slow machine must not pile up decodes until it can do nothing else."""
        heard = hear((0.5, False), (3.0, True), (1.0, False), recogniser=CountingRecogniser(decode=0.7))
        assert heard.recogniser.most_running == 1
        assert len(heard.recogniser.calls) <= 6
        assert len(heard.of(Utterance)) == 1

    def test_a_slow_final_does_not_swallow_the_next_utterance(self):
        """Somebody who goes on talking while the first sentence is still decoded is heard whole, in order."""
        heard = hear(
            (0.5, False),
            (0.5, True),
            (0.6, False),
            (0.5, True),
            (3.0, False),
            recogniser=CountingRecogniser(decode=1.5),
        )
        assert [u.utterance_id for u in heard.of(Utterance)] == ["1", "2"]
        assert contiguous(heard.fed(1))
        assert heard.fed(1)[0] <= (1.6 - 0.3) * RATE
        assert heard.fed(1)[-1] >= 2.1 * RATE

    @pytest.mark.parametrize("failures", [(1,), (1, 2), (3,), (1, 2, 3, 4), (3, 4)])
    def test_a_failure_loses_nothing(self, failures: tuple[int, ...]):
        """The recogniser dies in mid-sentence: it is asked again, and the operator is told."""
        heard = hear((0.5, False), (0.5, True), (1.0, False), recogniser=CountingRecogniser(failures=failures))
        assert heard.of(Utterance)[0].text == f"{len(heard.fed(0))} samples"
        assert len(heard.errors) == len(failures)

    def test_a_recogniser_that_stays_broken_ends_every_turn(self):
        """A session that waits for a final for ever is a dead kiosk; an empty one it can handle."""
        heard = hear(
            (0.5, False),
            (0.5, True),
            (1.0, False),
            (0.5, True),
            (1.0, False),
            recogniser=CountingRecogniser(failures=tuple(range(100))),
        )
        assert [(u.utterance_id, u.text) for u in heard.of(Utterance)] == [("1", ""), ("2", "")]
        assert heard.errors
        assert all("\n" not in error for error in heard.errors)


class TestLife:
    def test_nothing_before_start_and_after_close(self):
        """Audio that comes a block too early or too late must not bring the audio thread down."""

        async def main() -> None:
            heard = Heard(CountingRecogniser())
            loud = np.full(BLOCK, 0.5, np.float32)
            for n in range(100):
                heard.listener.hear(loud, loud, n / 100)
            await heard.run((0.2, False))
            for n in range(100):
                heard.listener.hear(loud, loud, n / 100)
            await heard.listener.close()
            assert heard.events == []
            assert heard.recogniser.closed == 2
            assert len(asyncio.all_tasks()) == 1

        run_virtual(main())

    @pytest.mark.parametrize("after", [0.4, 0.55, 0.75, 1.05, 1.3])
    def test_close_at_any_moment(self, after: float):
        """C5: a session that ends in mid-word leaves no task behind."""

        async def main() -> None:
            heard = Heard(CountingRecogniser(decode=0.15))
            running = asyncio.create_task(heard.run((0.5, False), (0.5, True), (1.0, False)))
            await asyncio.sleep(after)
            await heard.listener.close()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            count = len(heard.events)
            await asyncio.sleep(2)
            assert len(heard.events) == count
            assert len(asyncio.all_tasks()) == 1

        run_virtual(main())

    async def test_from_an_audio_thread(self):
        """On a real device `hear` comes from another thread; everything is emitted on the loop's."""
        done = asyncio.Event()
        events: list[tuple[int, Input]] = []

        def emit(event: Input) -> None:
            events.append((threading.get_ident(), event))
            if isinstance(event, Utterance):
                done.set()

        listener = Listener(CountingRecogniser(), emit, detector=LoudnessDetector())
        await listener.start()
        gate, speech = timeline((0.5, False), (0.5, True), (1.0, False))

        def audio() -> None:
            for first in range(0, len(gate) - BLOCK + 1, BLOCK):
                listener.hear(gate[first : first + BLOCK], speech[first : first + BLOCK], first / RATE)

        thread = threading.Thread(target=audio)
        thread.start()
        await done.wait()
        thread.join()
        await listener.close()
        assert {ident for ident, _ in events} == {threading.get_ident()}
        assert isinstance(events[0][1], SpeechStarted)

    def test_the_same_audio_gives_the_same_events(self):
        """A replay that differs explains nothing."""
        spans = ((0.5, False), (0.7, True), (0.3, False), (0.2, True), (1.0, False))
        assert hear(*spans).events == hear(*spans).events


def test_noise_of_a_real_detector_is_silence():
    """With the real detector: a minute of a quiet room begins nothing."""
    from .clips import silence

    async def main() -> list[Input]:
        events: list[Input] = []
        listener = Listener(CountingRecogniser(), events.append)
        await listener.start()
        await play(listener, silence(60))
        await listener.close()
        return events

    job: Coroutine[Any, Any, list[Input]] = main()
    assert run_virtual(job) == []
