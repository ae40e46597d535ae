#!/usr/bin/env python3
"""Looks at a page from disk in headless Chromium, over the DevTools pipe, and prints what it found as
JSON: for each width and colour scheme what leaves the viewport, overlaps, is hard to read or was
asked of the network; where the tab key leads; how large the page is and how long it took to open.

browser.py PAGE [--shots DIR] [--open N]    opens the first N <details> before it looks (default 40)
browser.py PAGE --size                      only how large it is and how long it took
"""
import argparse
import base64
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

WIDTHS = (1280, 1181, 1024, 390)
SCHEMES = ("light", "dark")

# Every text as it is seen: its boxes, its colour and what is painted behind it.
LOOK = r"""(() => {
  const colour = text => {
    const n = text.match(/[\d.]+/g).map(Number);
    return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
  };
  const light = ([r, g, b]) => {
    const c = [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  };
  const behind = at => {
    const group = at.closest('g.state');
    if (group) return colour(getComputedStyle(group.querySelector('rect')).fill);
    for (; at; at = at.parentElement) {
      const found = colour(getComputedStyle(at).backgroundColor);
      if (found[3] === 1) return found;
    }
    return [255, 255, 255, 1];
  };
  const texts = [], faint = [], outside = [], over = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, at = node.parentElement;
    if (!node.data.trim() || !at.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}) || at.closest('.skip, title')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(at), what = node.data.trim().slice(0, 40);
    const ink = at.closest('svg') ? style.fill : style.color;
    const a = light(colour(ink)), b = light(behind(at));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(what + ' ' + ratio.toFixed(2));
    const frame = at.closest('.tall, figure'), clip = frame && frame.getBoundingClientRect();
    for (const box of range.getClientRects()) {
      if (box.width < 1 || (clip && (box.bottom > clip.bottom + 1 || box.top < clip.top - 1))) continue;
      if (box.right > innerWidth + 1 || box.left < -1) outside.push(what);
      const card = at.closest('g.state') && at.closest('g.state').querySelector('rect').getBoundingClientRect();
      if (card && (box.right > card.right || box.left < card.left || box.bottom > card.bottom + 1)) outside.push('card: ' + what);
      texts.push([box.top + scrollY, box.bottom + scrollY, box.left, box.right, what, node]);
    }
  }
  texts.sort((a, b) => a[0] - b[0]);
  texts.forEach((a, i) => {
    for (let k = i + 1; k < texts.length && texts[k][0] < a[1] - 2; k++)
      if (texts[k][5] !== a[5] && texts[k][2] < a[3] - 1 && a[2] < texts[k][3] - 1) over.push(a[4] + ' / ' + texts[k][4]);
  });
  const boxes = [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.closest('.skip'));
  for (const e of boxes)
    if (e.getBoundingClientRect().right > innerWidth + 1) outside.push('<' + e.tagName + '> ' + e.className);
  const sideways = [...document.querySelectorAll('.tall, figure')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.className);
  return {texts: texts.length, sideways, faint, outside, overlap: over, wide: document.documentElement.scrollWidth - innerWidth,
    tall: Math.round(document.body.getBoundingClientRect().height)};
})()"""

FOCUS = r"""(() => {
  const at = document.activeElement, style = getComputedStyle(at);
  if (at === document.body) return null;
  const box = at.getBoundingClientRect();
  return {index: [...document.querySelectorAll('a[href], summary')].indexOf(at),
    ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
    seen: box.bottom > 0 && box.top < innerHeight && box.right > 0};
})()"""


