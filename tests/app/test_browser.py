"""The application in a real browser, as people use it: Debian's chromium, driven by Playwright.

`TACIT_PICTURES=1` has the pictures of docs/app.md taken again.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.app.conftest import FIRMS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

CHROMIUM = os.environ.get("TACIT_CHROMIUM") or shutil.which("chromium")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
WINDOW = {"width": 1200, "height": 800}
PHONE = {"width": 390, "height": 844}
PATIENCE = 120_000
"""Milliseconds to wait for something on a busy machine."""
HARMLESS = "status of 400|^htmx:(afterRequest|sendError|sendAbort)"
"""What the browser says of a page with a fault, which users see, and of requests that end because
a page is left; when the application is gone, users are told, too."""
SIDE = 316
"""Codes of each dimension of the large table, which has 100,489 cells with its totals."""
HARD = "industry,region,size,value,count\n" + "".join(
    f"i{i},r{r},s{s},{(i * 37 + r * 91 + s * 53 + i * r * s * 7) % 97 + 1},"
    f"{2 + (i * 7 + r * 5 + s * 11 + i * r + r * s) % 13}\n"
    for i in range(12)
    for r in range(10)
    for s in range(6)
)
"""Takes longer to be solved to the very end than anybody waits for."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that shares nothing with that of whoever runs the tests."""
    reason = "" if CHROMIUM else "there is no chromium; install it, or set TACIT_CHROMIUM"
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        reason = "playwright is not installed"
    if reason:
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
        )
        yield launched
        launched.close()


class Site:
    """`tacit app` in a process of its own, and a tab that has entered.

    Attributes:
        folder: The folder it was started for.
        page: The tab.
        faults: What went wrong in any tab without being told to users.
        asked: The addresses that any tab has asked for.
    """

    def __init__(self, folder: Path, browser: Browser):
        self.folder = folder
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tacit", "app", str(folder), "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._server.stdout is not None
        address = self._server.stdout.readline().strip()
        self.place = address.partition("/enter")[0]
        self.faults: list[str] = []
        self.asked: list[str] = []
        self._context = browser.new_context(
            viewport=WINDOW,  # type: ignore[arg-type]
            color_scheme="light",
            reduced_motion="reduce",
        )
        self._context.set_default_timeout(PATIENCE)
        self.page = self.tab()
        self.page.goto(address)
        self.page.get_by_text("Publish tables.").wait_for()

    def tab(self) -> Page:
        """Another tab of the same browser."""
        page = self._context.new_page()
        page.on(
            "console",
            lambda told: (
                self.faults.append(told.text)
                if told.type == "error" and not re.search(HARMLESS, told.text)
                else None
            ),
        )
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith((self.place, "data:"))
                else self.faults.append(asked.url)
            ),
        )
        page.on("request", lambda asked: self.asked.append(asked.url))
        return page

    def go(self, screen: str, page: Page | None = None) -> None:
        """Open a screen by its address."""
        (page or self.page).goto(f"{self.place}/{screen}")

    def step(self, name: str) -> None:
        """Go to a screen by the steps at the top."""
        self.page.locator("nav.steps").get_by_text(name, exact=True).click()
        self.page.wait_for_url(f"**/{name.lower()}")

    def open(self, name: str, content: str) -> None:
        """Put a file into the folder and open it from the list of files."""
        (self.folder / name).write_text(content)
        self.go("start")
        self.page.get_by_role("button", name=name).click()
        self.told(f"{name} is open")

    def told(self, words: str, page: Page | None = None) -> None:
        """Wait until the page tells something."""
        (page or self.page).locator(".note").filter(has_text=words).first.wait_for()

    def saved(self, act: Callable[[], object]) -> None:
        """Do something that is saved at once, and wait for the page as it was saved."""
        first = "document.querySelector('#main input[name=version]')"
        before = self.page.evaluate(f"{first}.value")
        act()
        self.page.wait_for_function(f"before => {first} && {first}.value !== before", arg=before)

    def done(self) -> None:
        """Wait until the table is protected."""
        self.page.get_by_role("heading", name="Done and verified").wait_for()

    def cell(self, codes: str, column: int) -> Locator:
        """A cell of the grid by the head of its row and the place of its column."""
        row = self.page.locator("#window tr").filter(
            has=self.page.get_by_role("rowheader", name=codes, exact=True)
        )
        return row.locator(f'td[aria-colindex="{column + 2}"]')

    def picture(self, name: str) -> None:
        """Take a picture for the guide, where asked to."""
        if os.environ.get("TACIT_PICTURES"):
            PICTURES.mkdir(exist_ok=True)
            self.page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")

    def kept(self) -> object:
        """What the browser has kept of the page for scripts."""
        return self.page.evaluate(
            "[{...localStorage}, {...sessionStorage}, document.cookie, history.state]"
        )

    def close(self) -> None:
        """Close the tabs and end the application as Ctrl-C does."""
        self._context.close()
        self.end()

    def end(self) -> None:
        """End the application, once."""
        self._server.terminate()
        with self._server:
            self._server.wait(30)


