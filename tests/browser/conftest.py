"""The browser, the binary, and pages that fail the test on any message of theirs."""

import json
import os
import pathlib
import subprocess

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]


def jsf(*arguments):
    """Standard output of a command, which may end with findings."""
    ended = subprocess.run(
        [os.environ["JSF_BINARY"], *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout


def report(path, *arguments):
    """Writes a page, and returns the JSON document of the same command."""
    document = json.loads(jsf(*arguments, "--format", "json", "--report", str(path)))
    assert path.exists(), arguments
    return document


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=os.environ["JSF_CHROMIUM"], args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens a file as a page. A message on the console, an error, a violation of the policy, a dialog or a request for
    anything but the file itself fails the test."""
    pages, messages = [], []

    def open_page(path, **options):
        page = browser.new_page(**{"viewport": {"width": 1000, "height": 900}, **options})
        page.on("console", lambda message: messages.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: messages.append(f"error: {error.message}"))
        page.on("dialog", lambda dialog: (messages.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url == path.as_uri() or messages.append(f"request: {request.url}"))
        page.add_init_script(
            "document.addEventListener('securitypolicyviolation',"
            " (event) => console.error('policy', event.violatedDirective, event.blockedURI))"
        )
        page.set_default_timeout(5000)
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert messages == []
