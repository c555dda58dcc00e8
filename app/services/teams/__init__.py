"""How people come to take part in a contest, or to organize it."""
