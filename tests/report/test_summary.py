"""The summary is read by programs that nobody here knows: its form and its figures are a promise."""

import json
import stat

import pytest

from tests.report.story import Story, triage
from voice.core import events as ev
from voice.report.record import Record
from voice.report.summary import summary, write_summary

FORM = {
    "version": int, "backend": str, "flow": str, "device": str, "engines": dict, "messages": list, "utterances": list,
    "latency_ms": dict, "reconnects": int, "errors": list, "notices": list, "messages_left_out": int,
}  # fmt: skip
MESSAGE = {
    "id": str, "turn_id": str, "kind": str, "can_interrupt": bool, "source": str, "heard": str,
    "cut": (str, type(None)), "heard_is_estimate": bool, "t_start": (float, type(None)), "t_end": float,
}  # fmt: skip
UTTERANCE = {
    "id": str, "recognised": str, "sent": (str, type(None)), "is_interrupted": bool,
    "played_content": (str, type(None)), "held_ms": int, "meant": (str, type(None)), "t_start": float, "t_end": float,
    "input": str, "not_sent_because": (str, type(None)),
}  # fmt: skip
INCIDENT = {"t": float, "code": str, "text": str}
CAUSES = {None, "voice", "stop_phrase", "key", "touch", "server", "device", "shutdown"}


def of(story: Story, *meant: tuple[str, float, float]) -> dict:
    record = Record()
    story.tell(record)
    for text, start, end in meant:
        record.meant(text, story.t0 + start, story.t0 + end)
    return summary(record, backend="infermedica", flow="triage", device="room", engines={"voice": "espeak"})


def has_form(value: dict, form: dict) -> None:
    assert set(value) == set(form)
    for name, kind in form.items():
        assert isinstance(value[name], kind), name


class TestForm:
    def test_every_member_is_there_with_its_type(self):
        """A reader of version 1 would break."""
        story = triage()
        story.at(3.0, ev.Notice("link.down", "x"), ev.Notice("server.internal", "x"))
        made = json.loads(json.dumps(of(story, ("Hm.", 22.0, 22.3))))
        has_form(made, FORM)
        for name, form in (("messages", MESSAGE), ("utterances", UTTERANCE), ("errors", INCIDENT)):
            assert made[name]
            for entry in made[name]:
                has_form(entry, form)
        assert made["version"] == 1
        assert {message["cut"] for message in made["messages"]} <= CAUSES

    def test_messages_and_utterances_are_in_time_order(self):
        """A transcript read from top to bottom would jump."""
        made = of(triage())
        times = [message["t_end"] if message["t_start"] is None else message["t_start"] for message in made["messages"]]
        assert times == sorted(times)
        assert [u["t_start"] for u in made["utterances"]] == sorted(u["t_start"] for u in made["utterances"])

    def test_of_nothing_is_whole_and_empty(self):
        """A conversation that failed at once needs its report most."""
        made = of(Story())
        has_form(made, FORM)
        assert (made["messages"], made["utterances"], made["latency_ms"]) == ([], [], {})


class TestMessages:
    def test_a_cut_message_has_its_heard_prefix_and_cause(self):
        """The one fact the whole program is for."""
        made = next(m for m in of(triage())["messages"] if m["id"] == "m3")
        assert made == {
            "id": "m3",
            "turn_id": "t2",
            "kind": "follow_up",
            "can_interrupt": True,
            "source": "Do you also have a fever, or have you had chills during the last two days?",
            "heard": "Do you also have a fever, or have you",
            "cut": "voice",
            "heard_is_estimate": False,
            "t_start": 8.7,
            "t_end": 11.4,
        }

    def test_a_message_that_was_never_spoken_is_there_with_nothing_heard(self):
        """H12: the question would seem never to have been asked by the server either."""
        made = next(m for m in of(triage())["messages"] if m["id"] == "m4")
        assert (made["heard"], made["cut"], made["t_start"], made["t_end"]) == ("", "voice", None, 11.4)

    def test_an_estimate_says_so(self):
        """H5: a guess would be taken for a measurement."""
        story = Story()
        story.message(1.0, "m", "One two three", heard=1, cut="key", estimate=True)
        assert of(story)["messages"][0]["heard_is_estimate"] is True

    @pytest.mark.parametrize("text", ["您好，感谢您致电。", "안녕하세요 반갑습니다", "<script>\x1b[2J[bold]"])
    def test_source_and_heard_are_as_they_came(self, text):
        """H6: a text changed for display could not be matched with the server's."""
        story = Story()
        story.message(1.0, "m", text)
        made = of(story)["messages"][0]
        assert (made["source"], made["heard"]) == (text, text)