@pytest.fixture
def site(tmp_path: Path, browser: Browser) -> Iterator[Site]:
    """The application on an empty folder; nothing may go wrong in the browser unseen."""
    made = Site(tmp_path, browser)
    yield made
    made.close()
    assert made.faults == []


def test_from_a_file_to_a_published_table(site: Site, shared: Path) -> None:
    """Records of firms become a table for readers, byte by byte that of the command line."""
    page = site.page
    page.locator("#file").set_input_files(shared / "tables" / "rtauargus" / "firms.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    site.told("firms.csv is open")
    roles = {"A21": "code", "NUTS2": "code", "TURNOVER": "value", "WEIGHT": "none"}
    names = page.locator("table.columns tbody th").all_inner_texts()
    for place, name in enumerate(names):
        radio = page.locator(f"#role-{place}-{roles.get(name, 'none')}")
        if not radio.is_checked():
            site.saved(page.locator(f'label[for="{radio.get_attribute("id")}"]').click)
    page.get_by_role("link", name="Next: Table").click()
    page.get_by_text("relations").wait_for()
    site.saved(page.locator('label[for="way-1-lengths"]').click)
    page.locator("#lengths-1").fill("3, 4")
    site.saved(lambda: page.locator("#lengths-1").press("Tab"))
    page.locator("#trees details summary").filter(has_text="FR1").first.wait_for()
    page.get_by_role("link", name="Next: Rules").click()
    for rule in ("Minimum frequency", "p % rule"):
        page.get_by_role("button", name=rule).click()
        page.get_by_role("heading", name=rule).wait_for()
    page.get_by_text(re.compile(r"of .* cells are sensitive")).wait_for()
    site.step("Protect")
    page.get_by_label("Time").first.fill("50")
    page.get_by_role("button", name="Protect", exact=True).click()
    site.done()
    page.get_by_role("link", name="Look at the table").click()
    page.locator("#window td.secondary").first.click()
    page.locator("#cell").get_by_text("Why", exact=False).first.wait_for()
    page.locator("#cell pre.why").wait_for()
    page.locator("svg.heat").wait_for()
    site.step("Publish")
    page.frame_locator("iframe.preview").locator("table").first.wait_for()
    page.locator("#output-csv").check()
    page.get_by_role("button", name="Write", exact=False).first.click()
    site.told("Written: firms-published.csv")
    with page.expect_download() as started:
        page.get_by_role("link", name=re.compile("Download.*CSV")).click()
    made = Path(started.value.path()).read_bytes()
    page.locator("#job-name").fill("firms.toml")
    page.get_by_role("button", name="Save").click()
    site.told("tacit protect firms.toml")
    written = site.folder / "firms-published.csv"
    assert written.read_bytes() == made
    written.unlink()
    assert site.kept() == [{}, {}, "", None]
    # Addresses say what is looked at by numbers and names of dimensions, never by figures.
    asked = {key for url in site.asked for key, _ in parse_qsl(urlsplit(url).query)}
    where = {"top", "left", "height", "width"}
    assert asked <= {"token", "cell", "what", "rows", "columns", "only", *where}
    # In a process of its own: the browser is a child of this one.
    command = [sys.executable, "-m", "tacit", "protect", str(site.folder / "firms.toml")]
    subprocess.run([*command, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    assert written.read_bytes() == made


def test_a_large_table_scrolls_in_both_directions(site: Site) -> None:
    """Of 100,000 cells only those in sight are in the page, and each is the right one."""
    rows = [
        f"r{row:03d},c{column:03d},{row * 1000 + column},5\n"
        for row in range(SIDE)
        for column in range(SIDE)
    ]
    site.open("large.csv", "row,column,value,count\n" + "".join(rows))
    site.step("Look")
    page = site.page
    grid = page.locator("#grid")
    site.cell("Total", 0).wait_for()
    assert grid.get_attribute("aria-rowcount") == str(SIDE + 2)
    last = SIDE - 1
    for row, column in ((last, last), (0, last), (157, 157), (last, 0), (0, 0)):
        grid.evaluate(
            "(grid, [row, column]) => grid.scrollTo(column * 110 - 150, row * 28 - 100)",
            [row, column],
        )
        found = site.cell(f"r{row:03d}", column + 1)
        found.wait_for()
        assert found.get_attribute("title") == f"{row * 1000 + column:,}".replace(",", "\u202f")
        assert page.locator("#window td").count() < 1000
    page.locator("#words").press_sequentially("r200")
    page.get_by_role("button", name="r200").click()
    site.cell("r200", 1).click()
    page.locator("#cell").get_by_text("row=r200").wait_for()
    page.keyboard.press("ArrowDown")
    site.cell("r201", 1).wait_for()
    assert page.evaluate("document.activeElement.title") == "201\u202f000"


def test_wrong_inputs_are_told_on_every_screen(site: Site) -> None:
    """What cannot be is told where it was entered, and everything else stays as it was."""
    page = site.page
    page.locator("#file").set_input_files(
        {"name": "virus.exe", "mimeType": "text/csv", "buffer": b"x"}
    )
    page.get_by_role("button", name="Open", exact=True).click()
    site.told("no kind that can be opened")
    site.open("firms.csv", FIRMS)
    # Data: two columns with one role.
    site.saved(page.locator('label[for="role-0-value"]').click)
    site.told("Only one column can be the value")
    assert page.locator("#role-3-value").is_checked()
    assert page.locator("#role-0-contributor").is_checked()
    site.step("Table")
    site.saved(page.locator('label[for="way-0-lengths"]').click)
    page.locator("#lengths-0").fill("two")
    site.saved(lambda: page.locator("#lengths-0").press("Tab"))
    site.told("lengths")
    assert page.locator("#lengths-0").input_value() == "two"
    site.saved(page.locator('label[for="way-0-flat"]').click)
    page.get_by_text("9 cells").wait_for()
    site.step("Rules")
    page.get_by_role("button", name="p % rule").click()
    page.locator("#rule-0-p").fill("ten")
    site.saved(lambda: page.locator("#rule-0-p").press("Tab"))
    site.told("must be a number")
    assert page.locator("#rule-0-p").input_value() == "ten"
    assert page.locator("#rule-0-p").get_attribute("aria-invalid") == "true"
    page.locator("#steps li.wrong").get_by_text("Rules", exact=True).wait_for()
    page.get_by_role("button", name="Undo").click()
    page.locator('#rule-0-p[value="10"]').wait_for()
    site.step("Protect")
    page.locator("#time_limit").fill("soon")
    site.saved(lambda: page.locator("#time_limit").press("Tab"))
    site.told("must be a number")
    assert page.get_by_role("button", name="Protect", exact=True).is_disabled()
    page.locator("#time_limit").fill("50")
    site.saved(lambda: page.locator("#time_limit").press("Tab"))
    page.get_by_role("button", name="Protect", exact=True).click()
    site.done()
    site.go("look?rows=nonsense")
    site.told("no dimension nonsense")
    site.cell("Food", 1).wait_for()
    site.step("Publish")
    page.get_by_role("button", name="Write", exact=False).first.click()
    site.told("Tick the files")
    page.locator("#job-name").fill("../firms.exe")
    page.get_by_role("button", name="Save", exact=True).click()
    site.told("must end in .toml")
    assert sorted(path.name for path in site.folder.iterdir()) == [".tacit", "firms.csv"]


def test_reload_back_and_stop_in_the_middle(site: Site) -> None:
    """Neither loses anything; a search that is stopped keeps its best result, in every tab."""
    page = site.page
    site.open("cells.csv", HARD)
    site.step("Rules")
    page.get_by_role("button", name="Minimum frequency").click()
    page.locator("#rule-0-minimum").fill("4")
    site.saved(lambda: page.locator("#rule-0-minimum").press("Tab"))
    page.reload()
    assert page.locator("#rule-0-minimum").input_value() == "4"
    page.locator("#rule-0-minimum").fill("3")
    site.saved(lambda: page.locator("#rule-0-minimum").press("Tab"))
    site.step("Protect")
    page.go_back()
    # As it was saved, not as the browser first saw it.
    page.locator('#rule-0-minimum[value="3"]').wait_for()
    page.go_forward()
    page.locator("details.more summary").first.click()
    page.locator("#gap").fill("0")
    page.locator("#time_limit").fill("600")
    page.get_by_role("button", name="Protect", exact=True).click()
    stop = page.get_by_role("button", name="Stop and keep the best")
    stop.focus()
    page.reload()
    page.locator("#progress .key.best").wait_for()
    page.go_back()
    page.locator("#rule-0-minimum").wait_for()
    page.go_forward()
    stop.focus()
    # The figures are replaced every second; whoever is at the button stays there.
    first = page.locator("#progress > p").inner_text()
    page.locator("#progress > p").filter(has_not_text=first).wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Stop and keep the best"
    other = site.tab()
    site.go("protect", other)
    other.locator("#progress .key.best").wait_for()
    page.keyboard.press("Enter")
    site.done()
    other.get_by_role("heading", name="Done and verified").wait_for()
    # The step at the top has been told, too.
    other.locator("#steps li.done").get_by_text("Look", exact=True).wait_for()
    assert page.locator("#said").inner_text() == "Done and verified"
    page.get_by_text("How the search ended").click()
    page.locator("#run").get_by_text("feasible").wait_for()
    page.get_by_role("link", name="Publish", exact=True).first.click()
    page.get_by_text("cannot deduce").first.wait_for()


def test_what_is_typed_meanwhile_stays(site: Site) -> None:
    """A page that is saved takes away nothing that is typed in the next field, nor presses it."""
    site.open("firms.csv", FIRMS)
    page = site.page
    site.step("Rules")
    site.saved(page.get_by_role("button", name="Minimum frequency").click)
    page.locator("#rule-0-holding").focus()
    page.keyboard.press("Space")
    # Behind the help comes a button that removes the rule: being there is not pressing it.
    page.keyboard.press("Tab")
    site.saved(lambda: page.keyboard.press("Tab"))
    assert page.locator("#rule-0-holding").is_checked()
    site.step("Protect")
    page.locator("details.more summary").first.click()
    page.locator("#gap").fill("0.5")
    page.locator("#time_limit").focus()
    # Typed while the form is on its way, and not finished when it comes back.
    site.saved(lambda: page.locator("#time_limit").fill("7"))
    assert page.locator("#time_limit").input_value() == "7"
    page.locator("#time_limit").fill("75")
    site.saved(lambda: page.locator("#time_limit").press("Tab"))
    page.reload()
    assert page.locator("#time_limit").input_value() == "75"
    page.locator("details.more summary").first.click()
    assert page.locator("#gap").input_value() == "0.5"
    # When the application has ended, the page says so.
    site.end()
    page.locator("#gap").fill("0.6")
    page.locator("#gap").press("Tab")
    site.told("The application does not answer")
    assert site.faults == ["Failed to load resource: net::ERR_CONNECTION_REFUSED"]
    site.faults.clear()


def test_two_tabs_notice_each_other(site: Site) -> None:
    """A change on a page that has become old is refused and told, and nothing is lost."""
    site.open("firms.csv", FIRMS)
    site.step("Rules")
    other = site.tab()
    site.go("rules", other)
    for page in (site.page, other):
        page.get_by_role("button", name="Zeros").wait_for()
    site.saved(site.page.get_by_role("button", name="p % rule").click)
    other.get_by_role("button", name="Zeros").click()
    site.told("changed in another tab", other)
    other.get_by_role("heading", name="p % rule").wait_for()
    assert other.get_by_role("heading", name="Zeros").count() == 0
    other.get_by_role("button", name="Zeros").click()
    other.get_by_role("heading", name="Zeros").wait_for()


def test_light_dark_and_small(
    tmp_path: Path, browser: Browser, request: pytest.FixtureRequest
) -> None:
    """Every screen can be read in light and dark, and no page is wider than a phone."""
    folder = tmp_path / "statistics"
    folder.mkdir()
    site = Site(folder, browser)
    request.addfinalizer(site.close)
    page = site.page
    page.get_by_role("button", name="Try it with sample data").click()
    site.done()
    for name in ("start", "data", "table", "rules", "protect", "look", "publish"):
        site.go(name)
        page.wait_for_load_state("networkidle")
        if name == "look":
            page.locator("#window td.secondary").first.click()
            page.locator("#cell pre.why").wait_for()
        assert page.evaluate(FAINT) == [], name
        site.picture(name)
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(FAINT) == [], f"{name} in the dark"
        if name == "look":
            site.picture("look-dark")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], name
        if name == "rules":
            site.picture("phone")
        page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
    assert site.faults == []


FAINT = """() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return parts(getComputedStyle(document.body).backgroundColor);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const words = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const off = element.closest("[aria-disabled],:disabled,svg");
    if (!words || off || !element.checkVisibility()) continue;
    const [one, two] = [light(parts(getComputedStyle(element).color)), light(behind(element))];
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < 4.5) found.push(`${element.textContent.trim().slice(0, 30)} ${contrast}`);
  }
  return [...new Set(found)];
}"""
"""Texts whose contrast to what is behind them is too low to be read by everybody."""
