"""``anoncup demo``: run a service with contests that sample teams play."""

from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import CompetitionFile, OptionalOriginalFiles, OriginalFiles
from anoncup.errors import InvalidInput
from app.operations.service_options import DEFAULT_DATA_FOLDER, DataFolder, Host, Port, WebProcesses

_OwnCompetition = Annotated[
    Path | None,
    typer.Option(
        "--competition", exists=True, dir_okay=False, help="play your own contest, from its competition.toml"
    ),
]


def demo(
    *,
    competition: _OwnCompetition = None,
    original: OptionalOriginalFiles = None,
    port: Port = 8000,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Host a demo competition: everything on this machine, sample releases scored, then keep serving.

    With --competition and --original it is your own contest, which begins now.
    """
    from app.operations import local_service
    from app.operations.supervisor import run, stop_on_signals

    if (competition is None) != (not original):
        raise InvalidInput("--competition and --original belong together", code="files")
    local_service.log_to_stdout()
    url = local_service.build_local_url(host, port)
    own_contest = _list_options(competition, original or [])
    with stop_on_signals():
        if own_contest:  # before anything is started, in a process that reads tables
            check = local_service.build_command("the check", "check-demo", *own_contest, env={})
            run(check, reports_progress=True)
        with local_service.run_service(host, port, data, web_processes) as service:
            program = local_service.build_command(
                "the demo", "play-demo", url, "--data", str(data), *own_contest, env=service.env
            )
            run(program, check=service.supervisor.restart_ended, reports_progress=True)
            print(f"ready: {url}", flush=True)
            service.supervisor.wait()


def _list_options(competition: Path | None, original: list[str]) -> list[str]:
    if competition is None:
        return []
    return ["--competition", str(competition), *(word for file in original for word in ("--original", file))]


def check_demo(competition: CompetitionFile, original: OriginalFiles) -> None:
    """Refuse a contest that cannot be played."""
    from app.operations import demo_contest

    demo_contest.load_own_contest(competition, original)


def play_demo(
    url: str,
    *,
    competition: _OwnCompetition = None,
    original: OptionalOriginalFiles = None,
    data: DataFolder = DEFAULT_DATA_FOLDER,
) -> None:
    """The demo's own part, at a service that runs."""
    from anoncup.cli.connection import translate_api_errors
    from app.operations import demo_contest, local_service

    local_service.log_to_stdout()
    contests = (
        [demo_contest.prepare(demo) for demo in demo_contest.DEMO_CONTESTS]
        if competition is None
        else [demo_contest.load_own_contest(competition, original or [])]
    )
    with translate_api_errors():
        demo_contest.play(url, data.resolve(), contests)
