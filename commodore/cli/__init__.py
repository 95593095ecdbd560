"""The front door: parses, calls one library function, prints. Nobody imports it; programs use the rooms below."""

__all__: list[str] = []
