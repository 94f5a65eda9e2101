"""How much of messages is shown and exported, and for how long an export may go on."""

from .environment import number, section

section("Messages and dead letters", "What is shown, exported and resent of [dead letters](dead-letters.md).")

MESSAGE_BODY_SHOWN_BYTES = int(
    number("MESSAGE_BODY_SHOWN_BYTES", 65536, "How much of a message body is shown.", least=1)
)
MESSAGE_BODY_EXPORTED_BYTES = int(
    number("MESSAGE_BODY_EXPORTED_BYTES", 4194304, "How much of each message body is exported.", least=1)
)
RESEND_MESSAGES_MAX = int(
    number("RESEND_MESSAGES_MAX", 10000, "How many dead-letter messages one resend may include.", least=1)
)
# Each holds a thread of the general worker and one of the web server.
DEAD_LETTER_EXPORTS = int(
    number("DEAD_LETTER_EXPORTS", 2, "How many exports of dead-letter messages may run at once.", least=1)
)
DEAD_LETTER_EXPORT_SECONDS = number("DEAD_LETTER_EXPORT_SECONDS", 3600, "How long one export may run.", least=10)
