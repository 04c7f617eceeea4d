"""What a run's privacy is: accounting of what it certifies."""
