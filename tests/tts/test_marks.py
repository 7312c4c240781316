"""A mark that ends too early makes the server believe the user heard what was cut off."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tts.speech import check_marks
from voice.core.events import WordMark
from voice.tts.marks import MarkTrack, WordEvent


def track(text: str, events: list[tuple[int, int, int]], sounds: list[tuple[int, int]], samples: int) -> list[WordMark]:
    """Marks of a clause with these events (position, length, sample), audible in these ranges."""
    pcm = np.zeros(samples, np.float32)
    for first, last in sounds:
        pcm[first:last] = 0.1
    mapped = MarkTrack(text)
    for event in events:
        mapped.event(WordEvent(*event))
    mapped.audio(pcm)
    return mapped.settled() + mapped.finish()


def spans(marks: list[WordMark]) -> list[tuple[int, int]]:
    return [(mark.first, mark.last) for mark in marks]


class TestOneEventAWord:
    def test_a_word_ends_with_its_last_audible_sample(self) -> None:
        """Hurts whoever cuts in the pause after a word: it was heard, so it must count."""
        marks = track("wait, now", [(0, 4, 0), (6, 3, 200)], [(10, 100), (200, 300)], 400)
        assert spans(marks) == [(0, 100), (200, 300)]

    def test_a_mark_comes_as_soon_as_the_next_word_begins_and_its_audio_is_there(self) -> None:
        """Hurts whoever hears a long clause while its end is still being made."""
        mapped = MarkTrack("one two")
        mapped.event(WordEvent(0, 3, 0))
        mapped.audio(np.full(100, 0.1, np.float32))
        assert mapped.settled() == []
        mapped.event(WordEvent(4, 3, 150))
        assert mapped.settled() == []
        mapped.audio(np.full(100, 0.1, np.float32))
        assert mapped.settled() == [WordMark(0, 3, 0, 150)]


class TestUnevenEvents:
    def test_words_said_as_one_are_heard_when_the_last_has_ended(self) -> None:
        """The words "in the" is one event; "in" alone would be a claim for what may have been cut."""
        marks = track("in the hall", [(0, 2, 0), (7, 4, 120)], [(0, 110), (120, 200)], 200)
        assert spans(marks) == [(0, 110), (0, 110), (120, 200)]

    def test_a_number_said_in_parts_is_one_word(self) -> None:
        """Parts of "123" point at its second digit and at the blank behind it; "is" must not begin with them."""
        events = [(0, 4, 0), (5, 3, 50), (6, 3, 100), (8, 1, 150), (9, 2, 200)]
        marks = track("Room 123 is", events, [(0, 250)], 250)
        assert spans(marks) == [(0, 50), (50, 200), (200, 250)]

    def test_a_pointer_into_the_middle_of_a_later_word_does_not_end_the_one_under_way(self) -> None:
        """An engine whose positions drift would otherwise claim early."""
        marks = track("forty two", [(0, 5, 0), (8, 2, 30)], [(0, 100)], 100)
        assert spans(marks) == [(0, 100), (0, 100)]

    def test_empty_events_and_events_that_go_back_are_ignored(self) -> None:
        """espeak sends both at pauses and at repeated parts."""
        marks = track("a b", [(0, 1, 0), (2, 0, 10), (2, 1, 50), (0, 1, 70)], [(0, 100)], 100)
        assert spans(marks) == [(0, 50), (50, 100)]

    def test_a_leading_word_without_an_event_waits_for_the_first_that_has_one(self) -> None:
        """Silence before the first sound is no evidence that the leading dash was heard."""
        marks = track("- go", [(2, 2, 5)], [(5, 80)], 100)
        assert [mark.last for mark in marks] == [80, 80]

    def test_no_event_at_all_means_heard_only_at_the_end(self) -> None:
        """An engine that gives no positions for a script must not make us guess."""
        assert spans(track("お電話", [], [(10, 90)], 100)) == [(0, 90)] * 3


class TestSilence:
    def test_a_silent_word_counts_with_the_next(self) -> None:
        """An event whose time holds no sound proves nothing."""
        marks = track("a -- b", [(0, 1, 0), (2, 2, 50), (5, 1, 80)], [(0, 40), (80, 100)], 100)
        assert spans(marks) == [(0, 40), (50, 100), (50, 100)]

    def test_words_after_the_last_sound_end_with_it(self) -> None:
        """Otherwise a message played to its end would be reported as cut."""
        marks = track("bye ...", [(0, 3, 0), (4, 3, 60)], [(0, 50)], 100)
        assert [mark.last for mark in marks] == [50, 50]

    def test_a_clause_without_a_sound_has_no_marks(self) -> None:
        """Nothing heard is a value; a mark would turn it into a claim."""
        assert track("hello", [(0, 5, 0)], [], 100) == []
        assert track("hello", [], [], 0) == []
        assert track("", [], [(0, 10)], 10) == []


@given(
    text=st.text(alphabet="ab1 ,.-您あ가\n😀", max_size=40),
    events=st.lists(st.tuples(st.integers(-2, 45), st.integers(-1, 6), st.integers(-5, 600)), max_size=30),
    audible=st.lists(st.booleans(), max_size=50),
    chunk=st.integers(1, 200),
)
def test_marks_of_any_events_cover_every_word_once_in_order_within_the_audio(
    text: str, events: list[tuple[int, int, int]], audible: list[bool], chunk: int
) -> None:
    """Whatever an engine reports, the session can only ever read a proper prefix from it."""
    pcm = np.repeat(np.where(audible, 0.1, 0.0).astype(np.float32), 10) if audible else np.zeros(0, np.float32)
    mapped, marks = MarkTrack(text), []
    queue = sorted(events, key=lambda event: event[2])
    for begin in range(0, pcm.size, chunk):
        while queue and queue[0][2] < begin + chunk:
            mapped.event(WordEvent(*queue.pop(0)))
        mapped.audio(pcm[begin : begin + chunk])
        marks += mapped.settled()
        assert all(mark.last <= mapped.samples for mark in marks)
    for event in queue:
        mapped.event(WordEvent(*event))
    marks += mapped.finish()
    if np.any(pcm) and text.strip():
        check_marks(text, marks, pcm.size)
        ends = {mark.last for mark in marks}
        assert max(ends) == np.flatnonzero(pcm)[-1] + 1
    else:
        assert marks == []
