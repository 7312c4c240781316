"""Somebody watches the demo, or reads the log of a build: who spoke, what was cut, what the server was told."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from tests.report.story import Story, triage
from voice.core import events as ev
from voice.core.evidence import Partial, SpeechStarted
from voice.screen.terminal import TerminalCaptions


def log(story: Story) -> list[str]:
    """What a file gets."""
    file = io.StringIO()
    with TerminalCaptions(Console(file=file, width=80)) as captions:
        story.tell(captions)
    return file.getvalue().splitlines()


def screen(*items: tuple[float, object], width: int = 100) -> str:
    """All that a terminal gets, escape sequences included; the captions are not closed."""
    file = io.StringIO()
    captions = TerminalCaptions(Console(file=file, width=width, height=30, force_terminal=True))
    for t, item in items:
        captions(t, item)
    return file.getvalue()


class TestLog:
    def test_is_one_line_for_each_thing_that_is_over(self):
        """A build's log would be full of half sentences, or silent."""
        assert log(triage()) == [
            " 0:00.0  server     connected",
            " 0:04.3  assistant  intro  Hello. I will ask you a few questions about how you feel today.",
            " 0:07.1  user       I have a headache since yesterday.",
            " 0:07.4  server     → “I have a headache since yesterday.”",
            " 0:08.5  assistant  acknowledgement  Thank you.",
            " 0:09.4  floor      ▼ voice lowered: onset",
            " 0:09.9  floor      ▲ voice back: silence",
            " 0:10.0  floor      ○ not for us: no words",
            " 0:10.0  user       (a sound without words)",
            " 0:10.8  floor      ▼ voice lowered: onset",
            " 0:11.4  floor      ✂ voice stopped: two partials agree",
            " 0:11.4  assistant  follow_up  Do you also have a fever, or have you ✂ "
            "⟨not heard: had chills during the last two days?⟩ cut by voice",
            " 0:11.4  assistant  follow_up  ✂ "
            "⟨not heard: If you measured it, please tell me the highest value.⟩ cut by voice",
            " 0:13.1  user       No fever, but my neck is stiff.",
            " 0:13.2  server     → “No fever, but my neck is stiff.”  "
            "is_interrupted, heard “Do you also have a fever, or have you”",
            " 0:15.8  floor      ◆ answer held back: may not be interrupted",
            " 0:15.8  user       Since this morning.",
            " 0:16.2  server     → “Since this morning.”  after 0.9 s",
            " 0:16.9  assistant  bridge  I see, one moment please, I am writing it down.",
            " 0:17.6  server     connected again (1)",
            " 0:23.8  assistant  read_back  You told me: a headache since yesterday, a stiff neck since this morning, "
            "no fever. Is that right?",
            " 0:25.0  user       typed  Yes, that is right.",
            " 0:25.0  server     → “Yes, that is right.”",
            " 0:28.9  assistant  intro  Please call the emergency number now and do not drive yourself.",
            " 0:29.5  server     the conversation is over: completed",
        ]

    def test_holds_no_escape_sequence(self):
        """A log would be unreadable."""
        assert "\x1b" not in "\n".join(log(triage()))

    def test_says_that_nothing_was_heard(self):
        """An empty quotation looks like a fault."""
        story = Story()
        story.utterance(1.0, "u", "Stop", sent=3.0, played="")
        assert log(story)[-1].endswith("is_interrupted, heard nothing")

    def test_notices_are_shown(self):
        """An operator would look for the cause elsewhere."""
        assert log(Story().at(0.0, ev.Notice("device.lost", "unplugged"))) == [
            " 0:00.0  notice     device.lost: unplugged"
        ]

    def test_minutes_carry_over(self):
        """A time that no clock shows."""
        story = Story().at(0.0, ev.LinkUp(0)).at(59.98, ev.Ended("completed"))
        assert log(story)[-1].startswith(" 1:00.0")


