"""``anoncup scheduler``: run the clock, which changes phases on time, or check that one is running."""

from typing import Annotated

import typer


def scheduler(
    check: Annotated[
        bool, typer.Option("--check", help="only say whether a clock is running; exit status 3: none is")
    ] = False,
) -> None:
    """Turn phases and look for lost work, without a worker; one is enough, and two do no harm."""
    from app.operations import local_service, service_access

    if check:
        service_access.check_clock()
        return
    local_service.exec_clock()
