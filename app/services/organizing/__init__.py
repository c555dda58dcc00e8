"""What organizers alone do and see."""
