"""Clauses: what the voice is given, and where each of them lies in what the server wrote.

A clause that ends inside of "Dr. Smith" or "38.5" is spoken like two sentences, and misunderstood.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.core.script import HARD_MAX, Clause, Script, speakable, words_of

SENTENCES = {
    "T1": (["Dr. Smith will see you at 9 a.m. tomorrow."], "en"),
    "T2": (["Your temperature is 38.5 degrees."], "en"),
    "T3": (["Version 1.0.0 is out, e.g. for kiosks."], "en"),
    "T4": (["It costs $1,249.99. ", "Shall I go on?"], "en"),
    "T5": (["Wait... are you sure?"], "en"),
    "T6": (["今天头疼吗？", "请告诉我。"], "zh"),
}


def taken(*deltas: str, language: str = "en", final: str | None = None) -> Script:
    """A script whose clauses were taken as soon as they could be."""
    script = Script(language)
    for delta in deltas:
        script.append(delta)
        while script.take():
            pass
    script.finish("".join(deltas) if final is None else final)
    while script.take():
        pass
    return script


def pieces(script: Script) -> list[str]:
    return [script.source[clause.start : clause.end] for clause in script.clauses]


class TestSentences:
    @pytest.mark.parametrize("case", sorted(SENTENCES))
    def test_whole(self, case: str) -> None:
        """T1 to T6, the text in one piece."""
        sentences, language = SENTENCES[case]
        assert pieces(taken("".join(sentences), language=language)) == sentences

    @pytest.mark.parametrize("case", sorted(SENTENCES))
    def test_letter_by_letter(self, case: str) -> None:
        """T1 to T6, the text as a slow server sends it: "Dr." must not go out before "Smith" is there."""
        sentences, language = SENTENCES[case]
        assert pieces(taken(*"".join(sentences), language=language)) == sentences

    @settings(max_examples=60, deadline=None)
    @given(case=st.sampled_from(sorted(SENTENCES)), places=st.sets(st.integers(1, 60), max_size=6))
    def test_any_packing(self, case: str, places: set[int]) -> None:
        """T1 to T6: how a server packs its text is nothing that a listener should hear."""
        sentences, language = SENTENCES[case]
        text = "".join(sentences)
        ends = [0, *sorted(place for place in places if place < len(text)), len(text)]
        deltas = [text[a:b] for a, b in pairwise(ends)]
        assert pieces(taken(*deltas, language=language)) == sentences


class TestPieces:
    @settings(max_examples=300, deadline=None)
    @given(deltas=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), max_size=8))
    def test_pieces_joined_are_the_source(self, deltas: list[str]) -> None:
        """T8. One character lost, and all that is said to have been heard behind it is shifted."""
        script = taken(*deltas)
        assert "".join(pieces(script)) == script.source == "".join(deltas)
        assert script.exhausted
        assert [clause.index for clause in script.clauses] == list(range(len(script.clauses)))

    @settings(max_examples=100, deadline=None)
    @given(text=st.text("ab .,;!?。，\n1\u200d👍é", max_size=2000), size=st.integers(1, 700))
    def test_long_texts_too(self, text: str, size: int) -> None:
        """T8, and no clause is longer than an engine can be asked for at once."""
        script = taken(*(text[at : at + size] for at in range(0, len(text), size)))
        assert "".join(pieces(script)) == text
        assert all(len(clause.spoken) <= HARD_MAX for clause in script.clauses)

    @settings(max_examples=200, deadline=None)
    @given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
    def test_positions_map_into_their_clause(self, text: str) -> None:
        """A word of one clause would be reported as a word of the next."""
        for clause in (script := taken(text)).clauses:
            places = [clause.to_source(at) for at in range(len(clause.spoken) + 3)]
            assert places == sorted(places)
            assert all(clause.start <= place <= clause.end for place in places)
            for at, character in enumerate(clause.spoken):
                if not character.isspace():
                    assert script.source[clause.to_source(at)] == character

    def test_a_control_character_is_not_spoken_and_moves_nothing(self) -> None:
        """NUL ends the text of an engine in C, and all marks behind it would be missing."""
        (clause,) = taken("\x00Hello\x01there\u2028now").clauses
        assert clause.spoken == "Hello there now"
        assert clause.to_source(len("Hello there")) == len("\x00Hello\x01there")

    def test_a_joiner_stays_in_its_word(self) -> None:
        """Persian words would be torn in two, and pronounced so."""
        (clause,) = taken("می\u200cخواهم").clauses
        assert clause.spoken == "می\u200cخواهم"
        assert len(words_of(clause.spoken)) == 1


class TestTake:
    def test_the_first_clause_comes_before_the_message_is_complete(self) -> None:
        """The user would wait for a whole paragraph to be written."""
        script = Script()
        script.append("Thank you for that! ")
        assert script.ready()
        clause = script.take()
        assert clause is not None
        assert clause.spoken == "Thank you for that!"
        assert not script.exhausted

    def test_a_long_sentence_is_begun_at_a_comma(self) -> None:
        """The first sound would come after the last word of a long sentence."""
        script = Script()
        script.append("When you climb the stairs or walk uphill, does it ")
        clause = script.take()
        assert clause is not None
        assert clause.spoken == "When you climb the stairs or walk uphill,"

    def test_what_may_go_on_is_kept_back(self) -> None:
        """ "No." would be spoken like an answer before "5" makes it a number."""
        script = Script()
        script.append("No. ")
        assert script.take() is None
        assert not script.ready()
        script.append("5 is free.")
        script.finish("No. 5 is free.")
        clause = script.take()
        assert clause is not None
        assert clause.spoken == "No. 5 is free."
        assert script.take() is None

    def test_a_text_without_an_end_is_cut_at_a_gap(self) -> None:
        """One call of the engine for an hour of speech could neither be stopped nor held in memory."""
        script = taken(*["word " * 1000])
        assert all(len(piece) <= HARD_MAX and piece.endswith("word ") for piece in pieces(script))

    @pytest.mark.parametrize(
        "character",
        ["👨\u200d👩\u200d👧", "🇵🇱", "👍🏿", "e\u0301", "か\u3099", "\u1112\u1161\u11ab", "🏴\U000e0067\U000e007f"],
    )
    def test_a_text_without_a_gap_is_not_cut_inside_of_a_character(self, character: str) -> None:
        """Half a flag on the screen, and half an emoji in what is said to have been heard."""
        for lead in range(len(character) + 1):
            script = taken("x" * lead + character * 400)
            assert len(script.clauses) > 1
            for clause in script.clauses[1:]:
                assert script.source[clause.start :].startswith(character)

    def test_rewinding_gives_the_same_clauses_again(self) -> None:
        """After a false alarm the voice would go on with another cut of the same text, and lose its place."""
        script = taken("One two! Three four! Five six!")
        before = list(script.clauses)
        script.rewind(1)
        assert not script.exhausted
        assert script.ready()
        again = [script.take(), script.take(), script.take()]
        assert again == [before[1], before[2], None]
        assert script.exhausted
        script.rewind(5)  # nothing to say again
        assert script.take() is None

    def test_text_that_comes_after_a_rewind_goes_behind_it(self) -> None:
        """The rest of the answer would be spoken before its middle."""
        script = Script()
        script.append("One two! ")
        script.take()
        script.rewind(0)
        script.append("Three four! ")
        assert [clause.spoken for clause in iter(script.take, None)] == ["One two!", "Three four!"]  # type: ignore[union-attr]

    def test_nothing_is_exhausted_before_it_is_complete(self) -> None:
        """A message would be over in a pause of the server."""
        script = Script()
        assert not script.exhausted
        script.append("One two! ")
        script.take()
        assert not script.exhausted
        script.finish("One two! ")
        assert script.exhausted

    def test_a_message_is_finished_once(self) -> None:
        """A second final text would be spoken behind the first."""
        script = taken("One two!")
        script.finish("One two! Three.")
        script.append("Three.")
        assert script.source == "One two!"


class TestFinalText:
    def test_a_long_text_that_differs_near_its_end(self) -> None:
        """The alignment must not look for the end of a lecture at its beginning."""
        said = "It goes on and on like this! " * 100
        script = taken(said, final=said.replace("this! It goes", "that! It went") + "Here it ends.")
        assert script.source == said + "Here it ends."

    def test_half_a_word_is_not_said(self) -> None:
        """ "tablets" corrected to "tabletts": "tts." is no word."""
        script = Script()
        script.clauses.append(Clause(0, 0, 9, "Take tabl", 0))
        script.append("Take tabl")
        script.finish("Taxe tablets now.")
        assert script.source == "Take tabl now."


class TestWords:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Hello, world!", ["Hello,", "world!"]),
            ("您好，感谢。", ["您", "好，", "感", "谢。"]),
            ("한국어 예요.", ["한", "국", "어", "예", "요."]),
            ("か\u3099く", ["か\u3099", "く"]),
            ("א ב", ["א", "ב"]),
            ("👨\u200d👩\u200d👧 ok", ["👨\u200d👩\u200d👧", "ok"]),
            ("  ", []),
        ],
    )
    def test_words(self, text: str, expected: list[str]) -> None:
        """What is not a word of its own cannot be heard by itself."""
        assert [text[start:end] for start, end in words_of(text)] == expected

    def test_speakable(self) -> None:
        """An engine that is given three dots says nothing, and its silence would count as a fault."""
        assert speakable("a")
        assert speakable("5")
        assert speakable("您")
        assert not speakable("... — 👍 !")
        assert not speakable("")
