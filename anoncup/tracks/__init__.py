"""The built-in tracks (kinds of contests), one package each; ``anoncup.plugins`` lists them."""
