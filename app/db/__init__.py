"""The rows and the engine. Only services read and write through it."""
