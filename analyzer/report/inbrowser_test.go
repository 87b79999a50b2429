//go:build browser

package report_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// page writes a trace's index.html and returns its path.
func page(t testing.TB, b *tracetest.Builder) string {
	t.Helper()
	return pageOf(t, assemble(t, b))
}

// pageOf writes a report's index.html and returns its path.
func pageOf(t testing.TB, rep *report.Report) string {
	t.Helper()
	files, err := rep.Files()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "index.html")
	require.NoError(t, os.WriteFile(file, files["index.html"], 0o644))
	return file
}

// samples are the pages that are looked at: somebody to blame, nobody, and many ranks.
var samples = map[string]func() *tracetest.Builder{
	"slow":     func() *tracetest.Builder { return stencil(8, 200, 5, 2.1) },
	"balanced": func() *tracetest.Builder { return stencil(8, 200, -1, 1) },
	"large":    func() *tracetest.Builder { return stencil(1024, 20, 700, 1.5) },
}

func TestInTheBrowser(t *testing.T) {
	b := start(t)
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			b.t = t
			file := page(t, sample())
			b.open(file, 1280, 800, "light")
			b.screenshot(name+"-light", false)

			// a click on a heading sorts by it, both ways
			first := func() string { return fmt.Sprint(b.eval(rankTable + ".tBodies[0].rows[0].cells[0].textContent")) }
			b.eval(column + ".click()")
			if name == "slow" {
				assert.Equal(t, "5", first(), "the slow rank computes longest")
			}
			longest := first()
			b.eval(column + ".click()")
			assert.NotEqual(t, longest, first())
			assert.Equal(t, "ascending", b.eval(column+".parentElement.getAttribute('aria-sort')"))

			// buttons zoom the timeline
			zoom := "JSON.stringify(((z) => [Math.round(z.start), Math.round(z.end)])(echarts.getInstanceByDom(document.getElementById('timeline-chart')).getOption().dataZoom[0]))"
			assert.Equal(t, "[0,100]", b.eval(zoom))
			b.eval("document.querySelector('[data-zoom=in]').click()")
			assert.Equal(t, "[25,75]", b.eval(zoom))
			b.eval("document.querySelector('[data-zoom=right]').click()")
			assert.Equal(t, "[50,100]", b.eval(zoom))
			b.eval("document.getElementById('timeline').scrollIntoView()")
			b.screenshot(name+"-zoomed", false)

			// a change of colors keeps the zoom
			b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
			assert.Equal(t, "[50,100]", b.eval(zoom))
			b.eval("document.querySelector('[data-zoom=all]').click()")
			assert.Equal(t, "[0,100]", b.eval(zoom))

			// the matrix shows bytes, then messages
			legend := "echarts.getInstanceByDom(document.getElementById('messages-chart')).getOption().visualMap[0].text[0]"
			assert.Contains(t, b.eval(legend), "B")
			b.eval("document.querySelector('[name=messages-of][value=calls]').click()")
			assert.NotContains(t, b.eval(legend), "B")
			b.eval("document.getElementById('messages').scrollIntoView()")
			b.screenshot(name+"-messages", false)

			// every chart has something in it
			for _, chart := range []string{"efficiency", "timeline", "ranks", "messages", "topology"} {
				assert.Greater(t, b.eval("new Set(new Uint32Array(document.querySelector('#"+chart+"-chart canvas').getContext('2d').getImageData(0, 0, 600, 150).data.buffer)).size"), 3.0, chart)
			}

			b.open(file, 1280, 4000, "dark")
			b.screenshot(name+"-dark", false)
			b.open(file, 390, 844, "light")
			b.screenshot(name+"-phone", true)
			assert.LessOrEqual(t, b.eval("document.documentElement.scrollWidth"), 390.0, "a phone scrolls down only")
			assert.Empty(t, b.problems)
			b.problems = nil
		})
	}
}

