"""The rules that need rows. Each function takes a session and never commits."""
