"""What the longer commands of the command line do."""
