"""Where a Qdrant server is called, by the URL that an operator gives."""

import pytest

from streams.stores.passages.qdrant_connection import base_of, proxy_of


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://qdrant:6333", "http://qdrant:6333"),
        ("http://qdrant", "http://qdrant:6333"),
        ("https://index.example.com:443/qdrant/", "https://index.example.com:443/qdrant"),
        ("http://[::1]:6400", "http://[::1]:6400"),
    ],
)
def test_a_url_without_a_port_means_the_servers_own_and_a_path_stays(url: str, base: str) -> None:
    assert base_of(url) == base


def test_the_proxy_is_the_one_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert proxy_of("https://index.example.com:6333") is None
    monkeypatch.setenv("HTTPS_PROXY", "http://gate:3128")
    monkeypatch.setenv("NO_PROXY", "localhost,.internal")
    assert proxy_of("https://index.example.com:6333") == "http://gate:3128"
    assert proxy_of("http://index.example.com:6333") is None
    assert proxy_of("https://qdrant.internal:6333") is None
    monkeypatch.setenv("ALL_PROXY", "http://all:3128")
    assert proxy_of("http://index.example.com:6333") == "http://all:3128"
