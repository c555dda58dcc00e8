"""Commands for whoever runs the service.

Each imports what it needs when it runs: a team's local commands should not wait for a server's modules.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.cli.backup.keys import Places


Data = Annotated[
    Path, typer.Option(envvar="ANONCUP_DATA", help="folder of the database, the files and the keys")
]
Port = Annotated[int, typer.Option(min=1, max=65535)]
Host = Annotated[str, typer.Option()]
WebProcesses = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=32,
        envvar="ANONCUP_WEB_PROCESSES",
        help="processes of the web server; default: one per core, up to 4",
    ),
]
DEFAULT_DATA = Path(".anoncup")


Into = Annotated[Path, typer.Option(help="the file to write; NAME.gz is compressed")]
Replace = Annotated[bool, typer.Option("--replace", "--force", help="replace an existing file")]
Archive = Annotated[Path, typer.Argument(help="a file that the backup command wrote")]
Public = Annotated[
    Path | None, typer.Option(envvar="ANONCUP_SEALING_KEY_FILE", help="default: keys/sealing.pub in --data")
]
PrivateDir = Annotated[
    Path | None, typer.Option(envvar="ANONCUP_OPENING_KEYS_DIR", help="default: keys/private in --data")
]


def key_places(data: Path, public: Path | None, private_dir: Path | None) -> "Places":
    from app.cli.backup.keys import Places

    own = data / "keys"
    return Places(public or own / "sealing.pub", private_dir or own / "private")
