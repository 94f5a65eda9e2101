from pathlib import Path

import pytest

from dashboard.launch.launcher import DemoWatch, namesrv_of


@pytest.mark.parametrize(
    ("line", "namesrv"),
    [
        ('{"namesrv": "127.0.0.1:20001", "cluster": "DemoCluster"}', "127.0.0.1:20001"),
        ("RocketMQ 5.4.0: 30 jars have arrived", None),
        ("{not json", None),
        ('{"cluster": "DemoCluster"}', None),
        ('{"namesrv": null}', None),
    ],
)
def test_it_reads_the_name_server_from_the_announcement_alone(line: str, namesrv: str | None) -> None:
    assert namesrv_of(line) == namesrv


def test_it_tells_progress_until_the_demo_serves_and_follows_each_new_start(tmp_path: Path) -> None:
    log, said, served = tmp_path / "demo.log", [], []
    watch = DemoWatch(log, say=said.append, serves=served.append)
    log.write_text("30 jars have arrived\n")
    watch.look()
    assert not watch.is_up
    for port in (1, 2):
        with log.open("a") as file:
            file.write(f'{{"namesrv": "127.0.0.1:{port}"}}\nan actor says something\n')
        watch.look()
    assert (said, served, watch.is_up) == (["  30 jars have arrived"], ["127.0.0.1:1", "127.0.0.1:2"], True)
