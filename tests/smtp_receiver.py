"""A small real mail server on loopback (RFC 5321), which refuses whom a test tells it to."""

import email
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from typing import cast


@dataclass
class SmtpReceiver:
    """`refuse`: what is answered to a recipient instead of 250, each answer once where there are several."""

    port: int
    refuse: dict[str, list[str]] = field(default_factory=dict)
    mails: list[tuple[str, EmailMessage]] = field(default_factory=list)


@contextmanager
def smtp_receiver() -> Iterator[SmtpReceiver]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 loopback")
            while line := self.rfile.readline().decode().strip():
                verb, _, rest = line.partition(" ")
                if verb.upper() == "RCPT":
                    self.recipient = rest.partition("<")[2].partition(">")[0]
                    answers = receiver.refuse.get(self.recipient, [])
                    self.say(answers.pop(0) if answers else "250 taken")
                elif verb.upper() == "DATA":
                    self.say("354 go on")
                    self.keep()
                    self.say("250 kept")
                elif verb.upper() == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 yes")

        def keep(self) -> None:
            lines = []
            while (line := self.rfile.readline()) != b".\r\n":
                lines.append(line.removeprefix(b"."))
            mail = email.message_from_bytes(b"".join(lines), policy=default)
            receiver.mails.append((self.recipient, cast(EmailMessage, mail)))

        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver = SmtpReceiver(server.server_address[1])
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
