"""``anoncup serve``: run the whole service, or only its web server."""

import logging
import sys

from app.operations.service_options import DEFAULT_DATA_FOLDER, DataFolder, Host, Port, WebProcesses


def serve(
    port: Port = 8000,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    host: Host = "127.0.0.1",
    web_processes: WebProcesses = None,
) -> None:
    """Serve. With DATABASE_URL and REDIS_URL: the web application only; without: all of it, embedded."""
    from app.operations import local_service
    from app.operations.supervisor import stop_on_signals

    if local_service.find_configured_services() is not None:
        local_service.exec_web_server(host, port, web_processes)
    log_to_stdout()
    with stop_on_signals(), local_service.run_service(host, port, data, web_processes) as service:
        print(f"ready: {local_service.build_local_url(host, port)}", flush=True)
        service.supervisor.wait()


def log_to_stdout() -> None:
    """Print the service's log messages, one line each."""
    logger = logging.getLogger("app")
    logger.addHandler(logging.StreamHandler(sys.stdout))
    logger.setLevel(logging.INFO)
