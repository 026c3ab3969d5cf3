"""What an error must look like, and docs/errors.md as the list that messages are held against."""

import functools
import re

import harness


@functools.cache
def documented():
    """[(pattern, exit status)] of the tables in docs/errors.md: `text with <placeholders>` | status | ..."""
    rows = []
    for line in (harness.SOURCE / "docs" / "errors.md").read_text().splitlines():
        cells = re.match(r"\| `(.+?)` \| (\d+) \|", line)
        if cells:
            parts = re.split(r"<[a-z ]+>", cells[1])
            rows.append((re.compile("(.*: )?" + ".*".join(map(re.escape, parts))), int(cells[2])))
    assert len(rows) > 20
    return rows


def expect(done, status, *texts):
    """The tool ended with `status` and said each of `texts`; every error line is one of docs/errors.md."""
    shown = f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == status, shown
    for text in texts:
        assert text in done.stderr, f"need '{text}' in\n{shown}"
    assert "Stack dump" not in done.stderr and "Assertion" not in done.stderr, shown
    messages = re.findall(r"^(?:plimc: error|plim-run): (.+)$", done.stderr, re.M)
    assert messages, shown
    for message in messages:
        assert any(code == status and pattern.fullmatch(message) for pattern, code in documented()), \
            f"no line of docs/errors.md with status {status} says: {message}"
