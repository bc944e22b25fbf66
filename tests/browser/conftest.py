"""A real browser without a window, and pages to look at. Screenshots go to build/screenshots."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"


class Browser:
    """Chromium, driven by selenium."""

    def __init__(self, chromium: str, driver: str) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for word in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
        ):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))

    def open(self, page: Path, width: int, height: int = 1500) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get(page.absolute().as_uri())

    def run(self, script: str):
        return self.driver.execute_script(script)

    def complaints(self) -> list[dict]:
        return self.driver.get_log("browser")

    def save(self, name: str) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        assert self.driver.save_screenshot(str(path))
        return path


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        why = "there is no chromium with chromedriver (Debian has them as chromium and chromium-driver)"
        if os.environ.get("PARQUETRY_BROWSER") == "required":
            pytest.fail(why)
        pytest.skip(why)
    found = Browser(chromium, driver)
    yield found
    found.driver.quit()
