"""Dead letters as rows tell of them."""
