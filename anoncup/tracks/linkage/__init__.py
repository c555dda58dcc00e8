"""Shared by the tracks that ask which original row a released row comes from."""
