"""The command line: parses, calls one library function, prints. Not for import: programs use `commodore`."""

__all__: list[str] = []
