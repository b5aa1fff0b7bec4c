"""One table for terminals, Markdown and HTML, and names that are shown as they are."""

from synthbench.text.tables import Heading, Table, items, render, styled

SCORES = Table(
    ["split", "rows"],
    [["test", "40"], Heading(["depth", "rows"]), ["1 <b>", styled("1,000", "red")]],
    right=[1],
    title="Rows & depths",
    notes=["Depths are counted from 1."],
)


def test_a_terminal_sees_a_heading_apart_and_the_notes_below():
    assert render(SCORES).splitlines() == [
        "split   rows",
        "test      40",
        "",
        "depth   rows",
        "1 <b>  1,000",
        "Depths are counted from 1.",
    ]


def test_markdown_has_the_cells_as_they_are():
    assert SCORES.markdown().splitlines() == [
        "| split | rows |",
        "| --- | ---: |",
        "| test | 40 |",
        "| **depth** | **rows** |",
        "| 1 <b> | 1,000 |",
    ]


def test_html_names_rows_and_columns_and_escapes_every_text():
    assert SCORES.html().splitlines() == [
        "<table><caption>Rows &amp; depths</caption>",
        '<thead><tr><th scope="col">split</th><th scope="col" class="right">rows</th></tr></thead>',
        "<tbody>",
        '<tr><th scope="row">test</th><td class="right">40</td></tr>',
        '<tr><th scope="col">depth</th><th scope="col" class="right">rows</th></tr>',
        '<tr><th scope="row">1 &lt;b&gt;</th><td class="right">1,000</td></tr>',
        "</tbody>",
        "</table>",
    ]
    assert "\\x07" in Table(["\x07"], []).html() and "<caption>" not in Table([], []).html()


def test_a_table_wraps_within_its_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    made = Table(
        ("name", "rows", "what it is"), [("a-long-name", "1,000", "seven words " * 4)], {1}
    )
    assert render(made).splitlines() == [
        "name          rows  what it is",
        "a-long-name  1,000  seven words seven",
        "                    words seven words",
        "                    seven words",
    ]
    assert render(items(["seven words " * 5])).splitlines() == [
        "- seven words seven words seven words",
        "  seven words seven words",
    ]


def test_names_are_shown_as_they_are_and_never_obeyed():
    name = "[red]a[/red] :smile: \x1b[31m\x07"
    shown = r"[red]a[/red] :smile: \x1b[31m\x07"
    parts = (name, Table((name,), [(name,)]), items([name]), styled(name, "green"))
    lines = render(*parts).splitlines()
    assert lines == [shown, shown, shown, f"- {shown}", shown]
    assert render(*parts, colors=True).count("\x1b[") == 4  # bold and green, on and off
