"""What is said while it cannot be sent: nothing is lost, nothing is sent twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.stage import TEN, Stage
from voice.core.events import FloorChanged, LinkDown, Notice, Shutdown, Typed, UserCut
from voice.core.evidence import Partial, SpeechPaused, SpeechStarted, Utterance
from voice.core.expectation import FREE, Expectation
from voice.core.holding import Holding, Said, merged
from voice.core.server_events import ConversationClosed, HistoryRow, Snapshot

UP = Snapshot("c1", resumed=True, completed=False, terminated=False, max_message_length=1500, rows=())
DOWN = LinkDown("reset", fatal=False)


def said(text: str, name: str = "x", expectation: Expectation = FREE) -> Said:
    return Said(Utterance(name, text, 1.0, 2.0), expectation)


class TestHolding:
    def test_several_become_one_in_order(self) -> None:
        """Two frames: the second would end the turn that answers the first."""
        holding = Holding()
        holding.hold(said("my head hurts ", "x1"), 3.0)
        holding.hold(said("and my neck", "x2"), 5.0)
        whole = holding.take()
        assert (whole.text, whole.utterance.utterance_id, whole.held(9.0)) == ("my head hurts and my neck", "x1", 6.0)
        assert not holding

    def test_it_waits_since_it_was_first_held(self) -> None:
        """How long people wait is what an operator looks at; a second reason to wait must not hide the first."""
        holding = Holding()
        holding.hold(said("yes"), 3.0)
        holding.hold(holding.take(), 8.0)
        assert holding.take().held(9.0) == 6.0

    def test_words_to_two_questions_answer_neither_alone(self) -> None:
        """The second of one list is not the second of the other."""
        asked = Expectation("choices", ("Left", "Right"))
        assert merged([said("the second one", "x1", asked), said("please", "x2", asked)]).expectation == asked
        assert merged([said("the second one", "x1", asked), said("please", "x2")]).expectation == FREE


class TestWithoutALink:
    def test_it_is_held_until_the_link_is_back(self) -> None:
        """Two answers would meet the server as two turns, of which the second ends the first."""
        stage = Stage()
        stage.accepted()
        stage.feed(DOWN)
        stage.user("my head hurts", name="x1")
        stage.run(1.0)
        stage.user("and my neck", name="x2")
        assert stage.sent == []
        stage.feed(UP)
        assert [(said.content, said.utterance_id) for said in stage.sent] == [("my head hurts and my neck", "x1")]
        assert stage.sent[0].held > 1.0
        stage.run(5.0)
        stage.feed(DOWN, UP)
        assert len(stage.sent) == 1

    def test_what_was_held_before_the_link_broke_goes_out_after_it_is_back(self) -> None:
        """Broken links come in the middle of everything."""
        stage = Stage()
        stage.accepted()
        stage.says("Please sit down now.", kind="acknowledgement")
        stage.user("my head hurts", voiced=0.3)
        stage.feed(DOWN)
        stage.run(3.0)
        assert stage.sent == []
        stage.feed(UP)
        assert [said.content for said in stage.sent] == ["my head hurts"]

    def test_what_was_cut_is_told_with_it(self) -> None:
        """The server would believe that its question was heard to the end."""
        stage = Stage()
        stage.accepted()
        stage.says(TEN)
        stage.run(1.0)
        stage.feed(DOWN)
        stage.user("my head hurts", voiced=0.3)
        assert stage.cuts == {"m1": "voice"}
        stage.feed(UP)
        [message] = stage.sent
        assert (message.is_interrupted, message.played_content) == (True, stage.heard["m1"])

    def test_a_voice_that_begins_meanwhile_is_cut_and_the_words_go_together(self) -> None:
        """The cut would wait for ever for words that had gone to the others, and the program be silent."""
        stage = Stage()
        stage.accepted()
        stage.feed(DOWN)
        stage.user("my head hurts")
        stage.says(TEN)
        stage.run(1.0)
        stage.user("and my neck", name="x2")
        assert stage.cuts == {"m1": "voice"}
        stage.feed(UP)
        assert [said.content for said in stage.sent] == ["my head hurts and my neck"]

    def test_it_does_not_pass_a_missed_message_that_may_not_be_interrupted(self) -> None:
        """The rule for held speech is the same before and after."""
        stage = Stage()
        stage.accepted()
        stage.feed(DOWN)
        stage.user("my head hurts")
        row = HistoryRow("assistant", "m2", "t9", "Please sit down now.", "acknowledgement")
        stage.feed(replace(UP, rows=(row,)))
        assert stage.sent == []
        stage.run(3.0)
        assert [said.content for said in stage.sent] == ["my head hurts"]
        assert stage.heard == {"m2": "Please sit down now."}

    def test_a_shutdown_does_not_wait_for_it(self) -> None:
        """The connection gets the words, and as long as it takes to end in order."""
        stage = Stage()
        stage.feed(DOWN)
        stage.user("my head hurts")
        stage.feed(Shutdown())
        assert [said.content for said in stage.sent] == ["my head hurts"]
        assert stage.ended == ["shutdown"]

    @pytest.mark.parametrize(
        ("end", "code"),
        [(LinkDown("token refused", fatal=True), "message.unsent"), (ConversationClosed(True), "conversation.closed")],
    )
    def test_what_can_never_be_sent_is_told(self, end: LinkDown | ConversationClosed, code: str) -> None:
        """The conversation would wait for ever, or nobody learn that an answer is missing."""
        stage = Stage()
        stage.accepted()
        stage.feed(DOWN)
        stage.user("my head hurts")
        stage.feed(end)
        assert stage.sent == []
        assert stage.notices.count(code) == 1


ACTIONS = st.one_of(
    st.tuples(st.just("says"), st.sampled_from(["follow_up", "acknowledgement", "filler", "intro"])),
    st.tuples(st.just("streams"), st.sampled_from(["follow_up", "acknowledgement"])),
    st.tuples(st.just("run"), st.sampled_from([0.1, 0.6, 2.0])),
    st.tuples(st.just("speaks"), st.sampled_from([0.3, 0.6])),
    st.tuples(st.just("speaks at once"), st.just(0.6)),
    st.tuples(st.just("begins"), st.sampled_from([0.2, 0.6])),
    st.tuples(st.just("ends"), st.none()),
    st.tuples(st.just("types"), st.none()),
    st.tuples(st.just("touches"), st.none()),
    st.tuples(st.just("nods"), st.none()),
    st.tuples(st.just("down"), st.none()),
    st.tuples(st.just("up"), st.none()),
    st.tuples(st.just("other device"), st.none()),
)


class Story:
    """Plays actions and keeps the words that were said, each in one utterance only."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.words: dict[str, str] = {}
        self._open = ""
        self._messages = 0

    def _name(self) -> tuple[str, str]:
        number = len(self.words)
        name, word = f"x{number}", f"knee{'abcdefghijklmnopqrstuvwxyz'[number % 26]}{number}"
        self.words[name] = word
        return name, f"my {word} hurts"

    def play(self, action: str, value: object) -> None:
        stage = self.stage
        if action in ("speaks", "speaks at once", "begins", "nods", "types") and self._open:
            self.play("ends", None)  # the ears follow one voice at a time
        match action:
            case "says":
                self._messages += 1
                stage.says("Please sit down now.", f"m{self._messages}", f"t{self._messages // 2}", str(value))
            case "streams":
                self._messages += 1
                stage.delta("Please sit down now. And ", f"m{self._messages}", f"t{self._messages // 2}", str(value))
            case "run":
                stage.run(float(str(value)))
            case "speaks":
                name, text = self._name()
                stage.user(text, name, float(str(value)))
            case "speaks at once":
                name, text = self._name()
                stage.spoken_at_once(text, name)
            case "begins":
                self._open, text = self._name()
                stage.feed(SpeechStarted(self._open, stage.now))
                stage.run(float(str(value)))
                stage.feed(Partial(self._open, text, 0.5), Partial(self._open, text, 0.6))
            case "ends" if self._open:
                stage.feed(SpeechPaused(self._open, stage.now))
                stage.utterance_ends(f"my {self.words[self._open]} hurts", self._open)
                self._open = ""
            case "types":
                name, text = self._name()
                stage.feed(Typed(text))
            case "touches":
                stage.feed(UserCut("touch"))
            case "nods":
                stage.user("mm hm", f"nod{stage.now}", 0.3)
            case "down":
                stage.feed(DOWN)
            case "up":
                stage.feed(UP)
            case "other device":
                stage.turn_ended(f"t{self._messages // 2}", "interrupted")

    def finish(self) -> None:
        self.play("ends", None)
        self.stage.feed(UP)
        self.stage.run(20.0)


