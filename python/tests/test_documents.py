"""The code of the pages runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md"])
def test_the_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    blocks = (ROOT / page).read_text().split("```python\n")[1:]
    code = "\n".join(block.split("```")[0] for block in blocks)
    assert "biela.Model(" in code
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, page, "exec"), {})
