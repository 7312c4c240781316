"""Laws of the decoder: whatever comes in, one event comes out."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from voice.core.server_events import BadFrame
from voice.wire import infermedica
from voice.wire.infermedica import decode

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
TYPES = sorted(infermedica._HANDLERS)
KEYS = ["conversation", "assistant_message", "user_message", "settings", "assessment", "handoff", "error", "turn_id"]
FIELDS = [
    "id",
    "turn_id",
    "kind",
    "can_interrupt",
    "delta",
    "content_parts",
    "widget",
    "messages",
    "content",
    "details",
]


@settings(max_examples=60)
@given(st.text() | st.binary() | JSON_VALUES.map(json.dumps))
def test_decode_never_raises(frame: str | bytes) -> None:
    """Hurts everybody in mid-conversation: one odd frame would end it."""
    assert len(decode(frame)) == 1


@settings(max_examples=60)
@given(
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(KEYS), JSON_VALUES | st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES)),
)
def test_decode_never_raises_on_a_known_type_with_anything_in_it(kind: str, rest: dict[str, Any]) -> None:
    """The same, for frames that get past the type."""
    (event,) = decode(json.dumps({**rest, "type": kind}))
    if isinstance(event, BadFrame):
        assert "\n" not in event.reason
