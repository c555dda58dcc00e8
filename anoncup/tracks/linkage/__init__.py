"""Code shared by the tracks whose question is which original row a released row comes from."""
