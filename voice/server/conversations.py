"""The conversations of the local server, in memory: whoever knows an id reads and continues one, on any transport."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from voice.server.engine import Engine
from voice.server.infermedica import Refused
from voice.server.inputs import ConversationInput, as_plain
from voice.server.session import HostedConversation
from voice.wire.assumptions import Assumptions


class Conversations:
    """Conversations of one flow, at most `most` of them: the one not used for longest is forgotten first."""

    def __init__(self, engine: Engine, assumed: Assumptions, new_id: Callable[[], str], most: int) -> None:
        self._engine, self._assumed, self._new_id, self._most = engine, assumed, new_id, most
        self.by_id: OrderedDict[str, HostedConversation] = OrderedDict()
        """The one used last at the end."""

    def create(self, given: ConversationInput) -> HostedConversation:
        """A new conversation, in which nothing was said yet."""
        settings = as_plain(given.settings) | {"max_message_length": self._engine.flow.max_message_length}
        assessment = as_plain(given.assessment)
        for entry in assessment["evidence"]:
            entry["origin"] = "seeded"
        age = given.assessment.age
        conversation = HostedConversation(
            self._engine,
            settings,
            assessment,
            assumed=self._assumed,
            new_id=self._new_id,
            age_years=None if age is None else age.years,
        )
        self.by_id[conversation.id] = conversation
        while len(self.by_id) > self._most:
            _, oldest = self.by_id.popitem(last=False)
            oldest.end()
        return conversation

    def find(self, conversation_id: str) -> HostedConversation:
        """The conversation with this id. Raises Refused."""
        found = self.by_id.get(conversation_id)
        if found is None:
            raise Refused("conversation_not_found", "no such conversation")
        self.by_id.move_to_end(conversation_id)
        return found

    async def close(self) -> None:
        """End every turn."""
        for conversation in list(self.by_id.values()):
            await conversation.close()