class TestUtterances:
    def entry(self, name: str, *meant: tuple[str, float, float]) -> dict:
        return next(u for u in of(triage(), *meant)["utterances"] if u["id"] == name)

    def test_what_was_sent_says_what_it_interrupted(self):
        """The server's view and the report's would differ."""
        made = self.entry("u3")
        assert (made["sent"], made["is_interrupted"], made["played_content"]) == (
            "No fever, but my neck is stiff.",
            True,
            "Do you also have a fever, or have you",
        )

    def test_a_cough_is_there_unsent_and_with_the_reason(self):
        """F7: what the program decided against the user must be open to question."""
        made = self.entry("u2", ("(cough)", 9.28, 9.6))
        assert (made["recognised"], made["sent"], made["meant"]) == ("", None, "(cough)")
        assert made["not_sent_because"] == "no words were recognised"

    def test_the_floors_reason_is_given_where_there_were_words(self):
        """ "uh-huh" that was passed over on purpose would look like a loss."""
        story = Story()
        story.utterance(1.0, "u", "uh huh", decisions=((2.6, "ignore", "backchannel"),))
        assert of(story)["utterances"][0]["not_sent_because"] == "backchannel"

    def test_an_answer_that_was_held_says_for_how_long(self):
        """A late answer would be blamed on the recogniser."""
        assert self.entry("u4")["held_ms"] == 900

    def test_two_held_utterances_go_out_as_one_and_both_say_so(self):
        """The second half of an answer would look lost."""
        story = Story()
        story.utterance(1.0, "a", "My head hurts", sent=6.0, decisions=((2.6, "hold", "x"),), held=3.4)
        story.utterance(3.0, "b", "since Monday", decisions=((4.6, "hold", "x"),))
        made = of(story)["utterances"]
        assert [u["not_sent_because"] for u in made] == [None, "sent together with a"]

    def test_held_until_the_end_is_not_silently_lost(self):
        """An answer that never left is what an operator looks for."""
        story = Story()
        story.utterance(1.0, "a", "My head hurts", decisions=((2.6, "hold", "x"),))
        assert "held" in of(story)["utterances"][0]["not_sent_because"]

    def test_words_after_the_end_carry_the_notice(self):
        """Somebody who spoke to a closed conversation was told nothing by a blank."""
        story = Story()
        story.utterance(1.0, "a", "My head hurts", decisions=((2.69, "take", "nothing plays"),))
        story.at(2.69, ev.Notice("conversation.closed", "the conversation is over"))
        assert of(story)["utterances"][0]["not_sent_because"] == "the conversation is over"

    def test_meant_goes_to_the_utterance_it_overlaps_most(self):
        """A recogniser would be judged by the words of another moment."""
        meant = (("long before", 1.0, 2.0), ("first", 4.0, 5.2), ("headache", 5.1, 6.6))
        assert self.entry("u1", *meant)["meant"] == "headache"

    def test_what_nobody_noticed_is_in_the_account(self):
        """A person the program is deaf to would not even be in its statistics."""
        made = self.entry("unnoticed-1", ("Help me!", 20.0, 21.0))
        assert (made["meant"], made["sent"], made["not_sent_because"]) == ("Help me!", None, "no voice was noticed")

    def test_a_typed_message_is_there(self):
        """The server's answer to it would come from nowhere."""
        made = self.entry("send-typed")
        assert (made["input"], made["sent"], made["recognised"]) == ("typed", "Yes, that is right.", "")


class TestLatency:
    def test_runs_from_the_onset_to_what_left_the_loudspeaker(self):
        """Figures from decisions instead of sound would flatter."""
        made = of(triage())["latency_ms"]
        assert made["onset_to_duck"] == {"p50": 200.0, "p95": 300.0, "n": 2}
        assert made["onset_to_cut"] == {"p50": 700.0, "p95": 700.0, "n": 1}

    def test_starts_at_the_simulated_users_own_onset(self):
        """The detector's delay would be left out of the figure, and the user feels it."""
        made = of(triage(), ("No fever, but my neck is stiff.", 10.6, 12.6))["latency_ms"]
        assert made["onset_to_cut"] == {"p50": 800.0, "p95": 800.0, "n": 1}

    def test_leaves_out_what_was_held_and_what_waited_its_turn(self):
        """Courtesy would be published as slowness."""
        made = of(triage())["latency_ms"]
        assert made["end_of_speech_to_sent"] == {"p50": 700.0, "p95": 800.0, "n": 2}
        assert made["delta_to_first_sample"]["n"] == 5

    def test_is_absent_where_nothing_was_measured(self):
        """A zero would be taken for a fast machine."""
        story = Story()
        story.message(1.0, "m", "Hello.", arrives=0.9)
        assert of(story)["latency_ms"] == {"delta_to_first_sample": {"p50": 100.0, "p95": 100.0, "n": 1}}

    def test_a_voice_that_began_while_the_user_spoke_does_not_count(self):
        """The time the user had already been speaking would count as our delay."""
        story = Story()
        story.message(4.0, "m", "One two three four", ducked=((4.0, 6.0),))
        story.utterance(1.0, "u", "So as I said", lasts=5.0, decisions=((4.0, "duck", "onset"),))
        assert "onset_to_duck" not in of(story)["latency_ms"]


class TestWrite:
    def test_is_json_that_only_its_owner_can_read(self, tmp_path):
        """What a patient said would be open to everyone on the machine."""
        path = tmp_path / "summary.json"
        write_summary(path, of(triage()))
        assert json.loads(path.read_text())["flow"] == "triage"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [p.name for p in tmp_path.iterdir()] == ["summary.json"]

    def test_half_a_character_does_not_stop_it(self, tmp_path):
        """One broken text of a server would cost the whole report."""
        story = Story()
        story.message(1.0, "m", "broken \ud800")
        write_summary(tmp_path / "summary.json", of(story))
        assert json.loads((tmp_path / "summary.json").read_text())["messages"][0]["source"] == "broken \ud800"
