"""How much of messages is shown and exported, and for how long an export may go on."""

from .environment import number

MESSAGE_BODY_SHOWN_BYTES = int(number("MESSAGE_BODY_SHOWN_BYTES", 65536, least=1))
MESSAGE_BODY_EXPORTED_BYTES = int(number("MESSAGE_BODY_EXPORTED_BYTES", 4194304, least=1))
# Of one re-send.
RESEND_MESSAGES_MAX = int(number("RESEND_MESSAGES_MAX", 10000, least=1))
# Each holds a thread of the general worker and one of the web server.
DEAD_LETTER_EXPORTS = int(number("DEAD_LETTER_EXPORTS", 2, least=1))
DEAD_LETTER_EXPORT_SECONDS = number("DEAD_LETTER_EXPORT_SECONDS", 3600, least=10)
