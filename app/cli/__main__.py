"""``python -m app.cli`` is ``anoncup``, wherever its script is."""

from app.cli.main import main

main()
