"""Google CES: what each frame means, and that every documented one is read and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire import judge
from voice.core.client_inputs import Bytes, Keys, NamedEvent, Picture, ToolResponse, ToolResponses, Variables
from voice.core.diagnostics import ToolCall, TraceMessage, TraceSpan
from voice.core.server_events import (
    AudioChunk,
    BadFrame,
    Citations,
    ConversationClosed,
    Diagnostics,
    GoingAway,
    Ignored,
    Interruption,
    MessageCompleted,
    MessageDelta,
    Payload,
    SearchSuggestions,
    ServerEvent,
    Source,
    ToolCalls,
    Transcribed,
    TurnEnded,
)
from voice.server import ces_frames as served
from voice.wire import ces_frames as sent
from voice.wire import ces_messages as parts
from voice.wire import spellings
from voice.wire.ces import (
    MAX_FRAME,
    MAX_OPEN_TURNS,
    MAX_TURN_TEXT,
    OUTPUT_MEMBERS,
    CesCodec,
    StreamReply,
    without_header,
)
from voice.wire.ces_spellings import ASSUMED
from voice.wire.json_frame import BadFrameError

ROWS = [json.loads(line) for line in Path(__file__).with_name("documented_ces.jsonl").read_text("utf-8").splitlines()]
DOCUMENTED: dict[str, dict[str, Any]] = {row["name"]: row for row in ROWS}
"""Every frame example of the protocol's reference, and one of each form that it describes in words only."""

APP = "projects/p/locations/us/apps/demo"
MAP_CALL = ToolCall("tc-81", f"{APP}/tools/open_map", "", "", "open_map", {"lat": 48.85, "lng": 2.35})
CRM_CALL = ToolCall("tc-82", "", f"{APP}/toolsets/crm", "find", "find", {"name": "Kim"})
SECOND = 1_000_000_000
AT = 1_893_579_328 * SECOND  # 2030-01-02T10:15:28Z
TURN = TraceSpan(
    "turn",
    AT,
    AT + 1_250_000_000,
    1_250_000_000,
    {"model": "demo"},
    (TraceSpan("llm", AT + 100_000_000, AT + 1_100_000_000, SECOND),),
)


def decode(*frames: Any) -> list[ServerEvent]:
    codec = CesCodec()
    return [event for frame in frames for event in codec.decode(json.dumps(frame))]


def frame_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENTED[name]["frame"]
    return found


def messages(*found: dict[str, Any]) -> tuple[TraceMessage, ...]:
    return tuple(parts.trace_message(one, pytest.fail) for one in found)


DIAGNOSED = messages(*frame_of("diagnostics")["sessionOutput"]["diagnosticInfo"]["messages"])

