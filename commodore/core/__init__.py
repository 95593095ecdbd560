"""Trades that the systems share. No system is named here."""
