// Opens a report in headless Chromium from disk, and fails on whatever a reader would stumble over.
//
//   NODE_MODULES=DIR node tests/browser/report.mjs REPORT.html [FOLDER FOR SCREENSHOTS]
//
// DIR holds playwright-core; CHROMIUM is the browser, by default `chromium` on the path.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , file, screenshots] = process.argv;
const { chromium } = createRequire(join(resolve(process.env.NODE_MODULES), "x"))("playwright-core");
const page_url = pathToFileURL(resolve(file)).href;
const arguments_ = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const executablePath = process.env.CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();

// With a profile of its own, gone at the end.
const browser = await chromium.launch({ executablePath, args: arguments_ });

async function open(options, check) {
  const context = await browser.newContext(options);
  const complaints = [];
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url().split("#")[0];
    if (url !== page_url && !url.startsWith("data:")) complaints.push(`request: ${url}`);
  });
  await page.goto(page_url, { waitUntil: "load" });
  await check(page);
  assert.deepEqual(complaints, []);
  await context.close();
}

const picture = (page, name) =>
  screenshots ? page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true }) : null;

// Shown numbers of a column of the table of runs, from top to bottom; null for what does not exist.
const numbers = (page, column) =>
  page.$$eval(`#table-runs tbody tr:not([hidden]) > :nth-child(${column + 1})`, (cells) =>
    cells.map((cell) => Number.parseFloat(cell.textContent)).map((number) => (Number.isNaN(number) ? null : number)));

const sorted = (values, direction) => {
  const there = values.filter((value) => value !== null).sort((a, b) => direction * (a - b));
  return [...there, ...values.filter((value) => value === null)];
};

async function tablesSort(page) {
  const headings = page.locator("#table-runs thead th");
  const count = await headings.count();
  assert.ok(count > 3);
  for (const column of [2, 3, count - 1]) {
    const before = await numbers(page, column);
    const heading = headings.nth(column);
    await heading.locator("button").click();
    assert.equal(await heading.getAttribute("aria-sort"), "ascending");
    assert.deepEqual(await numbers(page, column), sorted(before, 1));
    await heading.locator("button").focus();
    await page.keyboard.press("Enter");
    assert.equal(await heading.getAttribute("aria-sort"), "descending");
    assert.deepEqual(await numbers(page, column), sorted(before, -1));
    assert.equal(await page.locator("#table-runs th[aria-sort]").count(), 1);
  }
  await headings.first().locator("button").focus();
  await page.keyboard.press("Space");
  const names = await page.$$eval("#table-runs tbody tr > :first-child", (cells) => cells.map((cell) => cell.textContent));
  assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true })));
}

async function tablesFilter(page) {
  const rows = page.locator("#table-runs tbody tr");
  const all = await rows.count();
  assert.ok(all > 8, `${all} rows have no filter`);
  const word = await rows.first().locator("th, td").nth(1).textContent();
  const box = page.locator("#table-runs input[type=search]");
  await box.fill(word.toUpperCase());
  const shown = await page.$$eval("#table-runs tbody tr:not([hidden])", (rows) => rows.map((row) => row.textContent));
  assert.ok(shown.length > 0 && shown.length < all && shown.every((text) => text.includes(word)));
  assert.equal(await page.locator("#table-runs .under span").textContent(), `${shown.length} of ${all} rows`);
  await box.fill("");
  assert.equal(await page.locator("#table-runs tbody tr:visible").count(), all);
}

async function tablesDownload(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#table-runs a[download]").click()]);
  assert.equal(download.suggestedFilename(), "runs.csv");
}

// Nothing is wider than the window but what scrolls by itself.
async function fits(page) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `the page is ${content} pixels wide in a window of ${window}`);
}

// The first screen shows the answer and a chart.
async function answersFirst(page) {
  const [text, bottom] = await page.$eval("#summary", (summary) => [
    [...summary.querySelectorAll("p")].map((paragraph) => paragraph.textContent).join(" "),
    summary.querySelector("figure .screen").getBoundingClientRect().bottom,
  ]);
  assert.ok(/the (fastest|slowest)/.test(text), text);
  assert.ok(bottom < page.viewportSize().height, `the first chart ends at ${bottom}`);
}

// One drawing of each chart is visible, and its text is not small.
async function chartsAreReadable(page) {
  const charts = await page.$$eval("figure", (figures) =>
    figures.map((figure) => {
      const visible = [...figure.querySelectorAll("svg")].filter((svg) => svg.checkVisibility());
      const scale = visible[0].getBoundingClientRect().width / visible[0].viewBox.baseVal.width;
      return [figure.id, visible.length, 7 * scale];
    }));
  for (const [name, visible, size] of charts) {
    assert.ok(visible === 1 && size >= 10, `${name}: ${visible} drawings, text of ${size} pixels`);
  }
}

async function leadsSomewhere(page) {
  const dead = await page.$$eval("a[href^='#']", (links) =>
    links.map((link) => link.getAttribute("href").slice(1)).filter((id) => !document.getElementById(id)));
  assert.deepEqual(dead, []);
  const ids = await page.$$eval("[id]", (all) => all.map((element) => element.id));
  assert.deepEqual(ids.filter((id, at) => ids.indexOf(id) !== at), [], "ids are unique");
}

try {
  await open({ viewport: { width: 1280, height: 900 } }, async (page) => {
    await picture(page, "light");
    await leadsSomewhere(page);
    await fits(page);
    await page.locator("#table-runs summary").click();
    await tablesFilter(page);
    await tablesSort(page);
    await tablesDownload(page);
  });
  await open({ colorScheme: "dark", viewport: { width: 1280, height: 900 } }, async (page) => {
    await picture(page, "dark");
    const [ink, paper] = await page.$eval("body", (body) => {
      const style = getComputedStyle(body);
      return [style.color, style.backgroundColor].map((colour) => Number(colour.match(/\d+/)[0]));
    });
    assert.ok(ink > 128 && paper < 128, "light on dark");
    const pages = (all) => all.map((one) => getComputedStyle(one).fill);
    for (const fill of await page.$$eval(".panel svg > rect:first-of-type", pages)) {
      assert.equal(fill, "rgb(22, 24, 27)", "charts have the page's colour");
    }
  });
  await open({ viewport: { width: 1400, height: 1000 } }, async (page) => {
    await picture(page, "desktop");
    await answersFirst(page);
    await chartsAreReadable(page);
    const wide = await page.$$eval(".scroll", (all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length);
    assert.equal(wide, 0, "tables fit");
    const lefts = await page.$$eval("#summary figure", (all) => all.map((one) => one.getBoundingClientRect().left));
    assert.ok(lefts[1] > lefts[0] + 600, `two charts in a row: ${lefts}`);
  });
  await open({ viewport: { width: 390, height: 844 } }, async (page) => {
    await picture(page, "narrow");
    await fits(page);
    await chartsAreReadable(page);
  });
  await open({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } }, async (page) => {
    await picture(page, "without-scripts");
    const table = page.locator("#table-means table");
    assert.ok(await table.isVisible());
    assert.ok((await table.locator("tbody tr").count()) > 1);
    assert.equal(await page.locator("table button, input").count(), 0, "nothing is offered that does not work");
    assert.ok((await page.locator("figure svg").count()) > 0);
  });
} finally {
  await browser.close();
}
console.log(`${file}: opens, sorts, filters, and asks for nothing`);
