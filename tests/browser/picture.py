"""Writes the picture of the README: the beginning of the comparison of the example site, in few colours."""

import io
import os
import pathlib
import sys
import tempfile

from PIL import Image
from playwright.sync_api import sync_playwright

from conftest import report

WIDTH = 900
COMPARE = ["compare", "--old-file", "examples/formulas/qut.txt"]
COMPARE += ["--new", "100 * fairshare_factor + eligible_time / 3600", "--site", "examples/site"]

with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    path = pathlib.Path(folder, "report.html")
    report(path, *COMPARE)
    browser = playwright.chromium.launch(executable_path=os.environ["JSF_CHROMIUM"], args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, device_scale_factor=1)
    page.goto(path.as_uri())
    # the headline and the first chart: what is between them is read, not looked at
    page.evaluate("document.querySelectorAll('.facts, nav, section:not(:has(figure))').forEach((one) => one.remove())")
    chart = page.locator("figure").first.bounding_box()
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": chart["y"] + chart["height"] + 16}
    shot = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip))).convert("RGB")
    browser.close()
shot.quantize(16, dither=Image.Dither.NONE).save(sys.argv[1], optimize=True)
print(f"{sys.argv[1]}: {os.path.getsize(sys.argv[1]):,} bytes")
