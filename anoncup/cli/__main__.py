"""``python -m anoncup.cli`` runs ``anoncup`` without its installed script."""

from anoncup.cli.main import main

main()
