"""The wiring of a whole conversation: lost devices, dead and hung workers, and an end that leaves nothing behind."""

import asyncio
import multiprocessing
import os
import signal
import threading
from contextlib import aclosing

import numpy as np
import pytest

from tests.app.stage import FLOW, QUESTION, Stage, says
from voice.audio.base import RATE, DeviceError
from voice.audio.room import Room
from voice.core import events as ev
from voice.core.evidence import Partial
from voice.server.flow_file import parse
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual
from voice.tts.espeak import EspeakVoice


async def spoken(text):
    """A person's voice."""
    voice = EspeakVoice("en-gb", 150, "f1")
    await voice.start(RATE)
    try:
        async with aclosing(voice.speak(text)) as parts:
            return np.concatenate([part.pcm async for part in parts])
    finally:
        await voice.close()


def children(name):
    return [child for child in multiprocessing.active_children() if child.name == name]


class PulledOut(Room):
    """A room whose sound card is gone for some tries to open it again."""

    def __init__(self, tries):
        super().__init__()
        self.tries = tries
        self.gone = False

    def open(self, *callbacks, **how):
        if self.gone and self.tries:
            self.tries -= 1
            raise DeviceError("no loudspeaker was found; plug one in and check that the sound server runs")
        super().open(*callbacks, **how)


class TestADeviceThatIsLost:
    @pytest.mark.parametrize("tries", [0, 3])
    def test_the_message_goes_on_from_what_was_heard(self, tries):
        """A loudspeaker that was unplugged for a moment costs the listener no word and no patience."""

        def pull_out(stage, item):
            if says(item, "stiff neck,") and not stage.device.gone:
                stage.device.gone = True
                stage.device.lose("the loudspeaker went away")
            if isinstance(item, ev.MessageClosed):
                stage.conversation.shut_down()

        stage = Stage(PulledOut(tries), pull_out)
        assert run_virtual(stage.hold()) == "shutdown"
        assert (stage.closed[QUESTION].heard, stage.closed[QUESTION].cut) == (QUESTION, None)
        codes = [notice.code for notice in stage.of(ev.Notice)]
        assert codes == ["device.lost", *["device.missing"] * bool(tries), "device.back"]
        clauses = [speak.clause for speak in stage.of(ev.Speak)]
        assert clauses[0] == 0
        assert clauses.count(0) == 1, "what was heard is not said again"
        assert sorted(set(clauses)) == list(range(max(clauses) + 1)), "nothing is left out"

    def test_a_device_that_is_lost_as_soon_as_it_is_back(self):
        """A loose plug: lost again in the moment of its return, and the voice still goes on."""

        def pull_out(stage, item):
            again = isinstance(item, ev.Notice) and item.code == "device.back" and len(stage.of(ev.DeviceLost)) < 3
            if (says(item, "any of these") and not stage.of(ev.DeviceLost)) or again:
                stage.device.lose("the loudspeaker went away")
            if isinstance(item, ev.MessageClosed):
                stage.conversation.shut_down()

        stage = Stage(Room(), pull_out)
        assert run_virtual(stage.hold()) == "shutdown"
        assert len(stage.of(ev.DeviceLost)) == 3
        assert stage.closed[QUESTION].heard == QUESTION


