"""``python -m anoncup.cli`` is ``anoncup``, wherever its script is."""

from anoncup.cli.main import main

main()
