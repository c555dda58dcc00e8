"""The rules that need rows, in rooms that stand above each other. Each takes a session and never commits."""
