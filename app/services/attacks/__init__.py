"""What is attacked and by whom: finals become targets, targets are guessed, secrets come open."""