class TestWorkersThatFail:
    def test_a_recogniser_that_dies_in_the_middle_of_an_utterance(self):
        """The user's words are not lost with the process that read them, and not sent twice."""
        room, killed = Room(), []
        words = asyncio.run(spoken("No, I do not have any of these."))

        def kill(stage, item):
            if isinstance(item, ev.MessageClosed) and item.source == QUESTION:
                room.say(words, at=item.t_end + 1.0)
            if isinstance(item, Partial) and stage.closed and not killed:
                [recogniser] = children("stt-moonshine")
                killed.append(recogniser.pid)
                os.kill(recogniser.pid, signal.SIGKILL)

        stage = Stage(room, kill)
        assert run_virtual(stage.hold()) == "completed"
        assert killed
        [sent] = stage.of(ev.SendUserMessage)
        assert sent.content.startswith("No, I")

    async def test_a_voice_that_hangs(self):
        """The sound still stops at once when it is told to, and the conversation goes on with a new process."""
        stage = Stage(Room())

        async def until(met):
            async with asyncio.timeout(30):
                while not met():  # noqa: ASYNC110 - several kinds of facts, one of them a thread's
                    await asyncio.sleep(0.005)

        async def hang(stage):
            await until(lambda: any(says(item, "Please tell") for item in stage.seen))
            [voice] = children("espeak")
            os.kill(voice.pid, signal.SIGSTOP)
            before = stage.device.loudspeaker.size
            stage.conversation.feed(ev.UserCut("key"))
            await until(lambda: stage.device.loudspeaker.size > before + RATE)
            after = stage.device.loudspeaker[before:]
            assert not after[RATE // 20 : RATE].any(), "silence within 50 ms, and it lasts"
            stage.conversation.feed(ev.Typed("No."))

        assert await stage.hold(hang) == "completed"
        first, last = stage.closed[QUESTION], stage.closed["Thank you. Goodbye."]
        assert (first.cut, QUESTION.startswith(first.heard)) == ("key", True)
        assert last.cut is None
        assert [notice.code for notice in stage.of(ev.Notice)] in ([], ["voice.failed"])
        assert stage.device.loudspeaker[-RATE * 3 :].any(), "the new process speaks"


async def after_turns(stage, turns):
    for _ in range(turns):
        await asyncio.sleep(0)


async def after_seconds(stage, seconds):
    await asyncio.sleep(seconds)


POINTS = [
    (after_turns, 0),
    (after_turns, 5),
    (after_seconds, 0.0),
    (after_seconds, 0.3),
    (after_seconds, 2.0),
    (after_seconds, 5.2),
]
"""While the workers start, while the link opens, before the first word, in a message, while the user speaks."""


class TestTheEnd:
    @pytest.mark.parametrize("how", ["cancelled", "shut down"])
    @pytest.mark.parametrize(("wait", "amount"), POINTS)
    def test_nothing_is_left_behind(self, how, wait, amount):
        """A kiosk starts thousands of conversations; what each leaves behind ends it one day."""
        words = np.random.default_rng(1).standard_normal(RATE).astype(np.float32) * np.float32(0.05)

        async def scene():
            stage = Stage(Room())

            async def end(stage):
                await wait(stage, amount)
                if amount == 5.2:
                    stage.device.say(words)
                    await asyncio.sleep(0.4)
                if how == "cancelled":
                    stage.running.cancel()
                else:
                    stage.conversation.shut_down()

            if how == "cancelled":
                with pytest.raises(asyncio.CancelledError):
                    await stage.hold(end)
            else:
                assert await stage.hold(end) == "shutdown"
                assert len({closed.id for closed in stage.of(ev.MessageClosed)}) == len(stage.of(ev.MessageClosed))
            return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

        assert run_virtual(scene()) == []
        assert multiprocessing.active_children() == []
        assert [thread for thread in threading.enumerate() if thread is not threading.main_thread()] == []

    def test_a_fault_in_an_observer_ends_the_conversation_with_it(self):
        """A program that goes on without saying anything leaves a person waiting before it."""

        def fail(stage, item):
            if isinstance(item, ev.Caption):
                raise ArithmeticError

        stage = Stage(Room(), fail)
        with pytest.raises(ArithmeticError):
            run_virtual(stage.hold())
        assert multiprocessing.active_children() == []


def test_a_shutdown_reports_what_was_heard():
    """The server learns how far the last message came, though the user pressed Ctrl-C."""

    def end(stage, item):
        if says(item, "a stiff neck,"):
            stage.conversation.shut_down()

    stage = Stage(Room(), end, server=FlowServer(parse(FLOW)))
    assert run_virtual(stage.hold()) == "shutdown"
    report = stage.closed[QUESTION]
    assert (report.cut, report.heard) == ("shutdown", QUESTION[: QUESTION.index(" chest")])
