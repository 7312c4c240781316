"""Every spelling and rule of the Infermedica protocol that the public pages leave open, in one table.

The pages state most names; some are only to be guessed. Each guess stands here with its alternative and the reason
for it, and nowhere else: the codec and the local server both read this table, so that a correction is one line.
Names that the pages do state are listed in `DOCUMENTED`; a test holds the two files that write or read frames to
these two lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from voice.wire.assumptions import Assumption, Assumptions

_PAST_TENSE = "each confirmation is the past tense of the client's verb (create/created, resume/resumed are stated)"
_OWN_KEY = "each frame carries its object under a key named after it (user_message, assistant_message are stated)"

ASSUMED: Final[Mapping[str, Assumption]] = {
    # ---- frames of the client
    "type.user_message": Assumption("conversation.user_message.create", "conversation.user_message", _PAST_TENSE),
    "type.settings_update": Assumption("conversation.settings.update", "settings.update", _PAST_TENSE),
    "path.create_input": Assumption("conversation", "", _OWN_KEY + "; the alternative puts the input at top level"),
    "path.resume_id": Assumption("conversation_id", "conversation.id", "the HTTP paths spell it {conversation_id}"),
    "path.settings_input": Assumption("settings", "conversation.settings", _OWN_KEY),
    # ---- frames of the server
    "path.snapshot": Assumption("conversation", "", _OWN_KEY),
    "path.settings": Assumption("settings", "conversation.settings", _OWN_KEY),
    "path.completed_message": Assumption("assistant_message", "message", _OWN_KEY),
    "path.assessment": Assumption("assessment", "conversation.assessment", _OWN_KEY),
    "path.turn_id": Assumption("turn_id", "turn.id", "turn_id is the spelling everywhere else"),
    "path.failure": Assumption("error", "turn.error", "a streaming error uses the HTTP envelope"),
    "path.error": Assumption("error", "", "a streaming error uses the HTTP envelope, and every event has a type"),
    "path.user_turn_id": Assumption("turn_id", "turn.id", "history rows and assistant messages have turn_id"),
    # ---- message kinds whose can_interrupt is not stated; "*" stands for a kind we do not know
    "can_interrupt.intro": Assumption("true", "false", "barge-in is allowed on the kinds that carry the question"),
    "can_interrupt.follow_up": Assumption("true", "false", "barge-in is allowed on the kinds that carry the question"),
    "can_interrupt.read_back": Assumption("true", "false", "no short connective; a correction is natural here"),
    "can_interrupt.*": Assumption("true", "false", "the stated uninterruptible kinds are short; letting in is safer"),
    # ---- behaviour of the two ends
    "opening.arrives": Assumption("events", "snapshot", "the documented way of all other assistant messages"),
    "opening.turn_event": Assumption("turn_completed", "none", "resuming clients wait for a durable boundary"),
    "preempt.order": Assumption("interrupted_first", "accepted_first", "the old turn ends before the new one starts"),
    "preempt.history": Assumption("completed_only", "shortened", "completed is the durable event; deltas are not"),
    "resend.same_id": Assumption("one_turn", "two_turns", "HTTP promises this, and the id is for correlation"),
    "played_content.scope": Assumption("turn", "message", "the field's text names no message id", of_client=True),
    "close.handshake_refused": Assumption("1008", "1002", "1008 is the only code the pages name"),
    "close.no_pong": Assumption("1011", "1008", "what WebSocket libraries use for a failed keepalive"),
    "close.going_away": Assumption("1001", "1012", "RFC 6455, section 7.4.1: a server going down"),
    "refusal.style": Assumption("close", "http", "1008 is stated, and it needs a finished handshake to be sent"),
    "refusal.http_status": Assumption("403", "401", "what servers answer that close before they accept"),
    "location.prefix": Assumption("", "body", "there is no body on a WebSocket; on HTTP the prefix is body"),
    # ---- fields of shapes whose tables are cut
    "evidence.id": Assumption("id", "concept_id", "conditions have id"),
    "evidence.name": Assumption("name", "label", "conditions have name"),
    "evidence.common_name": Assumption("common_name", "name", "conditions have common_name"),
    "recommendation.triage_level": Assumption("triage_level", "level", "as in the recommendation widget"),
    "recommendation.specialist": Assumption("specialist", "recommended_specialist", "as in the recommendation widget"),
    "recommendation.channel": Assumption("channel", "recommended_channel", "as in the recommendation widget"),
    "recommendation.has_emergency_findings": Assumption(
        "has_emergency_findings", "emergency", "as in the recommendation widget"
    ),
    "recommendation.serious_findings": Assumption("serious_findings", "serious", "as in the recommendation widget"),
}

_STATED = """
conversation.create conversation.resume conversation.created conversation.resumed conversation.settings.updated
conversation.user_message.created conversation.assistant_message.delta conversation.assistant_message.ui_widget
conversation.assistant_message.completed conversation.assessment.updated conversation.handoff.requested
conversation.terminated conversation.completed conversation.turn.completed conversation.turn.interrupted
conversation.turn.failed ping pong error
type id status settings assessment messages is_terminated in_progress completed role user assistant
user_message content is_interrupted played_content traceparent
assistant_message turn_id kind can_interrupt delta widget content_parts text ui_widget
acknowledgement bridge filler intro follow_up read_back
language channel voice ui_widgets_enabled opening_message_enabled risk_factors_enabled
geographic_risk_factors_enabled handoff_policies max_message_length stop_intent_handoff pre_triage_handoff
stop_intent_detected handoff reason user_request
code message details location invalid_payload invalid_message_type conversation_not_found
conversation_completed conversation_terminated missing_token
age value unit year month sex male female relationship self child other
evidence unmatched_evidence conditions recommendation state origin present absent unknown
seeded initial asked spontaneous probability name common_name condition_details
hints form items choices recommendation_triage triage_level specialist channel recommendation_conditions
has_emergency_findings serious_findings parent_ids summary patient groups title highlighted children unmatched note
assistant_messages
"""
DOCUMENTED: Final = frozenset(_STATED.split())
"""Names that the public pages state."""


_TABLE: Final = Assumptions(ASSUMED)
assumed: Final = _TABLE.__getitem__
"""The value of the assumption of this name. Raises KeyError for a name that is not in the table."""
read: Final = _TABLE.read
write: Final = _TABLE.write