// TestFreshReader: from the page alone, without scrolling on a screen of 1280 × 800, one finds the
// verdict, the slow rank, its pod and node, the call site, the possible gain, and what to do next.
// The picture of it is in docs/.
func TestFreshReader(t *testing.T) {
	b := start(t)
	b.open(freshPage(t), 1280, 800, "light")
	seen := fmt.Sprint(b.eval(`(() => {
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = [];
		for (let node; (node = walker.nextNode());) {
			const range = document.createRange();
			range.selectNodeContents(node);
			const box = range.getBoundingClientRect();
			const style = getComputedStyle(node.parentElement);
			if (box.width > 0 && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth && parseFloat(style.fontSize) >= 12) seen.push(node.textContent.trim());
		}
		return seen.filter((x) => x).join('\n');
	})()`))
	for _, fact := range []string{
		"Rank 21 (pod stencil2d-worker-1, node node1) makes this job slow", // the verdict
		"Rank\n21\n", "Pod\nstencil2d-worker-1\n", "Node\nnode1\n",
		"Where\nmain\nbetween MPI_Isend at stencil2d.c:34 and MPI_Waitall at stencil2d.c:38", // the call site
		"Possible gain\n", "% of the ", ", by replay",
		"What to do next\nLook at the code",
		"Where the time went\nAll ranks together had", "Waiting for ranks that compute longer",
	} {
		assert.Contains(t, seen, fact)
	}
	if file := os.Getenv("CAIRN_DOCS_SCREENSHOT"); file != "" {
		r := b.call("Page.captureScreenshot", nil)
		image, err := base64.StdEncoding.DecodeString(r["data"].(string))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, image, 0o644))
	}
}

// freshPage is the page of a job of 64 ranks in four pods, of which one computes 40 % longer.
func freshPage(t *testing.T) string {
	t.Helper()
	s, err := simulate.New(simulate.Config{
		Pattern: "stencil2d", Ranks: 64, RanksPerNode: 16, Iterations: 200, Cartesian: true, Compute: 2 * time.Millisecond,
		Imbalance: simulate.Imbalance{SlowRank: 21, SlowPercent: 40, Noise: 5},
	})
	require.NoError(t, err)
	contents, err := s.Contents()
	require.NoError(t, err)
	merged, err := merger.Merge(contents, merger.Options{Final: true})
	require.NoError(t, err)
	var encoded bytes.Buffer
	require.NoError(t, trace.Write(&encoded, merged))
	r, err := trace.Open(bytes.NewReader(encoded.Bytes()), int64(encoded.Len()))
	require.NoError(t, err)
	findings, _, err := analyzer.Run(t.Context(), r, nil)
	require.NoError(t, err)
	rep := analyzer.Report(r, findings, report.Job{Name: "weather/stencil2d"})
	content, err := rep.HTML()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "index.html")
	require.NoError(t, os.WriteFile(file, content, 0o644))
	return file
}

// TestKeyboard: everything can be reached and used without a mouse, and the focus is seen.
func TestKeyboard(t *testing.T) {
	b := start(t)
	b.open(page(t, stencil(8, 200, 5, 2.1)), 1280, 800, "light")
	focus := func(what string) string { return fmt.Sprint(b.eval("document.activeElement." + what)) }
	b.press("Tab")
	assert.Equal(t, "Skip to the timeline", focus("textContent"))
	assert.GreaterOrEqual(t, b.eval("document.activeElement.getBoundingClientRect().left"), 0.0, "it is seen when it has the focus")
	b.press("Tab")
	assert.Equal(t, "Where the time went", focus("textContent"))

	// through the whole page
	seen := map[string]bool{}
	for range 400 {
		b.press("Tab")
		if focus("tagName") == "BODY" {
			break
		}
		seen[focus("tagName")+" "+focus("textContent.slice(0, 30)")] = true
		assert.NotEqual(t, "none", b.eval("getComputedStyle(document.activeElement).outlineStyle"), "%s", focus("outerHTML.slice(0, 80)"))
	}
	for _, control := range []string{"BUTTON Zoom in", "BUTTON Whole run", "BUTTON Computes, s", "SUMMARY The same as a table", "INPUT ", "A Provenance"} {
		assert.True(t, seen[control], control)
	}

	b.eval(column + ".focus()")
	b.press("Enter")
	assert.Equal(t, "descending", b.eval(column+".parentElement.getAttribute('aria-sort')"))
	b.press(" ")
	assert.Equal(t, "ascending", b.eval(column+".parentElement.getAttribute('aria-sort')"))
	b.eval("document.querySelector('[name=messages-of]:checked').focus()")
	b.press("ArrowRight")
	assert.Equal(t, "calls", b.eval("document.querySelector('[name=messages-of]:checked').value"))
	b.eval("document.querySelector('#efficiency summary').focus()")
	b.press("Enter")
	assert.Equal(t, true, b.eval("document.querySelector('#efficiency details').open"))
	assert.Empty(t, b.problems)
}

