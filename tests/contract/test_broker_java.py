"""The same broker seen by Apache Kafka's Java client; the jars come from FATHOM_KAFKA_LIBS or .servers/kafka/libs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkout import HANG_S, ROOT

LIBS = Path(os.environ.get("FATHOM_KAFKA_LIBS", ROOT / ".servers" / "kafka" / "libs"))
PROGRAM = Path(__file__).parent / "java" / "RoundTrip.java"


@pytest.mark.skipif(shutil.which("java") is None, reason="no java on the path")
@pytest.mark.skipif(not list(LIBS.glob("kafka-clients-*.jar")), reason=f"no kafka-clients jar in {LIBS}")
def test_the_java_client_produces_and_consumes_in_a_group(bootstrap: str) -> None:
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
    ran = subprocess.run(
        ["java", quiet, "-XX:TieredStopAtLevel=1", "-cp", f"{LIBS}/*", str(PROGRAM), bootstrap],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert (ran.returncode, ran.stdout.strip().splitlines()[-1:]) == (0, ["ok"]), ran.stderr
