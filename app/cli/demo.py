"""``anoncup demo``: a service with contests that are played by sample teams."""

from app.cli.serve import log_to_stdout
from app.cli.service_options import DEFAULT_DATA, Data, Host, Port, WebProcesses


def demo(
    port: Port = 8000,
    data: Data = DEFAULT_DATA,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Host a demo competition: everything on this machine, sample releases scored, then keep serving."""
    from app.cli import local_service
    from app.processes.supervisor import run, stop_on_signals

    log_to_stdout()
    url = local_service.build_local_url(host, port)
    with stop_on_signals(), local_service.run_service(host, port, data, web_processes) as running:
        program = local_service.build_command(
            "the demo", "play-demo", url, "--data", str(data), env=running.env
        )
        run(program, check=running.supervisor.check, reports_progress=True)
        print(f"ready: {url}", flush=True)
        running.supervisor.wait()


def play_demo(url: str, data: Data = DEFAULT_DATA) -> None:
    """The demo's own part, at a service that runs."""
    from app.cli import demo_contest

    log_to_stdout()
    demo_contest.play(url, data.resolve())
