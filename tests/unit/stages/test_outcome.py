"""What is remembered of how runs ended."""

from transforms.stages import outcome
from transforms.stages.outcome import forget_old_outcomes
from transforms.storage.local import LocalStore


def test_of_all_runs_the_newest_are_remembered_with_all_that_they_left(tmp_path, monkeypatch):
    monkeypatch.setattr(outcome, "KEPT", 2)
    store = LocalStore(str(tmp_path))
    for day in (1, 2, 3, 4):
        store.write(f"runs/2026010{day}T000000Z-x{day}.json", b"{}")
    for day in (2, 4):
        store.write(f"runs/2026010{day}T000000Z-x{day}.rejected.parquet", b"")
    forget_old_outcomes(store)
    assert [info.name for page in store.list() for info in page] == [
        "runs/20260103T000000Z-x3.json",
        "runs/20260104T000000Z-x4.json",
        "runs/20260104T000000Z-x4.rejected.parquet",
    ]
    forget_old_outcomes(store)
    assert len([info for page in store.list() for info in page]) == 3
