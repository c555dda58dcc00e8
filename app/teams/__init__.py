"""Teams: invites, members, and the organizers of a competition."""
