"""``anoncup worker``: score submissions, judge guesses and make reports."""

from typing import Annotated

import typer


def worker(
    queues: Annotated[
        str, typer.Option(help="what to work on: scores, guesses, reports, separated by commas")
    ] = "scores,guesses,reports",
    jobs: Annotated[int, typer.Option(min=1, help="scores and guesses at a time")] = 1,
    name: Annotated[
        str | None,
        typer.Option(
            help="its name among the workers on this host: letters, digits, - and _; "
            "default: the number of its process"
        ),
    ] = None,
) -> None:
    """Score submissions, judge guesses, make reports until stopped; needs DATABASE_URL and REDIS_URL.

    It makes one report at a time, beside the other jobs. Start several workers for more.
    """
    from app.operations import local_service

    local_service.exec_worker(local_service.parse_queues(queues), jobs, local_service.check_worker_name(name))
