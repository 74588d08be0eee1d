"""Parts of SVG charts for documents: one style sheet for light and dark pages, axes, text. Equal figures give equal bytes."""
from html import escape

STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#3a3a38}.title{font-size:17px;font-weight:600}.small{font-size:10.5px;"
    "fill:#6b6b67}.middle{text-anchor:middle}.end{text-anchor:end}.page{fill:#fcfcfa}.grid{stroke:#e4e4df}"
    ".axis{stroke:#a9a9a2}"
)
DARK = "text{fill:#dadad6}.small{fill:#a2a29c}.page{fill:#1a1b1e}.grid{stroke:#34363a}.axis{stroke:#6d6f75}"


def style(light, dark):
    """The style sheet with the classes of one chart."""
    return f"{STYLE}{light}@media(prefers-color-scheme:dark){{{DARK}{dark}}}"


def opening(width, height, name, title, sheet, left):
    """The first lines of a chart: its accessible name, its style sheet, its title."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}">',
        f"<style>{sheet}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        f'<text class="title" x="{left}" y="30">{escape(title)}</text>',
    ]


def place(number):
    """A coordinate: whole numbers as they are, others with a tenth."""
    return f"{number:.1f}" if isinstance(number, float) else str(number)


def line(kind, x1, y1, x2, y2):
    return f'<line class="{kind}" x1="{place(x1)}" y1="{place(y1)}" x2="{place(x2)}" y2="{place(y2)}"/>'


def text(kind, x, y, words):
    return f'<text class="{kind}" x="{place(x)}" y="{place(y)}">{escape(words)}</text>'


def polyline(kind, points):
    return f'<polyline class="{kind}" points="{" ".join(f"{place(x)},{place(y)}" for x, y in points)}"/>'


def write_or_check(picture, drawn, check, tool):
    """Writes a file, or says with the exit status whether it is what the figures say."""
    if not check:
        picture.write_text(drawn, encoding="utf-8")
        return 0
    if picture.is_file() and picture.read_text(encoding="utf-8") == drawn:
        return 0
    print(f"{picture} is not what the figures say; {tool} writes it anew")
    return 1
