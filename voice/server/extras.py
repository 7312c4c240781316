"""What only the CES protocol can carry, sent in the turn that enters a step: tools, sources, searches and the like.

In a flow file this is `[step.ces]`. A client of the other protocol is not told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from voice.core.diagnostics import ToolCall
from voice.core.server_events import Citations, GoingAway, Payload, SearchSuggestions, ServerEvent, Source, ToolCalls
from voice.server.toml_table import Table


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the client is to run. Its answer is the user's message, as JSON, so that branches can match it."""

    name: str
    toolset: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)

    def call(self, call_id: str) -> ToolCall:
        """The call, by the tool's bare name."""
        return ToolCall(call_id, self.name, self.toolset, self.name, self.name, self.args)


@dataclass(frozen=True, slots=True)
class Extras:
    """All of one step."""

    tools: tuple[Tool, ...] = ()
    sources: tuple[Source, ...] = ()
    searches: tuple[tuple[str, str], ...] = ()
    """Pairs of a query and its address."""
    html: tuple[str, ...] = ()
    payload: Mapping[str, Any] | None = None
    go_away: bool = False
    """The connection is to be ended behind the turn."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of the session's end, in a step that has an `end`."""

    def events(self, turn_id: str, new_id: Callable[[], str]) -> Iterator[ServerEvent]:
        """What is told in the turn `turn_id`, in order. Tools go by their bare names."""
        if self.sources:
            yield Citations(turn_id, self.sources)
        if self.searches or self.html:
            yield SearchSuggestions(turn_id, self.html, self.searches)
        if self.payload is not None:
            yield Payload(turn_id, self.payload)
        if self.tools:
            calls = (
                ToolCall(new_id(), tool.name, tool.toolset, tool.name, tool.name, tool.args) for tool in self.tools
            )
            yield ToolCalls(turn_id, tuple(calls))


EXTRA = (Citations, SearchSuggestions, Payload, ToolCalls, GoingAway)
"""The events that the other protocol has no frames for."""


def read_extras(table: Table) -> Extras:
    """What a `[step.ces]` says. Raises FlowError."""
    extras = Extras(
        tools=tuple(_tool(entry) for entry in table.tables("tools")),
        sources=tuple(_source(entry) for entry in table.tables("citations")),
        searches=tuple(_search(entry) for entry in table.tables("searches")),
        html=tuple(table.texts("html")),
        payload=table.table("payload").plain() if "payload" in table else None,
        go_away=table.get("go_away", bool, False),
        metadata=table.table("metadata").plain(),
    )
    table.done()
    return extras


def _tool(table: Table) -> Tool:
    tool = Tool(table.get("name", str), table.get("toolset", str, ""), table.table("args").plain())
    table.done()
    return tool


def _source(table: Table) -> Source:
    source = Source(
        table.get("uri", str),
        table.get("title", str, ""),
        table.get("text", str, ""),
        table.get("requires_attribution", bool, False),
    )
    table.done()
    return source


def _search(table: Table) -> tuple[str, str]:
    search = (table.get("query", str), table.get("uri", str))
    table.done()
    return search
