"""Health and metrics at a real socket."""

from urllib.request import urlopen

from streams.runtime.health import Health, HealthServer
from streams.version import version


def test_the_metrics_name_the_running_version():
    server = HealthServer(Health(lambda: {"groups": {}}), "127.0.0.1", 0)
    server.start()
    try:
        with urlopen(f"http://{server.address}/metrics", timeout=5) as answer:
            page = answer.read().decode()
    finally:
        server.stop()
    assert f'fathom_build_info{{version="{version()}"}} 1.0' in page.splitlines()
