"""``anoncup serve``: the whole service, or its web server."""

import logging
import sys

from app.cli.service_options import DEFAULT_DATA, Data, Host, Port, WebProcesses


def serve(
    port: Port = 8000,
    data: Data = DEFAULT_DATA,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Serve. With DATABASE_URL and REDIS_URL: the web application only; without: all of it, embedded."""
    from app.cli import local_service
    from app.processes.supervisor import owned_signals

    if local_service.given_services() is not None:
        local_service.become_web_server(host, port, web_processes)
    tell_steps()
    with owned_signals(), local_service.service(host, port, data, web_processes) as found:
        print(f"ready: {local_service.local_url(host, port)}", flush=True)
        found.supervisor.wait()


def tell_steps() -> None:
    """Each step and each trouble is a line, as it comes."""
    told = logging.getLogger("app")
    told.addHandler(logging.StreamHandler(sys.stdout))
    told.setLevel(logging.INFO)