class Browser:
    def __init__(self, profile):
        to_child, self.ours_out = os.pipe()
        self.ours_in, from_child = os.pipe()

        def descriptors():
            # Away from 3 and 4 first: either may be one of those still needed.
            a, b = os.dup(to_child), os.dup(from_child)
            high_a, high_b = os.dup2(a, 100), os.dup2(b, 101)
            os.dup2(high_a, 3)
            os.dup2(high_b, 4)

        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.child = subprocess.Popen(
            ["chromium", "--headless=new", *sandbox, "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=descriptors, close_fds=False, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.number, self.session, self.rest, self.events = 0, None, b"", []

    def _message(self):
        while b"\0" not in self.rest:
            chunk = os.read(self.ours_in, 1 << 20)
            if not chunk:
                raise SystemExit("browser.py: chromium ended")
            self.rest += chunk
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ours_out, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise SystemExit(f"browser.py: {method}: {answer['error']}")
        return answer["result"]

    def until(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self._message())

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"browser.py: {result['exceptionDetails']}")
        return result["result"].get("value")

    def paint(self):
        """Waits until what was asked for is on the screen: two frames."""
        self.call("Runtime.evaluate", awaitPromise=True,
                  expression="new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def open_page(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(domain + ".enable")
        self.events.clear()
        began = time.monotonic()
        self.call("Page.navigate", url=url)
        self.until("Page.loadEventFired")
        self.paint()
        return round(time.monotonic() - began, 3)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.paint()

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def shot(self, path):
        height = min(self.evaluate("document.body.offsetHeight"), 12000)
        self.size(self.evaluate("innerWidth"), height)
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": self.evaluate("innerWidth"), "height": height, "scale": 1})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def end(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()


def tab_through(browser):
    """The order in which the tab key visits what can be used, until it leaves the page."""
    stops = []
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = false); scrollTo(0, 0)")
    for _ in range(500):
        browser.press("Tab")
        focus = browser.evaluate(FOCUS)
        if focus is None or any(s["index"] == focus["index"] for s in stops):
            break
        stops.append(focus)
    return {
        "order": [s["index"] for s in stops],
        "expected": browser.evaluate("document.querySelectorAll('a[href], summary').length"),
        "unmarked": [s["index"] for s in stops if not s["ring"]],
        "unseen": [s["index"] for s in stops if not s["seen"]],
    }


def toggles(browser):
    """Whether the enter key opens the first step."""
    before = browser.evaluate("document.querySelectorAll('details[open]').length")
    browser.evaluate("document.querySelector('summary') && document.querySelector('summary').focus()")
    browser.press("Enter")
    return browser.evaluate("document.querySelectorAll('details[open]').length") != before


def on_paper(browser):
    """How many of the closed steps a print shows, and what it cuts off."""
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = false)")
    browser.paint()
    shown = browser.evaluate("[...document.querySelectorAll('.body')].filter(b => b.getBoundingClientRect().height > 0).length")
    cut = browser.evaluate("[...document.querySelectorAll('.tall, figure')].filter(b => b.scrollHeight > b.clientHeight + 1).length")
    browser.call("Emulation.setEmulatedMedia", media="")
    return shown, cut


def look(browser, page, options):
    found = {"opened_secs": browser.open_page(pathlib.Path(page).resolve().as_uri()), "views": {}}
    found["nodes"] = browser.evaluate("document.getElementsByTagName('*').length")
    if options.size:
        return found
    browser.size(WIDTHS[0], 800)
    found["keyboard"] = tab_through(browser)
    found["enter_toggles"] = toggles(browser)
    browser.evaluate(f"[...document.querySelectorAll('details')].slice(0, {options.open}).forEach(d => d.open = true)")
    browser.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    for width in WIDTHS:
        for scheme in SCHEMES:
            # Make it as high as the page, because parts outside the screen are not laid out.
            browser.size(width, 12000)
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            found["views"][f"{width} {scheme}"] = browser.evaluate(LOOK)
            if options.shots:
                browser.shot(f"{options.shots}/{width}-{scheme}.png")
    found["on_paper"], found["cut_on_paper"] = on_paper(browser)
    found["requests"] = [e["params"]["request"]["url"] for e in browser.events
                         if e.get("method") == "Network.requestWillBeSent"]
    found["complaints"] = [e["params"]["entry"]["text"] for e in browser.events
                           if e.get("method") == "Log.entryAdded"]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--shots")
    parser.add_argument("--open", type=int, default=40)
    parser.add_argument("--size", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            print(json.dumps(look(browser, options.page, options), indent=1))
        finally:
            browser.end()


main()
