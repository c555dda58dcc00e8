"""Text that only a person could map: (step, glob of the file, pattern, replacement)."""
RULES: list[tuple[str, str, str, str]] = [
    # `python -m app.cli` is the command line wherever it is started: tests, benchmarks, the demo's own part.
    ("L15-cli", "*.py", r'("-m", ")app\.cli(")', r"\1anoncup.cli\2"),
    ("L15-cli", "app/cli/running.py", r'"-m", "app\.cli"', '"-m", "anoncup.cli"'),
    ("L15-cli", "pyproject.toml", r'"app/cli/\*\*"', '"{anoncup,app}/cli/**"'),
    ("L15-cli", "pyproject.toml", r'^anoncup = "app\.cli\.main:main"', 'anoncup = "anoncup.cli.main:main"'),
    ("L11-evaluation", "Makefile", r"--cov=app\.scoring", "--cov=anoncup"),
    ("A09-web", "pyproject.toml", r'"app/web/\{team/mistakes,visitor/leading\}\.py"', '"app/web/{team/upload_hints,visitor/leader_text}.py"'),
    ("A05b-accounts", "pyproject.toml", r"app/names/\*-LICENSE\.txt", "app/services/accounts/names/*-LICENSE.txt"),
    ("A05b-accounts", "NOTICE", r"\(app/names\)", "(app/services/accounts/names)"),
    ("A05b-accounts", "*.js", r"as app/names folds", "as app/services/accounts/names folds"),
    ("L12-schemas", "pyproject.toml", r'"anoncup\.notebooks", ', ""),
    ("L00-faces", "pyproject.toml", r'^"anoncup/(notebooks|__init__)\.py" = .*\n', ""),
    ("A03-processes", "tests/test_processes.py", r'b"tethered"', 'b"child_process"'),
    # Babel reads no messages of what only who runs commands reads.
    ("A03-processes", "pyproject.toml", r'^    "local/\*\*",\n', "".join(f'    "processes/{n}.py",\n' for n in (
        "data_folder", "embedded_servers", "supervisor", "server_process", "child_process", "readiness", "pg_hba"))),
    ("A02-storage-crypto", "pyproject.toml", r'^    "witnessing\.py",\n', '    "crypto/deadline_signing.py",\n'),
    ("A10-cli", "pyproject.toml", r'^    "backup/\*\*",\n', ""),
    ("A07-api", "pyproject.toml", r"api/documentation/answers", "api/documentation/responses"),
    # Tests that name folders.
    ("L11-evaluation", "tests/warm.py", r"^    import app\.cli\n    import app\.scoring\n", "    import anoncup\n    import app.cli\n"),
    ("L11-evaluation", "tests/warm.py", r"\(app\.cli, app\.scoring\)", "(anoncup, app.cli)"),
    ("L00-faces", "*.md", r"imports anoncup\.plugin and nothing", "imports anoncup.tracks.plugin and nothing"),
    ("L00-faces", "*.md", r"imports `anoncup\.plugin` and nothing", "imports `anoncup.tracks.plugin`, `.model` and `.parts` and nothing"),
    ("L01-foundations", "tests/test_messages.py", r'for folder in \("app", "workers", "migrations"\)', 'for folder in ("anoncup", "app", "workers", "migrations")'),
    ("A10-cli", "tests/api/test_documentation.py", r'OUTSIDE = \{"cli", "client", "backup"\}', 'OUTSIDE = {"cli", "client"}'),
]
