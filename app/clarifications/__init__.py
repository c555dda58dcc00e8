"""Questions of teams and their answers."""