@settings(max_examples=80, deadline=None)
@given(st.lists(ACTIONS, max_size=14))
def test_every_utterance_is_in_exactly_one_message(actions: list[tuple[str, object]]) -> None:
    """Whatever the order of things, an answer counts once: lost, it is asked for again; twice, it answers the next
    question, too."""
    story = Story()
    for action, value in actions:
        story.play(action, value)
    story.finish()
    stage = story.stage
    ignored = {change.utterance_id for change in stage.all(FloorChanged) if change.decision == "ignore"}
    for name, word in story.words.items():
        carriers = [message for message in stage.sent if word in message.content]
        assert len(carriers) == (0 if name in ignored else 1), (name, stage.decisions)


@settings(max_examples=40, deadline=None)
@given(st.lists(ACTIONS, max_size=10), st.sampled_from(["shutdown", "lost", "closed"]))
def test_at_the_end_it_is_sent_or_told(actions: list[tuple[str, object]], end: str) -> None:
    """Whoever reads the report of a broken conversation sees which answers the server never had."""
    story = Story()
    for action, value in actions:
        story.play(action, value)
    story.play("ends", None)
    stage = story.stage
    stage.feed({"shutdown": Shutdown(), "lost": LinkDown("refused", True), "closed": ConversationClosed(False)}[end])
    stage.run(30.0)
    ignored = {change.utterance_id for change in stage.all(FloorChanged) if change.decision == "ignore"}
    told = [notice for notice in stage.all(Notice) if notice.code in ("message.unsent", "conversation.closed")]
    missing = [
        name
        for name, word in story.words.items()
        if name not in ignored and not any(word in message.content for message in stage.sent)
    ]
    assert not missing or told
    assert not (missing and end == "shutdown")
