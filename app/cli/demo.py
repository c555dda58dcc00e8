"""``anoncup demo``: a service with a contest that sample teams play."""

from app.cli.serve import tell_steps
from app.cli.service_options import DEFAULT_DATA, Data, Host, Port, WebProcesses


def demo(
    port: Port = 8000,
    data: Data = DEFAULT_DATA,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Host a demo competition: everything on this machine, sample releases scored, then keep serving."""
    from app.cli import local_service
    from app.processes.supervisor import owned_signals, run

    tell_steps()
    url = local_service.local_url(host, port)
    with owned_signals(), local_service.service(host, port, data, web_processes) as found:
        program = local_service.command("the demo", "play-demo", url, "--data", str(data), env=found.env)
        run(program, check=found.supervisor.check, speaks=True)
        print(f"ready: {url}", flush=True)
        found.supervisor.wait()


def play_demo(url: str, data: Data = DEFAULT_DATA) -> None:
    """The demo's own part, at a service that runs."""
    from app.cli import demo_contest

    tell_steps()
    demo_contest.play(url, data.resolve())
