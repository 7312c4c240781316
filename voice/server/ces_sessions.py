"""Sessions of the CES protocol: a hosted conversation each, known by the name that the client invented."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from voice.server.ces_inputs import RefusedError
from voice.server.engine import Engine
from voice.server.session import HostedConversation
from voice.wire import spellings
from voice.wire.assumptions import Assumptions
from voice.wire.protojson import member, struct, text

_SETTINGS: Mapping[str, Any] = {
    "opening_message_enabled": True,
    "ui_widgets_enabled": False,
    "handoff_policies": [],
    "max_message_length": 1_000_000,
}
"""What a flow needs to know of a client; CES has none of these settings."""


class CesSession:
    """One session. Inputs make turns of its conversation; `turns` counts them."""

    def __init__(self, conversation: HostedConversation, app: str, opening: str) -> None:
        self.conversation, self.app, self._opening = conversation, app, opening
        self.turns: dict[str, int] = {}
        """The index of each turn by its id, from 1 on."""
        self.variables: dict[str, Any] = {}
        self.inputs: list[Mapping[str, Any]] = []
        """Every input that came, in order."""
        self._tools: dict[str, str] = {}
        """Tool calls that wait for their answers: the id of each, and its answer if it came."""
        self.ended = False

    def index(self, turn_id: str) -> int:
        """The number of this turn; a new one for a new turn."""
        return self.turns.setdefault(turn_id, len(self.turns) + 1)

    def call(self, call_id: str) -> None:
        """A tool was called; the conversation goes on when every call has its answer."""
        self._tools[call_id] = ""

    def take(self, given: Mapping[str, Any], now: float) -> None:
        """One checked SessionInput at `now` (the loop's seconds)."""
        self.inputs.append(given)
        variables = member(given, "variables")
        if variables is not None:
            self.variables.update(variables)
            return
        event, responses = member(given, "event"), member(given, "toolResponses")
        if event is not None and text(event, "event") == self._opening and not self.turns:
            self.conversation.open("events")
        elif event is not None:
            self._say(text(event, "event"), now)
        elif responses is not None:
            self._answer(struct(responses), now)
        else:
            self._say(text(given, "text") or text(given, "dtmf"), now)

    def _answer(self, responses: Mapping[str, Any], now: float) -> None:
        for one in member(responses, "toolResponses"):
            if (name := text(one, "id")) not in self._tools:
                raise RefusedError("invalid_argument", "a tool response has the id of no open call")
            self._tools[name] = json.dumps(member(one, "response"), ensure_ascii=False)
        if all(self._tools.values()):
            answers, self._tools = " ".join(self._tools.values()), {}
            self._say(answers, now)

    def _say(self, words: str, now: float) -> None:
        if words:
            self.conversation.receive({"id": None, "content": words, "is_interrupted": False}, now)


class CesSessions:
    """Sessions of one flow, at most `most`: the one not used for longest is forgotten first."""

    def __init__(self, engine: Engine, assumed: Assumptions, new_id: Callable[[], str], most: int) -> None:
        self._engine, self._assumed, self._new_id, self._most = engine, assumed, new_id, most
        self.by_name: OrderedDict[str, CesSession] = OrderedDict()

    def bind(self, name: str) -> CesSession:
        """The session of this name, new or known. Raises RefusedError for one that has ended."""
        found = self.by_name.get(name)
        if found is not None and found.ended:
            raise RefusedError("failed_precondition", "the session has ended")
        if found is None:
            conversation = HostedConversation(
                self._engine, _SETTINGS, {"evidence": []}, assumed=_INFERMEDICA, new_id=self._new_id
            )
            app = name.partition("/sessions/")[0]
            found = self.by_name[name] = CesSession(conversation, app, self._assumed["opening.event"])
        self.by_name.move_to_end(name)
        while len(self.by_name) > self._most:
            _, oldest = self.by_name.popitem(last=False)
            oldest.conversation.end()
        return found

    async def close(self) -> None:
        """End every turn."""
        for session in list(self.by_name.values()):
            await session.conversation.close()


_INFERMEDICA = Assumptions(spellings.ASSUMED)
"""How conversations behave within; what of it shows on this wire is assumed in a table of its own."""