SERVER: dict[str, tuple[list[ServerEvent], dict[str, Any]]] = {
    "recognised_first": ([Transcribed("is my order")], served.recognised("is my order")),
    "recognised_more": ([Transcribed("is my order on its way")], served.recognised("is my order on its way")),
    "text_of_turn": (
        [MessageDelta("0.2.1", "0.2.1", "reply", None, "It left the depot this morning.")],
        served.output(2, served.text("It left the depot this morning.")),
    ),
    "audio_of_turn": (
        [AudioChunk("0.2.1", bytes((0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0)))],
        served.output(2, served.audio(bytes((0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0)))),
    ),
    "turn_completed": ([TurnEnded("0.2.1", "completed")], served.output(2, completed=True)),
    "barge_in": ([Interruption(True, "")], served.interruption(True)),
    "interruption": ([Interruption(False, "")], served.interruption(False)),
    "end_session": (
        [
            ConversationClosed(
                False,
                "caller said goodbye",
                metadata={"reason": "caller said goodbye", "session_escalated": False},
            )
        ],
        served.end_session({"reason": "caller said goodbye", "session_escalated": False}),
    ),
    "end_session_bare": ([ConversationClosed(False)], served.end_session({})),
    "go_away": ([GoingAway()], served.go_away()),
    "citations": (
        [Citations("0.3.1", (Source("https://example.com/returns", "Returns", "Thirty days.", True),))],
        served.output(3, served.citations([Source("https://example.com/returns", "Returns", "Thirty days.", True)])),
    ),
    "search_suggestions": (
        [
            SearchSuggestions(
                "0.3.1",
                ('<div class="chip">return policy</div>',),
                (("return policy", "https://www.google.com/search?q=return+policy"),),
            )
        ],
        served.output(
            3,
            served.suggestions(
                ['<div class="chip">return policy</div>'],
                [("return policy", "https://www.google.com/search?q=return+policy")],
            ),
        ),
    ),
    "payload": (
        [Payload("0.3.1", {"card": {"title": "Order 4711", "eta": "2030-01-02"}})],
        served.output(3, served.payload({"card": {"title": "Order 4711", "eta": "2030-01-02"}})),
    ),
    "tool_calls": (
        [ToolCalls("0.3.1", (MAP_CALL,)), TurnEnded("0.3.1", "completed")],
        served.output(3, served.tool_calls([MAP_CALL]), completed=True),
    ),
    "toolset_call": ([ToolCalls("0.3.1", (CRM_CALL,))], served.output(3, served.tool_calls([CRM_CALL]))),
    "diagnostics": (
        [Diagnostics("0.2.1", DIAGNOSED, TURN), TurnEnded("0.2.1", "completed")],
        served.output(2, completed=True, diagnosticInfo=served.diagnostics(DIAGNOSED, TURN)),
    ),
    "end_in_output": (
        [
            TurnEnded("0.6.1", "completed"),
            ConversationClosed(
                False,
                "needs a person",
                escalated=True,
                metadata={"reason": "needs a person", "session_escalated": True, "params": {"queue": "billing"}},
            ),
        ],
        served.output(
            6,
            served.ended({"reason": "needs a person", "session_escalated": True, "params": {"queue": "billing"}}),
            completed=True,
        ),
    ),
}

CONFIG = sent.SessionConfig(
    f"{APP}/sessions/call-7f3a9c",
    f"{APP}/deployments/web",
    time_zone="Europe/Paris",
    audio_in=sent.AudioFormat("LINEAR16", 16_000),
    audio_out=sent.AudioFormat("LINEAR16", 24_000),
    noise_suppression="low",
)
TEXT_CONFIG = sent.SessionConfig(
    f"{APP}/sessions/chat-00017", entry_agent=f"{APP}/agents/front", text_streaming=True, tool_fakes=True
)
MAP_ANSWER = ToolResponse("tc-81", MAP_CALL.tool, "", "", "open_map", {"output": {"shown": True}})
CRM_ANSWER = ToolResponse("tc-82", "", CRM_CALL.toolset, "find", "find", {"error": "customer not found"})
CLIENT: dict[str, str] = {
    "config": sent.config(CONFIG),
    "text_config": sent.config(TEXT_CONFIG),
    "audio": sent.audio(bytes((0, 0, 255, 255, 1, 0, 254, 255, 2, 0, 253, 255))),
    "text": sent.text("Is my order on its way?"),
    "dtmf": sent.given(Keys("4711#")),
    "variables": sent.given(Variables({"caller_tier": "gold", "open_orders": 2})),
    "event": sent.given(NamedEvent("session_start")),
    "image_then_more": sent.given(Picture("image/png", b"\x89PNG\r\n\x1a\n")),
    "blob": sent.given(Bytes("application/pdf", b"%PDF")),
    "tool_output": sent.given(ToolResponses((MAP_ANSWER,))),
    "toolset_error": sent.given(ToolResponses((CRM_ANSWER,))),
}