// TestAccessible: what a screen reader needs is there, and writing stands out from what is behind
// it (WCAG 2.1 AA).
func TestAccessible(t *testing.T) {
	b := start(t)
	for name, sample := range samples {
		file := pageOf(t, withLedger(assemble(t, sample())))
		for _, scheme := range []string{"light", "dark"} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				b.t = t
				b.open(file, 1280, 800, scheme)
				b.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
				assert.Empty(t, b.eval(faultsScript))
				b.eval("document.querySelector('#ranks button.rank').click()")
				assert.Empty(t, b.eval(faultsScript), "with a rank's panel")
			})
		}
	}
}

// faultsScript lists what is wrong with the page.
const faultsScript = `(() => {
	const faults = [], one = (selector) => document.querySelectorAll(selector).length === 1 || faults.push('not one ' + selector);
	one('html[lang]'); one('title'); one('main'); one('body > header'); one('body > footer'); one('nav[aria-label]'); one('h1');
	let level = 0;
	for (const h of document.querySelectorAll('h1,h2,h3,h4')) {
		const own = Number(h.tagName[1]);
		if (own > level + 1) faults.push('heading ' + h.textContent + ' skips a level');
		level = own;
	}
	const ids = [...document.querySelectorAll('[id]')].map((x) => x.id);
	if (new Set(ids).size !== ids.length) faults.push('an id is there twice');
	for (const x of document.querySelectorAll('[aria-labelledby]')) if (!document.getElementById(x.getAttribute('aria-labelledby'))) faults.push('no label ' + x.getAttribute('aria-labelledby'));
	for (const x of document.querySelectorAll('a[href^="#"]')) if (!document.querySelector(x.getAttribute('href'))) faults.push('leads nowhere: ' + x.textContent);
	for (const x of document.querySelectorAll('section')) if (!x.hasAttribute('aria-labelledby')) faults.push('section without a name');
	for (const x of document.querySelectorAll('table')) if (!x.caption || !x.caption.textContent) faults.push('table without a caption: ' + x.textContent.slice(0, 40));
	for (const x of document.querySelectorAll('[role=region]')) if (!x.getAttribute('aria-label')) faults.push('region without a name');
	for (const x of document.querySelectorAll('th')) if (!x.scope) faults.push('heading without a scope: ' + x.textContent);
	for (const x of document.querySelectorAll('.chart')) if (x.getAttribute('role') !== 'img' || (x.getAttribute('aria-label') || '').length < 30) faults.push('chart without words: ' + x.id);
	for (const x of document.querySelectorAll('input,button,summary,a')) if (!(x.textContent.trim() || x.labels && x.labels[0].textContent.trim() || x.getAttribute('aria-label'))) faults.push('control without a name: ' + x.outerHTML);
	for (const x of document.querySelectorAll('button,input,a,summary')) if (x.tabIndex < 0 && !x.closest('[data-arrows]')) faults.push('not for the keyboard: ' + x.outerHTML);

	// contrast of all text with what is behind it
	const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
	const known = new Map();
	const over = (colors) => { // painted one over the other
		const key = colors.join();
		if (!known.has(key)) {
			for (const color of ['#fff', ...colors]) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
			known.set(key, [...context.getImageData(0, 0, 1, 1).data]);
		}
		return known.get(key);
	};
	const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, share, k) => sum + share * (rgb[k] / 255 <= 0.04045 ? rgb[k] / 255 / 12.92 : ((rgb[k] / 255 + 0.055) / 1.055) ** 2.4), 0);
	const told = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; (node = walker.nextNode());) {
		const element = node.parentElement;
		if (!node.textContent.trim() || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'CAPTION'].includes(element.tagName) || !element.getClientRects().length) continue;
		const behind = [];
		for (let x = element; x; x = x.parentElement) {
			if (x.classList.contains('meter')) behind.unshift('color-mix(in srgb, ' + getComputedStyle(x).getPropertyValue('--compute') + ' 40%, transparent)');
			behind.unshift(getComputedStyle(x).backgroundColor);
		}
		const color = getComputedStyle(element).color, a = light(over([...behind, color])), b = light(over(behind));
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const what = 'contrast ' + contrast.toFixed(2) + ' of ' + color + ' on ' + over(behind).slice(0, 3).join();
		if (contrast < 4.5 && !told.has(what)) { told.add(what); faults.push(what + ': ' + node.textContent.trim().slice(0, 30)); }
	}
	return faults;
})()`

