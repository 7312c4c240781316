from __future__ import annotations

from dataclasses import replace

from voice.server.engine import Engine, Reply, State
from voice.server.flow_file import parse

FLOW = """
[flow]
name = "f"
opening = "what"
goodbye = "Bye."
minimum_age = 18
too_young = "Please fetch a grown-up."
[vars]
symptom = "it"
how_long = "a while"
[[intent]]
id = "stop"
match = ["stop"]
say = [{ kind = "acknowledgement", text = "Okay, I have stopped." }]
next = "paused"
[[intent]]
id = "repeat"
match = ["repeat"]
say = [{ kind = "acknowledgement", text = "Of course." }]
[[intent]]
id = "human"
match = ["human"]
next = "paused"
handoff = "stop_intent_detected"
[[finding]]
id = "rash"
name = "a rash"
match = ["rash"]
[[finding]]
id = "fever"
name = "fever"
match = ["fever"]
asked_in = ["fever"]
[[step]]
id = "what"
next = "long"
messages = [{ kind = "intro", text = "What is it?" }]
retry = [{ kind = "follow_up", text = "Pardon?" }]
[step.branch.throat]
match = ["throat"]
set = { symptom = "a sore throat" }
evidence = [{ id = "throat", name = "Sore throat" }]
say = [{ kind = "acknowledgement", text = "So you have {symptom}." }]
[[step]]
id = "long"
expect = "duration"
save = "how_long"
next = "fever"
messages = [
  { kind = "bridge", text = "Well." },
  { kind = "follow_up", text = "How long have you had {symptom}?" },
]
retry = [{ kind = "follow_up", text = "How many days?" }]
[step.branch.short]
at_most = 7
say = [{ kind = "acknowledgement", text = "Only {how_long}." }]
[step.branch.long]
say = [{ kind = "acknowledgement", text = "As long as {how_long}!" }]
next = "end"
[[step]]
id = "fever"
expect = "yes_no"
next = "end"
messages = [{ kind = "follow_up", text = "Fever?" }]
[step.branch.yes]
evidence = [{ id = "fever", name = "fever", state = "present" }]
[step.branch.no]
evidence = [{ id = "fever", name = "fever", state = "absent" }]
[[step]]
id = "end"
end = "completed"
messages = [{ kind = "follow_up", text = "Rest." }]
[step.recommendation]
triage_level = "self_care"
conditions = [{ id = "c" }]
[[step]]
id = "paused"
expect = "yes_no"
next = "@back"
messages = [{ kind = "follow_up", text = "Shall we go on?" }]
[step.branch.yes]
next = "@back"
[step.branch.no]
next = "end"
[step.branch.unsure]
next = "@same"
"""

ENGINE = Engine(parse(FLOW))


def talk(*answers: str, state: State | None = None) -> Reply:
    reply = ENGINE.opening(state or ENGINE.start())
    for answer in answers:
        reply = ENGINE.answer(reply.state, answer)
    return reply


def texts(reply: Reply) -> list[str]:
    return [line.text for line in reply.lines]


def test_an_answer_is_acknowledged_and_the_next_question_asked_with_its_words() -> None:
    """Hurts everybody who talks to it."""
    reply = talk("My throat.")
    assert texts(reply) == ["So you have a sore throat.", "Well.", "How long have you had a sore throat?"]
    assert [line.kind for line in reply.lines] == ["acknowledgement", "bridge", "follow_up"]


def test_the_answer_decides_where_it_goes() -> None:
    """Hurts whoever has been ill for weeks."""
    assert texts(talk("My throat.", "Three days.")) == ["Only for three days.", "Fever?"]
    assert texts(talk("My throat.", "Three weeks.")) == ["As long as for three weeks!", "Rest."]


def test_what_is_not_understood_is_asked_again_and_then_passed_over() -> None:
    """Hurts whoever the recogniser cannot follow: they must not be asked for ever."""
    assert texts(talk("My throat.", "Dunno.")) == ["How many days?"]
    assert texts(talk("My throat.", "Dunno.", "Dunno.")) == ["Fever?"]
    assert texts(talk("...")) == ["Pardon?"]


def test_a_volunteered_finding_is_read_back_before_the_reply_and_only_once() -> None:
    """Hurts whoever is misheard and never learns what was written down."""
    reply = talk("My throat.", "Three days, and I have a rash but no fever.")
    assert texts(reply) == ["Only for three days.", "I noted that you have a rash and you do not have fever.", "Fever?"]
    assert reply.lines[1].kind == "read_back"
    (widget,) = reply.lines[1].widgets
    assert [group["state"] for group in widget["groups"]] == ["present", "absent"]
    assert texts(ENGINE.answer(reply.state, "No, just the rash.")) == ["Rest."]


