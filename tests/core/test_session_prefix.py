"""What was heard is a verbatim prefix of what the server wrote, in every script, however the text was packed.

A prefix with a blank too many is not found in the server's own text, and the server cannot tell what was heard.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.stage import BLOCK, RATE, TEN, WORD, Stage, WordEngine, words
from voice.core.events import UserCut

CASES = {
    "chinese": list("您好，感谢您致电。请问您哪里不舒服？"),
    "korean": list("안녕하세요. 어디가 아프신가요? 말씀해 주세요."),
    "japanese": [*"今日はどうされましたか。", "か\u3099", *"、", "は\u309a", *"いたい"],
    "emoji": ["👩🏽‍⚕️", " ", *"Hello", " ", "👨‍👩‍👧", " ", *"is", " ", "🇵🇱", "🇩🇪", " ", "👍🏿", *"!", " ", *"Fine."],
    "hebrew": [*"האם", " ", *"כואב", " ", "לָ", "ךְ", " ", *"הראש?"],
    "persian": [*"می\u200cخواهم", " ", *"بدانم", " ", *"چه", " ", *"شد؟"],
    "polish": list("Proszę,  powiedz\n mi -- od kiedy?  "),
    "accents": [*"Un ", "e\u0301", "t", "e\u0301", *" fra", "i\u0302", *"che; oui?"],
}


def spoken(stage: Stage, text: str) -> Stage:
    stage.says(text)
    return stage


class TestPrefix:
    @settings(max_examples=200, deadline=None)
    @given(data=st.data(), case=st.sampled_from(sorted(CASES)), cut=st.floats(0, 8))
    def test_any_packing_and_any_cut_gives_a_verbatim_prefix(self, data: st.DataObject, case: str, cut: float) -> None:
        """H6. Blanks put into Chinese, half an emoji, or an accent without its letter: text that no reader can read
        and no server can find in what it wrote."""
        characters = CASES[case]
        source = "".join(characters)
        places = sorted(data.draw(st.sets(st.integers(1, len(source) - 1), max_size=8)))
        stage = Stage(block=10 * BLOCK)
        for start, end in zip([0, *places], [*places, len(source)], strict=True):
            stage.delta(source[start:end])
        stage.completed(source)
        stage.run(cut)
        stage.feed(UserCut("key"))
        heard = stage.heard["m1"]
        assert stage.closed["m1"].source == source
        assert source.startswith(heard)
        ends = np.cumsum([0, *map(len, characters)])
        if "\u200c" not in source:  # there a word is the smallest unit, whatever counts as a character
            assert len(heard) in ends
        assert not heard or heard == source or not (heard[-1] == "\u200d" or source[len(heard)] == "\u200d")

    def test_chinese_is_counted_character_by_character(self) -> None:
        """H6. A Chinese sentence has no blanks: all or nothing would be heard of it."""
        stage = spoken(Stage(), "您好，感谢您致电。")
        stage.run(1.0)
        stage.spoken_at_once("我头疼")
        assert stage.heard == {"m1": "您好，感"}
        assert stage.sent[0].played_content == "您好，感"

    def test_heard_never_shrinks_when_the_cut_comes_later(self) -> None:
        """A position that jumps back was wrong before or is wrong now."""
        text = "Thanks, I see. How long, roughly, have you had this pain? Tell me."
        lengths = []
        for cut in np.arange(0, 5.0, 0.11):
            stage = spoken(Stage(block=10 * BLOCK), text)
            stage.run(float(cut))
            stage.feed(UserCut("key"))
            lengths.append(len(stage.heard["m1"]))
        assert lengths == sorted(lengths)
        assert lengths[0] == 0
        assert lengths[-1] == len(text)

    def test_a_word_counts_from_its_last_sample_on(self) -> None:
        """A cut exactly at a word's end: one sample less, and the word was not heard to its end."""
        for early, expected in ((1, words(2)), (0, words(3))):
            stage = Stage(tick=False)
            stage.player.render(np.zeros(3 * round(WORD * RATE) - early, np.float32), 0.0)  # nothing queued yet
            before = stage.player.frames
            stage.says(TEN)
            stage.player.render(np.zeros(3 * round(WORD * RATE) - early, np.float32), before / RATE)
            stage.clock.advance(stage.player.frames / RATE)
            stage.spoken_at_once("I have a question")
            assert stage.heard["m1"] == expected

    @pytest.mark.parametrize("block", [16, 160, 3000, 16000])
    def test_words_longer_and_shorter_than_a_block(self, block: int) -> None:
        """The report would depend on the make of the sound card."""
        stage = spoken(Stage(block=block, engine=WordEngine(word=0.05)), " ".join([TEN] * 5))
        for _ in range(2 * RATE // block):
            stage.run(block / RATE)
        played = (2 * RATE // block) * block
        stage.spoken_at_once("I have a question")
        assert len(stage.heard["m1"].split()) == int(played / RATE / 0.05 + 1e-9)
