"""Scenarios that every worker program must pass, whatever language it is written in."""
