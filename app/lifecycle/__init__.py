"""What the clock does at the end of a phase: freeze finals, publish targets, close."""
