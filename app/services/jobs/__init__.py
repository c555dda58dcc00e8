"""Work and who does it: whose is next, under which lease, and whether it gets done."""