// TestOnPaper: printed light from a dark screen, as wide as the page, without what only a screen
// can use, and short.
func TestOnPaper(t *testing.T) {
	b := start(t)
	b.open(pageOf(t, withLedger(assemble(t, stencil(1024, 20, 700, 1.5)))), 1280, 800, "dark")
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 700, "height": 1000, "deviceScaleFactor": 1, "mobile": false})
	b.eval("dispatchEvent(new Event('beforeprint'))")
	assert.Equal(t, "rgb(255, 255, 255)", b.eval("getComputedStyle(document.body).backgroundColor"))
	assert.LessOrEqual(t, b.eval("Math.max(...[...document.querySelectorAll('canvas')].map((x) => x.getBoundingClientRect().right))"), 700.0)
	assert.Equal(t, "none", b.eval("getComputedStyle(document.querySelector('nav')).display"))
	assert.Equal(t, 1.0, b.eval("[...document.querySelectorAll('#ranks tbody tr.slow')].filter((x) => x.getClientRects().length).length"), "the slow rank is on paper, whatever its number")
	b.eval("dispatchEvent(new Event('afterprint'))")
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "", "features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
	assert.NotEqual(t, "rgb(255, 255, 255)", b.eval("getComputedStyle(document.body).backgroundColor"))

	r := b.call("Page.printToPDF", map[string]any{"paperWidth": 8.27, "paperHeight": 11.69})
	pdf, err := base64.StdEncoding.DecodeString(r["data"].(string))
	require.NoError(t, err)
	if dir := os.Getenv("CAIRN_REPORT_DIR"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "paper.pdf"), pdf, 0o644))
	}
	pages := strings.Count(string(pdf), "/Type /Page\n")
	assert.Positive(t, pages)
	assert.LessOrEqual(t, pages, 12)
	assert.Empty(t, b.problems)
}

const (
	rankTable = "document.querySelector('#ranks table')"
	column    = "[..." + rankTable + ".tHead.rows[0].cells].find((c) => c.textContent.startsWith('Computes')).querySelector('button')"
)

// TestManyRanks: of 2,100 ranks two share a strip of the timeline, and the path names the rank
// itself. The strip of the one that the verdict names comes first, and is as high as many.
func TestManyRanks(t *testing.T) {
	b := start(t)
	b.open(page(t, stencil(2100, 3, 701, 1.5)), 1280, 800, "light")
	option := "echarts.getInstanceByDom(document.getElementById('timeline-chart')).getOption()"
	assert.Equal(t, 1050.0, b.eval("new Set("+option+".yAxis[0].data).size"))
	for row, name := range map[int]string{0: "ranks 700–701", 30: "ranks 700–701", 31: "ranks 0–1", 380: "ranks 698–699", 381: "ranks 702–703"} {
		assert.Equal(t, name, b.eval(fmt.Sprintf("%s.yAxis[0].data[%d]", option, row)))
	}
	assert.Equal(t, "rank 701", b.eval(option+".yAxis[0].axisLabel.formatter('', 15)"), "the label names the one that the verdict names")
	assert.Contains(t, b.eval("document.getElementById('timeline').textContent"), "each row is the mean of 2 ranks, time runs to the right")
	tip := func(series, value string) string {
		return fmt.Sprint(b.eval(option + ".tooltip[0].formatter({ seriesName: '" + series + "', value: " + value + " })"))
	}
	assert.Contains(t, tip("ranks", option+".series[0].data.find((v) => v[2] === 15)"), "<b>Ranks 700–701</b>")
	assert.Contains(t, tip("path", option+".series[3].data.find((v) => v[7] === 701)"), "<b>Critical path · rank 701</b>")
	b.eval("document.getElementById('timeline').scrollIntoView()")
	b.screenshot("many-ranks", false)
	assert.Empty(t, b.problems)
}