class TestDocumentedFrames:
    def test_none_is_without_a_test(self) -> None:
        """Hurts the integrator who is promised the whole protocol."""
        tested = {*SERVER, *CLIENT, "run_session_request", "run_session_response", "message", "every_chunk"}
        assert set(DOCUMENTED) - {"http_error"} == tested  # the error's body is the HTTP link's, and tested there

    def test_they_cover_every_member_of_every_union(self) -> None:
        """The same, for what the definition has and the examples might lack."""
        shown = json.dumps([row["frame"] for row in ROWS])
        for union in ("SessionInput", "SessionOutput", "Chunk", "BidiSessionClientMessage", "BidiSessionServerMessage"):
            for names in judge.members(union).values():
                assert [name for name in names if f'"{name}"' not in shown] == []

    @pytest.mark.parametrize("name", [name for name in DOCUMENTED if name != "http_error"])
    def test_they_are_what_the_definition_allows(self, name: str) -> None:
        """A wrong example would prove nothing."""
        judge.strictly(DOCUMENTED[name]["by"], frame_of(name))

    @pytest.mark.parametrize("name", SERVER)
    def test_of_the_server_are_read(self, name: str) -> None:
        assert decode(frame_of(name)) == SERVER[name][0]

    @pytest.mark.parametrize("name", SERVER)
    def test_of_the_server_are_what_the_local_server_sends(self, name: str) -> None:
        """Hurts the designer: a flow that works here would not work there."""
        assert SERVER[name][1] == frame_of(name)

    @pytest.mark.parametrize("name", CLIENT)
    def test_of_the_client_are_what_we_send(self, name: str) -> None:
        """Hurts everybody: the service closes the socket at a frame it does not know."""
        assert json.loads(CLIENT[name]) == frame_of(name)

    @pytest.mark.parametrize("name", ["message", "every_chunk"])
    def test_a_message_comes_back_as_it_went_in(self, name: str) -> None:
        (message,) = messages(frame_of(name))
        assert served.trace_message(message) == frame_of(name)

    def test_one_turn_over_http(self) -> None:
        session = sent.SessionConfig(f"{APP}/sessions/chat-00017")
        body = sent.run_session(session, [sent.session_input(Variables({"caller_tier": "gold"})), {"text": "Hello"}])
        assert body == frame_of("run_session_request")
        events = CesCodec().body(json.dumps(frame_of("run_session_response")))
        said = "Good morning, how can I help?"
        assert events == (
            MessageDelta("0.1.1", "0.1.1", "reply", None, said),
            Diagnostics("0.1.1", (), TraceSpan("turn", duration=900_000_000)),
            MessageCompleted("0.1.1", "0.1.1", "reply", None, said),
            TurnEnded("0.1.1", "completed"),
        )


def out(turn: int, **fields: Any) -> dict[str, Any]:
    return {"sessionOutput": {"turnIndex": turn, **fields}}


