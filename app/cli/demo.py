"""``anoncup demo``: run a service with contests that sample teams play."""

from app.cli.serve import log_to_stdout
from app.cli.service_options import DEFAULT_DATA_FOLDER, DataFolder, Host, Port, WebProcesses


def demo(
    port: Port = 8000,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Host a demo competition: everything on this machine, sample releases scored, then keep serving."""
    from app.cli import local_service
    from app.processes.supervisor import run, stop_on_signals

    log_to_stdout()
    url = local_service.build_local_url(host, port)
    with stop_on_signals(), local_service.run_service(host, port, data, web_processes) as service:
        program = local_service.build_command(
            "the demo", "play-demo", url, "--data", str(data), env=service.env
        )
        run(program, check=service.supervisor.restart_ended, reports_progress=True)
        print(f"ready: {url}", flush=True)
        service.supervisor.wait()


def play_demo(url: str, data: DataFolder = DEFAULT_DATA_FOLDER) -> None:
    """The demo's own part, at a service that runs."""
    from app.cli import demo_contest

    log_to_stdout()
    demo_contest.play(url, data.resolve())
