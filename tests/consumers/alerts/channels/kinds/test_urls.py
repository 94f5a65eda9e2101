"""URLs that people enter for channels."""

import pytest
from hypothesis import given, strategies as st

from consumers.alerts.channels.kinds.addresses import WrongAddress, parsed_url
from consumers.words.reasons import stored_words


@pytest.mark.parametrize(
    ("text", "host", "port", "path", "origin"),
    [
        ("https://hooks.example.org/a?b=c", "hooks.example.org", 443, "/a?b=c", "https://hooks.example.org"),
        ("HTTP://Hooks.Example.ORG", "hooks.example.org", 80, "/", "http://hooks.example.org"),
        ("https://10.0.0.1:8443/x", "10.0.0.1", 8443, "/x", "https://10.0.0.1:8443"),
        ("http://[2001:DB8::1]:80/", "2001:db8::1", 80, "/", "http://[2001:db8::1]"),
        ("http://alert_manager:9093/am", "alert_manager", 9093, "/am", "http://alert_manager:9093"),
        ("https://xn--bcher-kva.example/?q", "xn--bcher-kva.example", 443, "/?q", "https://xn--bcher-kva.example"),
    ],
)
def test_a_url_is_taken_apart(text: str, host: str, port: int, path: str, origin: str) -> None:
    url = parsed_url(text)
    assert (url.host, url.port, url.path, url.origin) == (host, port, path, origin)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ftp://example.org/", "must begin with https:// or http://"),
        ("file:///etc/passwd", "must begin with https:// or http://"),
        ("gopher://example.org/", "must begin with"),
        ("//example.org/", "must begin with"),
        ("https://", "names no host"),
        ("https:///path", "names no host"),
        ("https://user:pw@example.org/", "Leave user and password out"),
        ("https://example.org@10.0.0.1/", "Leave user and password out"),
        ("https://example.org:443@10.0.0.1/", "Leave user and password out"),
        ("https://example.org#@10.0.0.1/", "after '#'"),
        ("https://example.org/#x", "after '#'"),
        ("https://example.org\\@10.0.0.1/", "backslashes"),
        ("https://exa mple.org/", "without spaces"),
        ("https://example.org/\r\nHost: x", "without spaces"),
        ("https://bücher.example/", "xn--"),
        ("https://127。0。0。1/", "xn--"),
        ("https://①②⑦.0.0.1/", "xn--"),
        ("http://2130706433/", "four decimal numbers"),
        ("http://0x7f000001/", "four decimal numbers"),
        ("http://0177.0.0.1/", "four decimal numbers"),
        ("http://127.1/", "four decimal numbers"),
        ("http://127.0.0.0x1/", "four decimal numbers"),
        ("http://127.0.0.1./", "four decimal numbers"),
        ("http://1.2.3.4.5/", "four decimal numbers"),
        ("http://[::1%25lo]/", "zone"),
        ("http://[1.2.3.4]/", "not a URL"),
        ("http://[::1/", "not a URL"),
        ("http://example.org:99999/", "not a URL"),
        ("http://example.org:x/", "not a URL"),
        ("http://example.org:0/", "port"),
        ("http://example.org:/", "port"),
        ("http://-x.example.org/", "names no host"),
        ("https://a..b/", "names no host"),
        ("https://example.org/" + "a" * 2000, "at most 2,000 ASCII characters"),
    ],
)
def test_what_is_no_plain_url_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(WrongAddress) as raised:
        parsed_url(text)
    assert sentence in stored_words(str(raised.value))


@given(st.text(max_size=60))
def test_any_text_is_taken_apart_or_refused(text: str) -> None:
    try:
        url = parsed_url(f"http://{text}")
    except WrongAddress:
        return
    assert url.host
    assert 1 <= url.port <= 65535
    assert url.path.startswith("/")