class TestTurns:
    def test_fragments_are_joined_as_they_come(self) -> None:
        """Hurts the listener: a blank too many splits a word, and "not" comes loose from "can"."""
        events = decode(out(1, text="You can"), out(1, text="not "), out(1, text="wait.", turnCompleted=True))
        assert [event.text for event in events if isinstance(event, MessageDelta)] == ["You can", "not ", "wait."]
        assert events[-2:] == [
            MessageCompleted("0.1.1", "0.1.1", "reply", None, "You cannot wait."),
            TurnEnded("0.1.1", "completed"),
        ]

    def test_a_turn_that_is_never_completed_ends_with_the_next_one(self) -> None:
        """Hurts the listener: its last sentence would wait for ever to be called complete."""
        events = decode(out(1, text="One."), out(2, text="Two."))
        assert events[1:3] == [
            MessageCompleted("0.1.1", "0.1.1", "reply", None, "One."),
            TurnEnded("0.1.1", "completed"),
        ]

    def test_words_after_the_end_of_their_turn_are_a_message_of_their_own(self) -> None:
        """The answer to a tool's result may come under the old index."""
        events = decode(out(1, text="Let me see.", turnCompleted=True), out(1, text="Seen.", turnCompleted=True))
        texts = [(event.id, event.text) for event in events if isinstance(event, MessageCompleted)]
        assert texts == [("0.1.1", "Let me see."), ("0.1.2", "Seen.")]

    def test_without_an_index_it_belongs_to_the_newest_turn(self) -> None:
        events = decode(out(3, text="One "), {"sessionOutput": {"text": "two.", "turnCompleted": True}})
        assert MessageCompleted("0.3.1", "0.3.1", "reply", None, "One two.") in events

    def test_two_connections_never_share_an_id(self) -> None:
        """Hurts the report: two messages would be taken for one."""
        (first,) = CesCodec(0).decode(json.dumps(out(1, text="a")))
        (second,) = CesCodec(1).decode(json.dumps(out(1, text="a")))
        assert isinstance(first, MessageDelta)
        assert isinstance(second, MessageDelta)
        assert first.id != second.id

    def test_the_text_of_a_turn_has_an_end(self) -> None:
        """Hurts the kiosk: a server gone mad would fill its memory."""
        codec = CesCodec()
        frame = json.dumps(out(1, text="x" * (MAX_TURN_TEXT // 4)))
        events = [event for _ in range(6) for event in codec.decode(frame)]
        assert sum(isinstance(event, MessageDelta) for event in events) == 4
        assert all("longer than" in event.reason for event in events if isinstance(event, BadFrame))

    def test_open_turns_have_an_end(self) -> None:
        codec = CesCodec()
        for turn in range(500, 0, -1):
            codec.decode(json.dumps(out(turn, text="x")))
        assert len(codec._open) <= MAX_OPEN_TURNS


class TestSignals:
    def test_audio_of_a_turn_that_was_spoken_over_is_dropped_until_the_next(self) -> None:
        """Hurts the user: the voice that they stopped would go on."""
        sound = "AAAA"
        events = decode(
            out(4, audio=sound), {"interruptionSignal": {"bargeIn": True}}, out(4, audio=sound), out(5, audio=sound)
        )
        assert [event.turn_id for event in events if isinstance(event, AudioChunk)] == ["0.4.1", "0.5.2"]

    def test_a_newer_answer_with_the_same_index_is_not_silenced(self) -> None:
        """Hurts the user: they would never hear the answer that replaces the old one."""
        events = decode(out(4, audio="AAAA"), {"interruptionSignal": {}}, out(4, audio="AAAA"))
        assert sum(isinstance(event, AudioChunk) for event in events) == 2

    def test_the_end_of_the_session_counts_once(self) -> None:
        """The server may say it in both places."""
        events = decode(out(6, endSession={"metadata": {"reason": "bye"}}), {"endSession": {}})
        assert sum(isinstance(event, ConversationClosed) for event in events) == 1

    def test_the_last_words_come_before_the_end(self) -> None:
        """Hurts the user: the farewell would be cut off."""
        events = decode(out(6, text="Bye."), out(6, turnCompleted=True, endSession={}))
        assert isinstance(events[-1], ConversationClosed)
        assert isinstance(events[-2], TurnEnded)


class TestOddFrames:
    @pytest.mark.parametrize(
        ("frame", "reason"),
        [
            (out(1, text="a", audio="AAAA"), "sessionOutput: text and audio are both set; at most one may be"),
            (
                {"goAway": {}, "interruptionSignal": {}},
                "frame: interruptionSignal and goAway are both set; at most one may be",
            ),
        ],
    )
    def test_two_members_of_a_union_are_told_and_both_are_read(self, frame: dict[str, Any], reason: str) -> None:
        """Hurts the user twice: the words would be lost, and nobody would know why."""
        events = decode(frame)
        assert events[-1] == BadFrame(reason)
        assert len(events) == 3

    def test_two_members_of_a_chunk_are_told_and_the_first_counts(self) -> None:
        chunks = [{"text": "a", "transcript": "b"}]
        events = decode(out(1, diagnosticInfo={"messages": [{"role": "user", "chunks": chunks}]}))
        assert isinstance(events[0], Diagnostics)
        assert events[0].messages[0].text == "a"
        assert events[1:] == [BadFrame("chunk: text and transcript are both set; at most one may be")]

    def test_written_and_spoken_words_both_count(self) -> None:
        """Hurts the record: half of the conversation would be missing."""
        (message,) = messages(frame_of("message"))
        assert message.text == "Let me check.It ships today."

    @pytest.mark.parametrize("frame", [{"serverPing": {}}, {}, {"goAway": None}])
    def test_what_is_not_known_is_passed_over(self, frame: dict[str, Any]) -> None:
        assert decode(frame) == [Ignored(next(iter(frame), "(empty)"))]

    def test_unknown_members_cost_nothing(self) -> None:
        """The real server has newer fields already."""
        events = decode(out(1, text="a", progress="half", context=[{"@type": "x"}], image={"mimeType": "image/png"}))
        assert events == [MessageDelta("0.1.1", "0.1.1", "reply", None, "a")]

    def test_snake_case_and_binary_frames_are_read(self) -> None:
        frame = json.dumps({"session_output": {"turn_index": 1, "text": "a", "turn_completed": True}})
        assert CesCodec().decode(frame.encode())[-1] == TurnEnded("0.1.1", "completed")

    def test_ten_megabytes_are_refused_in_one_line(self) -> None:
        """Hurts the kiosk: one frame would fill its memory."""
        (event,) = CesCodec().decode(json.dumps(out(1, text="x" * 10_000_000)))
        assert isinstance(event, BadFrame)
        assert event.reason.endswith(f"is longer than {MAX_FRAME}")

    def test_the_header_of_a_wav_file_is_no_sound(self) -> None:
        """Hurts the ear: it is a click."""
        wav = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0" + bytes(16) + b"data\x04\0\0\0\x01\x02\x03\x04"
        assert without_header(wav) == b"\x01\x02\x03\x04"
        assert without_header(b"RIFF") == b"RIFF"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
NAMES = sorted({name for row in ROWS for name in json.dumps(row["frame"]).split('"')[1::2]})
SHAPED = st.recursive(
    JSON_VALUES, lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=4) | st.lists(inner, max_size=3)
)


class TestAnything:
    @settings(max_examples=100)
    @given(st.lists(st.text() | st.binary() | SHAPED.map(json.dumps), max_size=4))
    def test_decode_never_raises(self, frames: list[str | bytes]) -> None:
        """Hurts everybody in mid-conversation: one odd frame would end it."""
        codec = CesCodec()
        for frame in frames:
            events = codec.decode(frame)
            assert all("\n" not in event.reason for event in events if isinstance(event, BadFrame))

    @settings(max_examples=100)
    @given(st.dictionaries(st.sampled_from([*OUTPUT_MEMBERS, "diagnosticInfo", "turnIndex"]), SHAPED))
    def test_nor_on_an_output_with_anything_in_it(self, output: dict[str, Any]) -> None:
        CesCodec().decode(json.dumps({"sessionOutput": output}))

    @given(st.lists(st.tuples(st.integers(1, 5), st.text(min_size=1, max_size=5), st.booleans()), max_size=30))
    def test_every_word_is_in_a_completed_message_once_the_turns_are_over(
        self, outputs: list[tuple[int, str, bool]]
    ) -> None:
        """Hurts the listener: what the server said must be spoken, whatever the order."""
        codec = CesCodec()
        events = [
            event
            for turn, words, completed in [*outputs, (6, "end", True), (7, "x", False)]
            for event in codec.events(out(turn, text=words, turnCompleted=completed))
        ]
        said = [event for event in events if isinstance(event, MessageDelta)][:-1]
        done = {event.id: event.text for event in events if isinstance(event, MessageCompleted)}
        assert sum(isinstance(event, MessageCompleted) for event in events) == len(done)
        joined: dict[str, str] = {}
        for event in said:
            joined[event.id] = joined.get(event.id, "") + event.text
        assert done == joined


class TestStreamReply:
    @given(st.lists(st.sampled_from(ROWS), max_size=5), st.integers(1, 40), st.sampled_from(["array", "lines"]))
    def test_the_answers_come_out_whole_however_they_are_cut(
        self, rows: list[dict[str, Any]], size: int, style: str
    ) -> None:
        frames = [row["frame"] for row in rows]
        body = json.dumps(frames, indent=1) if style == "array" else "\n".join(map(json.dumps, frames))
        reply = StreamReply()
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert [json.loads(one) for piece in pieces for one in reply.feed(piece)] == frames

    def test_one_that_never_ends_is_refused(self) -> None:
        reply = StreamReply()
        reply.feed('[{"outputs": [')
        with pytest.raises(BadFrameError, match="longer than"):
            reply.feed('"' + "x" * MAX_FRAME)


def test_every_guess_about_ces_is_listed() -> None:
    """Hurts whoever has to follow a correction of the vendor's: this list says what to look for."""
    assert sorted(ASSUMED) == [
        "end_session.code",
        "end_session.place",
        "frames",
        "half_close",
        "interrupted.completed",
        "late_audio",
        "location",
        "new_text.signal",
        "opening.event",
        "refused_upgrade",
        "second_config",
        "turn_index.reconnect",
        "unanswered",
        "unknown_field",
    ]
    assert not set(ASSUMED) & set(spellings.ASSUMED)  # `voice serve --assume` takes the names of both


def test_every_entry_of_the_table_has_an_effect() -> None:
    """Hurts whoever changes a line of the table and sees nothing happen."""
    voice = Path(__file__).resolve().parents[2] / "voice"
    code = "\n".join(path.read_text("utf-8") for path in voice.rglob("*.py") if path.name != "ces_spellings.py")
    assert [name for name in ASSUMED if f'"{name}"' not in code] == []
