"""``anoncup doctor``: check an installation of the service."""

import typer

from anoncup.cli.options import AsJson
from app.operations.service_options import (
    DEFAULT_DATA_FOLDER,
    DataFolder,
    PrivateKeyFolder,
    PublicKeyFile,
    get_key_paths,
)


def doctor(
    data: DataFolder = DEFAULT_DATA_FOLDER,
    *,
    public: PublicKeyFile = None,
    private_dir: PrivateKeyFolder = None,
    as_json: AsJson = False,
) -> None:
    """Check versions, sandbox, disk, mail, sign-in, keys, servers, outbox, store, clock and workers.

    It says what to do. Run it with the environment of the service. Exit status 1: there is a problem.
    """
    from anoncup.cli.output import print_entries
    from app.operations.embedded_servers import find_running_services
    from app.operations.installation_checks import InstallationPaths, check_installation
    from app.operations.local_service import find_configured_services

    services = find_configured_services() or find_running_services(data)
    keys = get_key_paths(data, public, private_dir)
    paths = InstallationPaths(data, keys.public or data, keys.private)
    results = list(check_installation(paths, services))
    columns = ("check", "status", "detail")
    rows = [{name: getattr(result, name) for name in columns} for result in results]
    print_entries(rows, dict(zip(columns, columns, strict=True)), as_json=as_json)
    raise typer.Exit(any(result.status == "problem" for result in results))
