"""What commands share: input, output, progress."""
