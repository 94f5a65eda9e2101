"""What pages share: frame, access, ranges, forms."""
