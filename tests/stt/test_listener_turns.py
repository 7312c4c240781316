"""A turn that is long, or whose end depends on its words: pieces and patience."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.stt.test_listener import CountingRecogniser, Heard, contiguous, hear
from voice.core.evidence import Partial, Utterance
from voice.core.expectation import Expectation
from voice.core.patience import LONGER, QUICK, USUAL
from voice.stt.base import Reading
from voice.stt.endpoint import EndpointRules
from voice.timeloop import run_virtual


class TestPieces:
    rules = EndpointRules(piece=1.0, longest_piece=2.0)

    def test_a_long_story_is_one_utterance(self):
        """Its second half would go out as a message of its own and end the turn that answers the first."""
        heard = hear((0.5, False), (1.2, True), (0.4, False), (1.2, True), (1.0, False), rules=self.rules)
        [utterance] = heard.of(Utterance)
        first, second = [heard.fed(n) for n, fed in enumerate(heard.recogniser.utterances) if fed]
        assert contiguous(np.concatenate([first, second]))
        assert utterance.text == f"{len(first)} samples {len(second)} samples"

    def test_partials_have_all_of_it(self):
        """The floor would take the beginning of the second piece for the beginning of a sentence."""
        heard = hear((0.5, False), (1.2, True), (0.4, False), (1.2, True), (1.0, False), rules=self.rules)
        partials = heard.of(Partial)
        assert heard.of(Utterance)[0].text == partials[-1].text
        first = next(partial.text for partial in partials if partial.voiced > 1.15)
        assert all(partial.text.startswith(first) for partial in partials if partial.voiced > 1.25)
        voiced = [partial.voiced for partial in partials]
        assert voiced == sorted(voiced)

    def test_no_sample_is_lost_or_doubled_without_a_pause(self):
        """Somebody who does not breathe has all of it recognised, too."""
        heard = hear((0.5, False), (4.7, True), (1.0, False), rules=self.rules)
        pieces = [heard.fed(n) for n, fed in enumerate(heard.recogniser.utterances) if fed]
        assert contiguous(np.concatenate(pieces))
        assert heard.of(Utterance)[0].text == " ".join(f"{len(piece)} samples" for piece in pieces)

    def test_silence_after_a_piece_is_not_decoded(self):
        """Recognisers invent words on silence: "You" would be sent with the answer."""
        heard = hear((0.5, False), (1.2, True), (1.5, False), rules=self.rules)
        assert heard.of(Utterance)[0].text.count("samples") == 1


class SayingRecogniser(CountingRecogniser):
    """Reads the same text in everything."""

    def __init__(self, text: str, **more: Any) -> None:
        super().__init__(**more)
        self.text = text

    async def answer(self, what: str) -> Reading:
        await super().answer(what)
        return Reading(self.text)


class TestPatience:
    def end(self, text: str, expectation: Expectation | None = None, decode: float = 0.05) -> float:
        """Seconds of silence after which the utterance is over."""

        async def main() -> float:
            heard = Heard(SayingRecogniser(text, decode=decode))
            if expectation is not None:
                heard.listener.expect(expectation)
            await heard.run((0.5, False), (1.0, True), (2.0, False))
            [(at, _)] = [(time, event) for time, event in heard.events if isinstance(event, Utterance)]
            return at - 1.5

        return run_virtual(main())

    def test_an_unfinished_sentence_gets_more_time(self):
        """The half sentence would be answered while the other half is said."""
        assert self.end("it hurts in my") == pytest.approx(USUAL + LONGER, abs=0.08)

    def test_a_complete_answer_gets_less(self):
        """Two hundred milliseconds of silence after every answer make a conversation slow."""
        answer = Expectation("yes_no", ("Yes", "No"))
        assert self.end("no I don't", answer) == pytest.approx(USUAL * QUICK, abs=0.08)
        assert self.end("no I don't") == pytest.approx(USUAL, abs=0.08)

    def test_it_does_not_end_before_it_was_read(self):
        """On a busy machine every unfinished sentence would be cut."""
        assert self.end("it hurts in my", decode=0.5) == pytest.approx(USUAL + LONGER, abs=0.08)

    def test_a_recogniser_that_hangs_keeps_nobody_waiting_for_ever(self):
        """The utterance ends by the clock, and the text comes when it comes."""
        assert 0.9 <= self.end("it hurts in my", decode=1.5) < 4.0
