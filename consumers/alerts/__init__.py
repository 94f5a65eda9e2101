"""Rules over what is stored, the incidents that they open and close, and the channels that tell of them."""
