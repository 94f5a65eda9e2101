"""Alert rules over stored rows, the incidents that rules open and resolve, and the channels that send notifications."""
