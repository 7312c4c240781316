"""Which commands there are."""

from __future__ import annotations

import typer

from voice.bench.command import app as bench
from voice.commands.demo import demo
from voice.commands.devices import devices
from voice.commands.doctor import doctor
from voice.commands.errors import explain, watch_threads
from voice.commands.models import models
from voice.commands.say import say
from voice.commands.serve import serve
from voice.commands.talk import talk
from voice.commands.wire import wire

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Speaks what a conversation server writes, listens while it speaks, and tells the server what was heard.",
)
for command in (demo, talk, serve, say, wire, devices, doctor):
    app.command()(command)
app.add_typer(models, name="models")
app.add_typer(bench, name="bench")


def run() -> int:
    """Do what the arguments ask; returns the exit code. See `voice.commands.errors` for what is told of errors."""
    watch_threads()
    try:
        code = app(standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        return explain(error)
    return code if isinstance(code, int) else 0
