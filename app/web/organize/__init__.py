"""The organizers' pages: a competition is set up and run here."""
