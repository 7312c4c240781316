from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.raw import CREATE, SIX, create, error_of, raw, types
from tests.wire.lab import FLOW, flow_server, uuid
from voice.core.server_events import (
    AssessmentChanged,
    ConversationClosed,
    FaultDetail,
    HandoffRequested,
    MessageCompleted,
    MessageDelta,
    MessageWidget,
    Ping,
    ServerFault,
    SettingsChanged,
    TurnEnded,
    UserAccepted,
)
from voice.core.widgets import (
    Condition,
    Form,
    FormItem,
    Group,
    Hints,
    Item,
    ReadBack,
    RecommendationConditions,
    RecommendationTriage,
    SeriousFinding,
    Specialist,
    Summary,
    UnknownWidget,
    Unmatched,
)
from voice.server.events import Received
from voice.server.infermedica import Frames
from voice.timeloop import run_virtual
from voice.wire.assumptions import Assumptions
from voice.wire.infermedica import decode
from voice.wire.spellings import ASSUMED


class TestFirstFrame:
    """Whoever gets the first frame wrong has to be told what is wrong with it."""

    def test_create_answers_with_the_six_fields_and_the_defaults(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, create(channel="voice")) as client:
                created = await client.next()
                assert created["type"] == "conversation.created"
                assert set(created["conversation"]) == SIX
                assert created["conversation"]["settings"] == {
                    "language": "en",
                    "channel": "voice",
                    "ui_widgets_enabled": False,
                    "opening_message_enabled": False,
                    "risk_factors_enabled": True,
                    "geographic_risk_factors_enabled": False,
                    "handoff_policies": [],
                    "max_message_length": 1500,
                }
                assert created["conversation"]["messages"] == []

        run_virtual(main())

    def test_the_input_may_stand_at_top_level(self) -> None:
        """Whether it is nested is one of the open questions; a client of either opinion is served."""

        async def main() -> None:
            flat = {"type": "conversation.create", "settings": {"language": "pl"}, "assessment": {}}
            async with flow_server() as server, raw(server, flat) as client:
                assert (await client.next())["conversation"]["settings"]["language"] == "pl"

        run_virtual(main())

    @pytest.mark.parametrize(
        ("first", "code", "details"),
        [
            ("{", "invalid_payload", []),
            (b"\xff", "invalid_payload", []),
            ("[]", "invalid_payload", []),
            ({"no": "type"}, "invalid_payload", []),
            ({"type": "pong"}, "invalid_message_type", []),
            ({"type": "conversation.resume", "conversation_id": uuid(1)}, "conversation_not_found", []),
            ({"type": "conversation.resume"}, "invalid_payload", ["conversation_id uuid_type"]),
            (
                {"type": "conversation.resume", "conversation_id": "x"},
                "invalid_payload",
                ["conversation_id uuid_parsing"],
            ),
            (
                {"type": "conversation.create", "conversation": {"settings": {}}},
                "invalid_payload",
                ["conversation.assessment missing"],
            ),
            (create(channel="smoke"), "invalid_payload", ["conversation.settings.channel literal_error"]),
            (
                create(handoff_policies=["always"]),
                "invalid_payload",
                ["conversation.settings.handoff_policies.0 literal_error"],
            ),
            (create({"age": {"value": "52"}}), "invalid_payload", ["conversation.assessment.age.value int_type"]),
            (create({"age": {"value": 131}}), "invalid_payload", ["conversation.assessment.age value_error"]),
            (
                create({"age": {"value": 0, "unit": "year"}}),
                "invalid_payload",
                ["conversation.assessment.age value_error"],
            ),
        ],
    )
    def test_a_wrong_one_is_answered_and_the_socket_closed(self, first: Any, code: str, details: list[str]) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, first) as client:
                assert error_of(await client.next()) == (code, details)
                assert await client.closed() == 1008
                assert server.conversations == {}

        run_virtual(main())

    def test_none_at_all_closes_the_socket_after_ten_seconds(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server) as client:
                assert await client.closed() == 1002
                assert 10 <= asyncio.get_running_loop().time() < 11

        run_virtual(main())


