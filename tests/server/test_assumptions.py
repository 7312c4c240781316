"""An integrator who learns that the vendor's server behaves the other way turns a switch and sees their client bear it.
A switch that changes nothing would tell them that all is well."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tests.server.raw import CREATE, Raw, create, error_of, raw, types
from tests.wire.lab import flow_server, uuid
from voice.server.rules import ServerRules
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual
from voice.wire.assumptions import AssumptionError
from voice.wire.spellings import ASSUMED

FLOW = """
[flow]
name = "switches"
opening = "hello"
other_kinds = ["advice"]
[pace]
chars = 8
seconds = 0.1
thinking = 0.5
[[finding]]
id = "rash"
name = "a rash"
match = ["rash"]
[[step]]
id = "hello"
next = "end"
messages = [{ kind = "intro", text = "Hello. What is it?" }]
[step.branch.cough]
match = ["cough"]
evidence = [{ id = "e1", name = "Cough", state = "present" }]
next = "more"
[step.branch.broken]
match = ["broken"]
next = "broken"
[[step]]
id = "more"
next = "end"
messages = [{ kind = "advice", text = "Rest." }, { kind = "follow_up", text = "What else, please?" }]
[[step]]
id = "broken"
next = "end"
messages = [{ kind = "follow_up", text = "This fails." }]
faults = { fail = true }
[[step]]
id = "end"
end = "completed"
messages = [{ kind = "follow_up", text = "Goodbye." }]
[step.recommendation]
triage_level = "consultation"
specialist = { id = "s", name = "Doctor" }
channel = "personal_visit"
has_emergency_findings = false
serious_findings = []
conditions = []
"""

Probe = Callable[[FlowServer], Awaitable[Any]]


def talking(probe: Callable[[Raw], Awaitable[Any]], first: Any = CREATE) -> Probe:
    """What a client sees that has created a conversation."""

    async def see(server: FlowServer) -> Any:
        async with raw(server, first) as client:
            await client.next()
            return await probe(client)

    return see


def answered(first: Any) -> Probe:
    """The answer to a first frame."""

    async def see(server: FlowServer) -> Any:
        async with raw(server, first) as client:
            return await client.next()

    return see


def sending(frame: Any) -> Probe:
    """The answer to a later frame."""

    async def see(client: Raw) -> Any:
        await client.send(frame)
        return await client.next()

    return talking(see)


def turn(kind: str, *contents: str) -> Probe:
    """The first frame of this kind in the turn of the last of `contents`."""

    async def see(client: Raw) -> Any:
        frames: list[Any] = []
        for number, content in enumerate(contents):
            start = len(client.frames)
            await client.say(number, content)
            while not (await client.next())["type"].startswith("conversation.turn."):
                pass
            frames = client.frames[start:]
        return next(frame for frame in frames if frame["type"] == f"conversation.{kind}")

    return talking(see)


def keys(probe: Probe, *path: str) -> Probe:
    """The keys of what stands at `path` of a frame (of the first entry of a list)."""

    async def see(server: FlowServer) -> Any:
        found = await probe(server)
        for key in path:
            found = found[key]
        return set(found[0] if isinstance(found, list) else found)

    return see


def places(probe: Probe) -> Probe:
    """The locations in the details of an error."""

    async def see(server: FlowServer) -> Any:
        return [found.partition(" ")[0] for found in error_of(await probe(server))[1]]

    return see


def kinds(*contents: str) -> Probe:
    """(kind, can_interrupt) of the messages of the last turn."""

    async def see(client: Raw) -> Any:
        frames: list[Any] = []
        for number, content in enumerate(contents):
            frames = await client.turn(number, content)
        messages = [frame["assistant_message"] for frame in frames if frame["type"].endswith("message.completed")]
        return [(message["kind"], message["can_interrupt"]) for message in messages]

    return talking(see)


async def opening(server: FlowServer) -> Any:
    async with raw(server, create(opening_message_enabled=True)) as client:
        rows = (await client.next())["conversation"]["messages"]
        await client.say(1)
        await client.until("conversation.user_message.created")
        return len(rows), types(client.frames)[1:-1]


async def whole_opening(server: FlowServer) -> Any:
    async with raw(server, create(opening_message_enabled=True)) as client:
        await client.until("conversation.assistant_message.completed")
        await asyncio.sleep(5)
        await client.say(1)
        await client.until("conversation.user_message.created")
        await client.until("conversation.turn.completed")
        return [kind for kind in types(client.frames) if kind.startswith("turn.")]


async def opening_can_be_cut(server: FlowServer) -> Any:
    async with raw(server, create(opening_message_enabled=True)) as client:
        message = (await client.until("conversation.assistant_message.completed"))["assistant_message"]
        return message["kind"], message["can_interrupt"]


async def preempted(client: Raw) -> Any:
    await client.say(1)
    await client.until("conversation.assistant_message.delta")
    return [
        kind for kind in types(await client.turn(2, "A cold.")) if kind in ("turn.interrupted", "user_message.created")
    ]


async def history_of_preempted(server: FlowServer) -> Any:
    async with raw(server, CREATE) as client:
        known = (await client.next())["conversation"]["id"]
        await client.say(1)
        await client.until("conversation.assistant_message.delta")
        await client.turn(2, "A cold.")
    return [row.text for row in server.conversations[known].rows if row.role == "assistant"]


async def resent(server: FlowServer) -> Any:
    async with raw(server, CREATE) as client:
        known = (await client.next())["conversation"]["id"]
        await client.turn(1)
        await client.say(1)
        await client.until("conversation.user_message.created")
    return len(server.conversations[known].received)


async def close_of_a_bad_handshake(server: FlowServer) -> Any:
    async with raw(server, "{") as client:
        return await client.closed()


async def close_without_pong(server: FlowServer) -> Any:
    async with raw(server, CREATE) as client:
        return await client.closed()


async def close_on_stop(server: FlowServer) -> Any:
    async with raw(server, CREATE) as client:
        await client.next()
        await server.stop()
        return await client.closed()


async def refusal(server: FlowServer) -> Any:
    try:
        async with raw(server) as client:
            return await client.closed()
    except InvalidStatus as refused:
        return refused.response.status_code


BAD = {"settings": {"channel": "smoke"}, "assessment": {}}
LAST = ("A cough.", "No.")

ROWS: dict[str, tuple[Probe, Any, Any]] = {
    "type.user_message": (
        keys(sending({"type": "conversation.user_message", "user_message": {"content": "x"}})),
        {"type", "error"},
        {"type", "user_message"},
    ),
    "type.settings_update": (
        keys(sending({"type": "settings.update", "settings": {}})),
        {"type", "error"},
        {"type", "settings"},
    ),
    "path.create_input": (
        places(answered({"type": "conversation.create", "conversation": BAD, **BAD})),
        ["conversation.settings.channel"],
        ["settings.channel"],
    ),
    "path.resume_id": (
        places(answered({"type": "conversation.resume", "conversation_id": "x", "conversation": {"id": "x"}})),
        ["conversation_id"],
        ["conversation.id"],
    ),
    "path.settings_input": (
        places(
            sending(
                {
                    "type": "conversation.settings.update",
                    "settings": {"channel": 3},
                    "conversation": {"settings": {"channel": 3}},
                }
            )
        ),
        ["settings.channel"],
        ["conversation.settings.channel"],
    ),
    "path.snapshot": (
        keys(answered(CREATE)),
        {"type", "conversation"},
        {"type", "id", "status", "settings", "assessment", "messages", "is_terminated"},
    ),
    "path.settings": (
        keys(sending({"type": "conversation.settings.update", "settings": {}})),
        {"type", "settings"},
        {"type", "conversation"},
    ),
    "path.completed_message": (
        keys(turn("assistant_message.completed", "A cough.")),
        {"type", "assistant_message"},
        {"type", "message"},
    ),
    "path.assessment": (
        keys(turn("assessment.updated", "A cough.")),
        {"type", "assessment"},
        {"type", "conversation"},
    ),
    "path.turn_id": (keys(turn("turn.completed", "A cough.")), {"type", "turn_id"}, {"type", "turn"}),
    "path.failure": (
        keys(turn("turn.failed", "It is broken.")),
        {"type", "turn_id", "error"},
        {"type", "turn_id", "turn"},
    ),
    "path.error": (keys(sending("{")), {"type", "error"}, {"type", "code", "message"}),
    "path.user_turn_id": (
        keys(turn("user_message.created", "A cough."), "user_message"),
        {"id", "content", "is_interrupted", "played_content", "turn_id"},
        {"id", "content", "is_interrupted", "played_content", "turn"},
    ),
    "can_interrupt.intro": (opening_can_be_cut, ("intro", True), ("intro", False)),
    "can_interrupt.follow_up": (kinds(*LAST), [("follow_up", True)], [("follow_up", False)]),
    "can_interrupt.read_back": (
        kinds("A cough.", "A rash."),
        [("read_back", True), ("follow_up", True)],
        [("read_back", False), ("follow_up", True)],
    ),
    "can_interrupt.*": (
        kinds("A cough."),
        [("advice", True), ("follow_up", True)],
        [("advice", False), ("follow_up", True)],
    ),
    "opening.arrives": (opening, (0, ["turn.interrupted"]), (1, [])),
    "opening.turn_event": (whole_opening, ["turn.completed", "turn.completed"], ["turn.completed"]),
    "preempt.order": (
        talking(preempted),
        ["turn.interrupted", "user_message.created"],
        ["user_message.created", "turn.interrupted"],
    ),
    "preempt.history": (history_of_preempted, ["Goodbye."], ["Rest.", "Goodbye."]),
    "resend.same_id": (resent, 1, 2),
    "close.handshake_refused": (close_of_a_bad_handshake, 1008, 1002),
    "close.no_pong": (close_without_pong, 1011, 1008),
    "close.going_away": (close_on_stop, 1001, 1012),
    "refusal.style": (refusal, 1008, 403),
    "refusal.http_status": (refusal, 403, 401),
    "location.prefix": (
        places(sending({"type": "conversation.user_message.create", "user_message": {"content": ""}})),
        ["user_message.content"],
        ["body.user_message.content"],
    ),
    **{
        f"evidence.{key}": (
            keys(turn("assessment.updated", "A cough."), "assessment", "evidence"),
            {"id", "name", "common_name", "state", "origin"},
            others | {"state", "origin"},
        )
        for key, others in {
            "id": {"concept_id", "name", "common_name"},
            "name": {"id", "label", "common_name"},
            "common_name": {"id", "name"},
        }.items()
    },
}
RECOMMENDATION = {"triage_level", "specialist", "channel", "has_emergency_findings", "serious_findings", "conditions"}
ROWS |= {
    name: (
        keys(turn("assessment.updated", *LAST), "assessment", "recommendation"),
        RECOMMENDATION,
        RECOMMENDATION - {name.partition(".")[2]} | {row.alternative},
    )
    for name, row in ASSUMED.items()
    if name.startswith("recommendation.")
}

NEEDS = {"refusal.http_status": {"refusal.style": "http"}}
"""What else has to be so for a row to matter."""


def test_every_switch_of_the_server_has_a_test() -> None:
    assert set(ROWS) == {name for name, row in ASSUMED.items() if not row.of_client}


@pytest.mark.parametrize("name", ROWS)
def test_the_two_choices_differ_on_the_wire(name: str) -> None:
    probe, first, second = ROWS[name]

    async def seen(value: str) -> Any:
        token = "right" if name.startswith("refusal.") else None
        assume = {name: value} | NEEDS.get(name, {})
        async with flow_server(flow=FLOW, token=token, rules=ServerRules(), assume=assume) as server:
            return await probe(server)

    assert run_virtual(seen(ASSUMED[name].value)) == first
    assert run_virtual(seen(ASSUMED[name].alternative)) == second


@pytest.mark.parametrize(
    ("assume", "says"),
    [
        ({"opening": "snapshot"}, 'no assumption "opening"; voice serve --assumptions lists them'),
        ({"close.no_pong": "1000"}, 'close.no_pong: "1000" is neither choice; use "1011" or "1008"'),
        ({"played_content.scope": "message"}, "played_content.scope: only a client does the one or the other"),
    ],
)
def test_a_wrong_switch_is_told_in_one_line(assume: dict[str, str], says: str) -> None:
    with pytest.raises(AssumptionError) as error:
        run_virtual(_started(assume))
    assert says in str(error.value)
    assert "\n" not in str(error.value)


async def _started(assume: dict[str, str]) -> None:
    async with flow_server(flow=FLOW, assume=assume):
        pass


@pytest.mark.parametrize("form", ["events", "snapshot", "both"])
def test_the_opening_comes_in_each_of_its_three_forms(form: str) -> None:
    """Hurts whoever is greeted twice, or never."""
    flow = FLOW.replace('opening = "hello"', f'opening = "hello"\nopening_arrives = "{form}"')

    async def main() -> None:
        async with (
            flow_server(flow=flow) as server,
            raw(server, create(opening_message_enabled=True)) as client,
        ):
            created = await client.next()
            rows = [row["id"] for row in created["conversation"]["messages"]]
            await asyncio.sleep(5)
            await client.say(1)
            await client.until("conversation.user_message.created")
            told = [
                frame["assistant_message"]["id"]
                for frame in client.frames
                if frame["type"].endswith("message.completed") and frame["assistant_message"]["kind"] == "intro"
            ]
            assert (len(rows), len(told)) == {"events": (0, 1), "snapshot": (1, 0), "both": (1, 1)}[form]
            if form == "both":
                assert rows == told
            (conversation,) = server.conversations.values()
            assert [row.kind for row in conversation.rows].count("intro") == 1
            assert uuid(1) in {row.id for row in conversation.rows}

    run_virtual(main())
