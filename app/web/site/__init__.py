"""What the pages of every audience share: how one is made, its frame, language and looks."""