class TestLaterFrames:
    """A wrong frame concerns that frame only."""

    @pytest.mark.parametrize(
        ("frame", "code", "details"),
        [
            ("{", "invalid_payload", []),
            (CREATE, "invalid_message_type", []),
            ({"type": "conversation.mood"}, "invalid_message_type", []),
            ({"type": "conversation.user_message.create"}, "invalid_payload", ["user_message model_type"]),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": ""}},
                "invalid_payload",
                ["user_message.content string_too_short"],
            ),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": "x" * 1501}},
                "invalid_payload",
                ["user_message.content string_too_long"],
            ),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": "x", "id": "7"}},
                "invalid_payload",
                ["user_message.id uuid_parsing"],
            ),
            (
                {"type": "conversation.user_message.create", "user_message": {"content": "x", "is_interrupted": "no"}},
                "invalid_payload",
                ["user_message.is_interrupted bool_type"],
            ),
            (
                {"type": "conversation.settings.update", "settings": {"channel": 3}},
                "invalid_payload",
                ["settings.channel literal_error"],
            ),
        ],
    )
    def test_are_answered_and_the_conversation_goes_on(self, frame: Any, code: str, details: list[str]) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.next()
                await client.send(frame)
                assert error_of(await client.next()) == (code, details)
                assert types(await client.turn(1))[-1] == "turn.completed"

        run_virtual(main())

    def test_the_length_is_counted_in_code_points_before_redaction(self) -> None:
        """A byte or UTF-16 count would cut off whoever writes with emoji or in Chinese."""

        async def main() -> None:
            flow = FLOW.replace('opening = "hello"', 'opening = "hello"\nmax_message_length = 20')
            async with flow_server(flow=flow) as server, raw(server, CREATE) as client:
                assert (await client.next())["conversation"]["settings"]["max_message_length"] == 20
                await client.turn(1, "\U0001f912" * 20)
                await client.say(2, "a.long.address@example.org")  # shorter once it is [EMAIL]
                assert error_of(await client.next())[1] == ["user_message.content string_too_long"]

        run_virtual(main())

    def test_settings_keep_what_an_update_leaves_out(self) -> None:
        async def main() -> None:
            async with flow_server() as server, raw(server, create(channel="voice")) as client:
                await client.next()
                await client.send({"type": "conversation.settings.update", "settings": {"language": "pl"}})
                updated = await client.next()
                assert updated["type"] == "conversation.settings.updated"
                assert (updated["settings"]["language"], updated["settings"]["channel"]) == ("pl", "voice")

        run_virtual(main())

    def test_an_error_never_quotes_what_was_said(self) -> None:
        """Hurts the person whose words end in the logs of the client."""

        async def main() -> None:
            async with flow_server() as server, raw(server, CREATE) as client:
                await client.next()
                for body in ({"content": ["private"]}, {"content": "private " * 1000}, "private"):
                    await client.send({"type": "conversation.user_message.create", "user_message": body})
                    assert "private" not in json.dumps(await client.next())

        run_virtual(main())


FRAMES = Frames(Assumptions(ASSUMED))
WORDS = st.text(max_size=20).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))
IDS = st.uuids().map(str)
LABELS = st.lists(WORDS.filter(str.strip), max_size=3).map(tuple)
ITEMS = st.builds(Item, WORDS, st.booleans())
PARENTS = st.builds(Item, WORDS, st.booleans(), st.lists(ITEMS, max_size=2).map(tuple))


def groups_of(items: st.SearchStrategy[Item]) -> st.SearchStrategy[tuple[Group, ...]]:
    states = st.sampled_from(["present", "absent", "unknown"])
    return st.lists(st.builds(Group, states, WORDS, st.lists(items, max_size=2).map(tuple)), max_size=2).map(tuple)


CONDITIONS = st.builds(
    Condition, WORDS, WORDS, WORDS, st.none() | st.floats(0, 1), st.none() | st.dictionaries(WORDS, WORDS, max_size=2)
)
SERIOUS = st.builds(SeriousFinding, WORDS, WORDS, WORDS, LABELS)
WIDGETS = st.one_of(
    st.builds(Hints, LABELS),
    st.builds(Form, st.lists(st.builds(FormItem, WORDS, LABELS), max_size=2).map(tuple)),
    st.builds(RecommendationTriage, WORDS, st.none() | st.builds(Specialist, WORDS, WORDS), WORDS),
    st.builds(
        RecommendationConditions,
        st.lists(CONDITIONS, max_size=2).map(tuple),
        st.booleans(),
        st.lists(SERIOUS, max_size=2).map(tuple),
    ),
    st.builds(
        Summary,
        WORDS,
        groups_of(PARENTS),
        st.none() | st.builds(Unmatched, WORDS, WORDS, st.lists(ITEMS, max_size=2).map(tuple)),
    ),
    st.builds(ReadBack, groups_of(ITEMS)),
    st.builds(UnknownWidget, st.just("hologram"), st.dictionaries(st.sampled_from(["a", "b"]), WORDS)),
)
EVENTS = st.one_of(
    st.builds(MessageDelta, IDS, IDS, WORDS, st.booleans() | st.none(), WORDS),
    st.builds(MessageCompleted, IDS, IDS, WORDS, st.booleans(), WORDS, st.lists(WIDGETS, max_size=2).map(tuple)),
    st.builds(MessageWidget, IDS, IDS, WIDGETS),
    st.builds(TurnEnded, IDS, st.sampled_from(["completed", "interrupted"])),
    st.builds(TurnEnded, IDS, st.just("failed"), st.just("engine_unavailable")),
    st.builds(AssessmentChanged, st.dictionaries(WORDS, WORDS, max_size=3)),
    st.builds(HandoffRequested, WORDS, WORDS),
    st.builds(ConversationClosed, st.booleans()),
    st.builds(SettingsChanged, st.just({"language": "en", "max_message_length": 90}), st.just(90)),
    st.just(ServerFault("overload", "later")),
    st.just(ServerFault("invalid_payload", "1 error", (FaultDetail("user_message.content", "too short", "short"),))),
    st.just(Ping()),
)


@settings(max_examples=150)
@given(EVENTS)
def test_what_the_server_tells_is_what_the_client_understands(event: Any) -> None:
    """The two ends share one table of spellings; this holds them to one meaning."""
    assert decode(FRAMES.frame_of(event)) == (event,)


def test_an_accepted_message_is_told_with_its_turn_and_its_interruption() -> None:
    """Hurts the record of what was heard."""
    event = Received(uuid(1), uuid(2), "Hi", True, "", None, 0.0)
    assert json.loads(FRAMES.frame_of(event))["user_message"]["played_content"] == ""
    assert decode(FRAMES.frame_of(event)) == (UserAccepted(uuid(1), uuid(2), "Hi", True, ""),)
