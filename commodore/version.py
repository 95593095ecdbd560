"""The version of the program, for the build and for everything that names it. Imports nothing."""

__version__ = "0.1.0"
