"""Spans, marks and stamps: three facts from which all that was heard follows."""

from __future__ import annotations

from voice.core.events import ClauseVoiced, Span, Stamp, WordMark
from voice.core.playhead import Heard, Playhead
from voice.core.script import Clause

RATE = 1000
"""One sample a millisecond, so that samples read as milliseconds."""

CLAUSES = [Clause(0, 0, 8, "One two.", 0), Clause(1, 8, 20, "three four.", 1)]
"""Of the source "One two. three four."."""


def ready(final: bool = True, estimated: bool = False) -> Playhead:
    """Two clauses of two words, each word 100 ms with 20 ms of silence behind it."""
    playhead = Playhead(RATE)
    for clause, (a, b) in enumerate((((0, 3), (4, 8)), ((0, 5), (6, 11)))):
        marks = (WordMark(*a, 0, 80), WordMark(*b, 100, 180))
        playhead.voiced(ClauseVoiced("m", clause, marks, 200, final=final, estimated=estimated))
    return playhead


def span(frame: int, clause: int, sample: int, count: int, level: float = 1.0) -> Span:
    return Span(frame, "m", clause, sample, count, level)


class TestHeard:
    def test_nothing_before_the_first_stamp(self) -> None:
        """A device that is still opening would count as a listener."""
        playhead = ready()
        playhead.played([span(0, 0, 0, 200)], None)
        assert playhead.frame_at(5.0) is None
        assert playhead.time_of(10) is None
        assert playhead.heard("m", CLAUSES, None) == Heard(0, 0, False)

    def test_a_word_ends_with_its_last_audible_sample(self) -> None:
        """The pause behind a word is not part of it, and its last sound is."""
        playhead = ready()
        playhead.played([span(0, 0, 0, 200)], Stamp(0, 0.0))
        ends = {frame: playhead.heard("m", CLAUSES, frame).end for frame in (0, 79, 80, 179, 180, 200)}
        assert ends == {0: 0, 79: 0, 80: 3, 179: 3, 180: 8, 200: 8}

    def test_a_clause_that_is_over_counts_with_its_blanks(self) -> None:
        """The blank between two sentences would be missing from what was heard."""
        playhead = ready()
        playhead.played([span(0, 0, 0, 200), span(200, 1, 0, 100)], Stamp(0, 0.0))
        assert playhead.heard("m", CLAUSES, 300) == Heard(14, 1, False)

    def test_frames_that_are_in_no_span_do_not_count(self) -> None:
        """Lead-in, underrun and fade: time goes on, the voice does not."""
        playhead = ready()
        playhead.played([span(500, 0, 0, 100), span(1300, 0, 100, 100)], Stamp(0, 0.0))
        assert playhead.heard("m", CLAUSES, 500).end == 0
        assert playhead.heard("m", CLAUSES, 1300).end == 3
        assert playhead.heard("m", CLAUSES, 1380).end == 8

    def test_a_hole_in_the_samples_ends_what_is_claimed(self) -> None:
        """A clause whose middle was lost was not understood."""
        playhead = ready()
        playhead.played([span(0, 0, 0, 90), span(90, 0, 110, 90), span(180, 1, 0, 200)], Stamp(0, 0.0))
        assert playhead.heard("m", CLAUSES, 400) == Heard(3, 0, False)

    def test_marks_that_are_not_there_yet_are_not_heard(self) -> None:
        """When unsure, claim less."""
        playhead = Playhead(RATE)
        playhead.voiced(ClauseVoiced("m", 0, (WordMark(0, 3, 0, 80),), 200, final=False))
        playhead.played([span(0, 0, 0, 200)], Stamp(0, 0.0))
        assert playhead.heard("m", CLAUSES, 200) == Heard(3, 0, False)
        assert not playhead.finished("m", 0, 200)

    def test_what_was_low_when_it_was_cut_does_not_count(self) -> None:
        """It was said under the user's own words; what was loud again before the cut does count."""
        playhead = ready()
        spans = [span(0, 0, 0, 60), span(60, 0, 60, 40, 0.1), span(100, 0, 100, 100), span(200, 1, 0, 200, 0.1)]
        playhead.played(spans, Stamp(0, 0.0))
        assert playhead.heard("m", CLAUSES, 400, full_level=True) == Heard(8, 1, False)
        assert playhead.heard("m", CLAUSES, 400) == Heard(20, 2, False)
        assert playhead.heard("m", CLAUSES, 100, full_level=True) == Heard(0, 0, False)

    def test_only_a_clause_cut_short_is_an_estimate(self) -> None:
        """H5. What was heard to its end needs no estimating."""
        playhead = ready(estimated=True)
        playhead.played([span(0, 0, 0, 200), span(200, 1, 0, 200)], Stamp(0, 0.0))
        marked = {frame: playhead.heard("m", CLAUSES, frame).estimated for frame in (0, 50, 100, 200, 250, 400)}
        assert marked == {0: False, 50: True, 100: True, 200: False, 250: True, 400: False}

    def test_of_a_clause_that_failed_what_was_delivered_counts(self) -> None:
        """Its first words were heard; nothing behind them is a prefix."""
        playhead = ready(final=False)
        playhead.failed("m", 0)
        playhead.played([span(0, 0, 0, 200), span(200, 1, 0, 200)], Stamp(0, 0.0))
        assert playhead.finished("m", 0, 200)
        assert playhead.heard("m", CLAUSES, 400) == Heard(8, 0, False)


