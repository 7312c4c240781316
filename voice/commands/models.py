"""`voice models`: list and fetch models of recognisers."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

models = typer.Typer(no_args_is_help=True, help="List and fetch models of recognisers.")


@models.command("list")
def list_models() -> None:
    """List the models that can be fetched, and those that are here.

    Example: voice models list
    """
    from rich.table import Table

    from voice.stt.models import catalogue, folder, installed

    here = installed()
    table = Table()
    for title in ("name", "language", "MB", "licence", "state"):
        table.add_column(title, no_wrap=title == "name")
    for model in catalogue():
        size = f"{model.size / 1e6:.0f}" if model.size else "?"
        state = "here" if model.name in here else "" if model.sha256 else "checksum unknown"
        table.add_row(model.name, model.language, size, model.licence, state)
    console = Console()
    console.print(table)
    console.print(f"Models are kept in {folder()}. The English model of moonshine comes with the program.")


@models.command()
def fetch(name: Annotated[str, typer.Argument(help="Name or language of a model, as in voice models list.")]) -> None:
    """Fetch a model: checked against its checksum, taken up where a broken download ended.

    Example: voice models fetch de
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from voice.stt.models import fetch as fetch_model
    from voice.stt.models import find

    model = find(name)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(model.name, total=model.size)

        def progress(have: int, total: int | None) -> None:
            bar.update(task, completed=have, total=total)

        fetched = fetch_model(model.name, progress=progress)
    print(f"{fetched.model.name}: {fetched.path}")
    if fetched.note:
        print(fetched.note)
