"""``anoncup packages``: packages with an environment of their own."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import AsJson
from app.operations.service_options import DEFAULT_DATA_FOLDER, DataFolder

packages = typer.Typer(
    no_args_is_help=True, help="Packages of tracks that run in an interpreter of their own."
)

PackageName = Annotated[str, typer.Argument(help="the name of the environment, such as that of the package")]
PackagesFolder = Annotated[
    Path | None, typer.Option("--into", envvar="ANONCUP_PACKAGES", help="default: packages in --data")
]


@packages.command("add")
def add(
    name: PackageName,
    requirements: Annotated[
        list[str], typer.Argument(help="what to install: packages with versions, wheels or folders")
    ],
    *,
    python: Annotated[str, typer.Option(help="version or path of the interpreter; default: this one")] = "",
    data: DataFolder = DEFAULT_DATA_FOLDER,
    into: PackagesFolder = None,
) -> None:
    """Make an environment with the library and the requirements, or make it anew."""
    from app.operations import package_environments
    from app.operations.supervisor import stop_on_signals

    folder = into or data / "packages"
    with stop_on_signals():
        for package in package_environments.add(folder, name, requirements, python=python):
            versions = ", ".join(f"{key} {value}" for key, value in package.versions.items())
            print(f"{package.name} {package.version}: {', '.join(package.parts)} ({versions})")
        print("restart the service to use it")
        return
    print("interrupted: everything is as before", file=sys.stderr)
    raise typer.Exit(130)


@packages.command("list")
def list_packages(
    *,
    data: DataFolder = DEFAULT_DATA_FOLDER,
    into: PackagesFolder = None,
    as_json: AsJson = False,
) -> None:
    """Start each package that has an environment; list its versions and why it cannot be used."""
    from anoncup.cli.output import print_entries
    from app.operations import package_environments

    folder = into or data / "packages"
    columns = ("environment", "name", "version", "python", "numpy", "pandas", "parts", "broken")
    rows = [
        {
            "environment": package.environment,
            "name": package.name,
            "version": package.version,
            **{key: package.versions.get(key, "") for key in ("python", "numpy", "pandas")},
            "parts": list(package.parts),
            "broken": package_environments.find_failure(package, folder) or None,
        }
        for package in package_environments.find_packages(folder)
    ]
    print_entries(
        rows, dict(zip(columns, columns, strict=True)), as_json=as_json, empty_text="no package is installed"
    )


@packages.command("remove")
def remove(name: PackageName, *, data: DataFolder = DEFAULT_DATA_FOLDER, into: PackagesFolder = None) -> None:
    """Remove an environment. Competitions that need its packages are unavailable after the next restart."""
    from app.operations import package_environments

    package_environments.remove(into or data / "packages", name)
    print(f"removed {name}")