class TestTime:
    def test_frames_follow_the_newest_stamp(self) -> None:
        """A card whose clock is off by a little would be minutes off at the end of a day."""
        playhead = Playhead(RATE)
        playhead.played([], Stamp(1000, 10.0))
        assert playhead.frame_at(10.5) == 1500
        assert playhead.time_of(1500) == 10.5
        playhead.played([], Stamp(2000, 11.1))
        assert playhead.frame_at(11.2) == 2100
        playhead.played([], None)
        assert playhead.frame_at(11.2) == 2100

    def test_first_and_last_frame(self) -> None:
        """The report would say that a message began before it was heard."""
        playhead = ready()
        assert playhead.first_frame("m") is None
        assert playhead.last_frame("m") is None
        playhead.played([span(100, 0, 0, 200), span(350, 1, 0, 200)], Stamp(0, 0.0))
        assert (playhead.first_frame("m"), playhead.last_frame("m")) == (100, 550)

    def test_waiting_is_what_was_made_and_not_yet_played(self) -> None:
        """Too little ahead, and the voice stutters; too much, and memory fills."""
        playhead = ready()
        assert playhead.waiting("m", None) == 0.4
        playhead.played([span(0, 0, 0, 150)], Stamp(0, 0.0))
        assert playhead.waiting("m", 100) == 0.3
        assert playhead.waiting("m", 500) == 0.25
        assert playhead.waiting("other", 500) == 0


class TestSettled:
    def played(self, level: float = 1.0) -> Playhead:
        playhead = ready()
        playhead.played([span(0, 0, 0, 200, level), span(200, 1, 0, 200)], Stamp(0, 0.0))
        return playhead

    def test_what_is_certain_answers_the_same_once_it_is_settled(self) -> None:
        """A long message would be reported otherwise than a short one."""
        for frame in (0, 100, 199, 200, 280, 399, 400):
            playhead = self.played()
            before = playhead.heard("m", CLAUSES, frame)
            playhead.settle("m", CLAUSES, frame)
            assert playhead.heard("m", CLAUSES, frame) == before
            assert playhead.heard("m", CLAUSES, 400) == Heard(20, 2, False)
            assert playhead.last_frame("m") == 400
            assert playhead.finished("m", 0, 400)
            assert playhead.waiting("m", 400) == 0

    def test_what_was_low_is_not_settled_while_it_may_still_be_cut(self) -> None:
        """The cut that follows would claim what was said under the user's words."""
        playhead = ready()
        playhead.played([span(0, 0, 0, 200, 0.1), span(200, 1, 0, 50, 0.1)], Stamp(0, 0.0))
        playhead.settle("m", CLAUSES, 250)
        assert playhead.heard("m", CLAUSES, 250, full_level=True) == Heard(0, 0, False)
        assert playhead.heard("m", CLAUSES, 250) == Heard(8, 1, False)

    def test_forgetting_a_message_leaves_nothing(self) -> None:
        """C3. A day of messages would stay in memory."""
        playhead = self.played()
        playhead.settle("m", CLAUSES, 250)
        playhead.forget("m")
        assert playhead.heard("m", CLAUSES, 400) == Heard(0, 0, False)
        assert playhead.last_frame("m") is None

    def test_forgetting_from_a_clause_on_keeps_those_before_it(self) -> None:
        """A clause that is said again must not take back the sentences before it."""
        playhead = self.played()
        playhead.settle("m", CLAUSES, 250)
        playhead.forget("m", 1)
        assert playhead.heard("m", CLAUSES, 400) == Heard(8, 1, False)
        playhead.voiced(ClauseVoiced("m", 1, (WordMark(0, 5, 0, 80), WordMark(6, 11, 100, 180)), 200, final=True))
        playhead.played([span(900, 1, 0, 90)], Stamp(0, 0.0))
        assert playhead.heard("m", CLAUSES, 1000) == Heard(14, 1, False)
