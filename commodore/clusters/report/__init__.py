"""What a run over many clusters came to."""
