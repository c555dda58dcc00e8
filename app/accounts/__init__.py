"""People: accounts, e-mail addresses, sign-in, tokens of the API, memberships."""