def test_a_finding_that_is_volunteered_instead_of_an_answer_is_kept() -> None:
    """Hurts whoever answers another question than the one that was asked."""
    reply = talk("My throat.", "I have a rash.")
    assert texts(reply) == ["I noted that you have a rash.", "How long have you had a sore throat?"]
    assert [(entry.id, entry.origin) for entry in reply.state.evidence] == [
        ("throat", "asked"),
        ("rash", "spontaneous"),
    ]


def test_a_finding_in_the_first_answer_is_initial_and_not_read_back() -> None:
    """The first answer is what was asked for."""
    reply = talk("My throat and a rash.")
    assert "read_back" not in [line.kind for line in reply.lines]
    assert [(entry.id, entry.origin) for entry in reply.state.evidence] == [("rash", "initial"), ("throat", "asked")]


def test_the_answer_to_a_question_about_a_finding_replaces_what_was_volunteered() -> None:
    """Hurts whoever corrects themselves."""
    state = talk("My throat.", "Two days, no fever.", "Yes.").state
    assert [(entry.id, entry.state) for entry in state.evidence] == [("throat", "present"), ("fever", "present")]


def test_what_matches_nothing_is_kept_as_it_was_said() -> None:
    """Hurts whoever has a complaint that nobody thought of."""
    assert talk("A tingle behind my ear.").state.unmatched == ("A tingle behind my ear.",)


def test_stop_pauses_and_yes_goes_back_to_the_question() -> None:
    """Hurts whoever needs a moment."""
    assert texts(talk("My throat.", "Stop.")) == ["Okay, I have stopped.", "Shall we go on?"]
    assert texts(talk("My throat.", "Stop.", "Yes.")) == ["How long have you had a sore throat?"]
    assert texts(talk("My throat.", "Stop.", "Stop.", "Yes.")) == ["How long have you had a sore throat?"]
    assert texts(talk("My throat.", "Stop.", "Maybe.", "Yes.")) == ["How long have you had a sore throat?"]
    assert texts(talk("My throat.", "Stop.", "No.")) == ["Rest."]


def test_repeat_asks_the_question_again_without_what_led_to_it() -> None:
    """Hurts whoever did not hear well."""
    assert texts(talk("My throat.", "Repeat, please.")) == ["Of course.", "How long have you had a sore throat?"]


def test_a_wish_for_a_human_is_handed_on_and_the_conversation_stays_open() -> None:
    """Hurts whoever would rather talk to a nurse."""
    reply = talk("My throat.", "A human, please.")
    assert reply.handoff is None
    reply = talk("My throat.", "Human, please.")
    assert reply.handoff == "stop_intent_detected"
    assert reply.state.ended is None


def test_the_last_words_end_it_with_the_recommendation() -> None:
    """Hurts whoever waits for advice."""
    reply = talk("My throat.", "Three days.", "No.")
    assert texts(reply) == ["Rest."]
    assert reply.state.ended == "completed"
    assert reply.state.recommendation == {"triage_level": "self_care", "conditions": [{"id": "c"}]}


def test_after_the_last_words_one_can_have_them_repeated_or_say_goodbye() -> None:
    """Hurts whoever interrupts the advice."""
    reply = talk("My throat.", "Three days.", "No.", "Thank you.")
    assert (texts(reply), reply.state.ended) == (["Bye."], "completed")
    reply = talk("My throat.", "Three days.", "No.", "Please repeat.")
    assert (texts(reply), reply.state.ended) == (["Of course.", "Rest."], "completed")


def test_a_child_is_sent_to_a_grown_up() -> None:
    """Hurts a child alone at a kiosk."""
    reply = talk("My throat.", state=ENGINE.start(age_years=17.9))
    assert (texts(reply), reply.state.ended) == (["Please fetch a grown-up."], "terminated")
    assert talk("My throat.", state=ENGINE.start(age_years=18)).state.ended is None


def test_the_same_state_and_words_give_the_same_reply() -> None:
    """A turn that was preempted before its question is answered again from the state before it."""
    state = talk("My throat.").state
    kept = replace(state)
    assert ENGINE.answer(state, "Three days.") == ENGINE.answer(state, "Three days.")
    assert state == kept
