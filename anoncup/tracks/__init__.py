"""The tracks: kinds of contests, each a package; ``anoncup.plugins`` lists them."""