class TestScreen:
    def test_shows_what_is_being_said_and_how_far(self):
        """A deaf or distracted watcher would not see where the voice is."""
        shown = screen((1.0, ev.Caption("m", "intro", "One two three", 7)))
        assert "\x1b[1mOne two\x1b[0m\x1b[2m three" in shown

    def test_replaces_partials_in_place(self):
        """The screen would fill with guesses."""
        started = (1.0, SpeechStarted("u", 0.9))
        shown = screen(started, (1.3, Partial("u", "I half", 0.3)), (1.6, Partial("u", "I have", 0.6)))
        assert re.search(r"I half.*\x1b\[1A\x1b\[2K.*I have|I half.*\x1b\[2K.*I have", shown, re.DOTALL)

    def test_a_long_message_keeps_the_live_part_small(self):
        """A live part higher than the screen cannot be redrawn and scrolls without end."""
        text = "word " * 2000
        shown = screen((1.0, ev.Caption("m", "intro", text, 5000)), width=60)
        assert shown.count("\n") < 12

    def test_is_left_as_it_was_found(self):
        """A hidden cursor stays hidden after the demo."""
        file = io.StringIO()
        with TerminalCaptions(Console(file=file, force_terminal=True)) as captions:
            captions(1.0, ev.Caption("m", "intro", "One two", 3))
        captions.close()
        assert file.getvalue().rindex("\x1b[?25h") > file.getvalue().rindex("\x1b[?25l")


class TestSafety:
    EVIL = "\x1b[2J\x1b]0;t\x07[bold]<script>[/bold]\r\nEnd\u202e"

    def test_text_of_strangers_is_shown_and_not_obeyed(self):
        """A server could wipe the operator's screen, or write lines that look like ours."""
        story = Story()
        story.message(1.0, "m", self.EVIL, kind=self.EVIL)
        story.utterance(2.0, "u", self.EVIL, sent=5.0, played=self.EVIL, decisions=((2.5, "hold", self.EVIL),))
        story.at(6.0, ev.Notice(self.EVIL, self.EVIL), ev.Typed(self.EVIL), ev.Ended(self.EVIL))
        lines = log(story)
        assert len(lines) == 7
        assert all("[bold]<script>[/bold] End" in line for line in lines)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", "".join(lines))

    def test_nor_while_it_is_live(self):
        """The live part is the first to show it."""
        shown = screen(
            (1.0, ev.Caption("m", self.EVIL, self.EVIL, 3)),
            (1.0, SpeechStarted("u", 0.9)),
            (1.1, Partial("u", self.EVIL, 0.2)),
        )
        assert "\x1b[2J" not in shown
        assert "\x1b]0" not in shown
        assert shown.count("[bold]<script>[/bold]") >= 2

    def test_a_console_that_fails_ends_the_captions_and_nothing_else(self):
        """A full disk or a lost terminal would end the conversation."""

        class Broken(io.StringIO):
            """A disk that is full."""

            def write(self, text: str) -> int:
                raise OSError(28, "No space left on device")

        for terminal in (True, False):
            with TerminalCaptions(Console(file=Broken(), force_terminal=terminal)) as captions:
                triage().tell(captions)

    def test_a_pipe_whose_reader_left_does_not_end_the_program(self):
        """`voice demo | head` would hang up on the person who is talking."""
        program = (
            "import sys; from rich.console import Console; from tests.report.story import triage\n"
            "from voice.screen.terminal import TerminalCaptions\n"
            "with TerminalCaptions(Console()) as captions: triage().tell(captions)\n"
            "sys.stderr.write('the conversation went on')\n"
        )
        reader, writer = os.pipe()
        os.close(reader)
        root = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, cwd=root, text=True, check=False
        )
        os.close(writer)
        assert done.stderr == "the conversation went on"

    def test_an_encoding_without_our_signs_shows_question_marks(self):
        """A console set to ASCII would show nothing at all."""
        file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        with TerminalCaptions(Console(file=file, width=200)) as captions:
            triage().tell(captions)
        file.flush()
        assert b"? voice lowered: onset" in file.buffer.getvalue()
