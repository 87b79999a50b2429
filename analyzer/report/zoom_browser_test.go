//go:build browser

package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	lineChart  = "#timeline-chart"
	lineOption = "echarts.getInstanceByDom(document.querySelector('" + lineChart + "')).getOption()"
	zoomed     = "JSON.stringify(((z) => [Math.round(z.start), Math.round(z.end)])(" + lineOption + ".dataZoom[0]))"
	drawn      = "JSON.stringify(" + lineOption + ".series.map((s) => s.name))"
)

// TestDragToZoom with a real mouse, and back by a double click, Escape, and keys.
func TestDragToZoom(t *testing.T) {
	b := start(t)
	b.open(page(t, stencil(8, 200, 5, 2.1)), 1280, 800, "light")
	b.eval("document.getElementById('timeline').scrollIntoView()")
	b.drag(lineChart, 0.3, 0.2, 0.6, 0.5)
	var from, to int
	_, err := fmt.Sscanf(fmt.Sprint(b.eval(zoomed)), "[%d,%d]", &from, &to)
	require.NoError(t, err)
	assert.InDelta(t, 27, from, 3)
	assert.InDelta(t, 58, to, 3)
	assert.Equal(t, true, b.eval("document.querySelector('.selection').hidden"))
	assert.Equal(t, false, b.eval("document.getElementById('panel').open"), "a drag is no click")
	b.screenshot("dragged", false)

	b.click(lineChart, 0.5, 0.3, 2)
	b.until(zoomed + " === '[0,100]'")
	assert.Equal(t, false, b.eval("new Promise((done) => setTimeout(() => done(document.getElementById('panel').open), 400))"), "nor is a double click")

	b.eval("document.querySelector('" + lineChart + "').focus()")
	b.press("+")
	assert.Equal(t, "[25,75]", b.eval(zoomed))
	b.press("ArrowRight")
	assert.Equal(t, "[50,100]", b.eval(zoomed))
	b.press("Escape")
	assert.Equal(t, "[0,100]", b.eval(zoomed))
	assert.Empty(t, b.problems)
}

// TestCallsAndMessages: zoomed into the window that is known call by call there are calls by
// name and messages as lines, of the ranks that the verdict names first; zoomed out, there
// are strips again.
func TestCallsAndMessages(t *testing.T) {
	b := start(t)
	for name, ranks := range map[string]int{"few": 8, "many": 1024} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			slow := ranks * 5 / 8
			b.open(page(t, stencil(ranks, 40, slow, 2.1)), 1280, 800, "light")
			b.eval("document.getElementById('timeline').scrollIntoView()")
			assert.Equal(t, `["ranks","halo","route","path"]`, b.eval(drawn))
			b.eval("document.querySelector('[data-zoom=detail]').click()")
			assert.Equal(t, `["computation","calls","waits","names","messages","path"]`, b.eval(drawn))
			assert.Equal(t, fmt.Sprint("rank ", slow), b.eval(lineOption+".yAxis[0].data[0]"))
			assert.LessOrEqual(t, b.eval(lineOption+".yAxis[0].data.length"), 16.0)
			tip := func(series string, nth int) string {
				of := lineOption + ".series.find((s) => s.name === '" + series + "').data"
				return fmt.Sprint(b.eval(fmt.Sprintf("%s.tooltip[0].formatter({ seriesName: '%s', value: %s[%d] })", lineOption, series, of, nth)))
			}
			assert.Regexp(t, fmt.Sprintf(`^<b>Rank %d</b><br><b>MPI_\w+</b> at stencil.c:\d+<br>.* from `, slow), tip("calls", 0))
			assert.Regexp(t, `^<b>Message from rank \d+ to rank \d+</b>, 512 B<br>sent in <b>MPI_Isend</b> at stencil.c:76<br>received in <b>MPI_Waitall</b> at stencil.c:82<br>`, tip("messages", 0))
			assert.Regexp(t, `^<b>Rank \d+ waits for rank \d+</b><br>`, tip("waits", 0))
			painted := fmt.Sprint(b.eval("JSON.stringify(echarts.getInstanceByDom(document.querySelector('" + lineChart + "')).getZr().storage.getDisplayList().filter((x) => x.type === 'tspan').map((x) => x.style.text))"))
			assert.Contains(t, painted, "Waitall", "calls have their names")
			b.screenshot("calls-"+name, false)

			b.eval("document.querySelector('[data-zoom=all]').click()")
			assert.Equal(t, `["ranks","halo","route","path"]`, b.eval(drawn))
			assert.Equal(t, "[0,100]", b.eval(zoomed))
			assert.Empty(t, b.problems)
		})
	}
}

// TestPanelOfARank opens by a click on a rank in the table, in the strips and in the timeline, and
// by keys; Escape closes it, and the focus is where it was.
func TestPanelOfARank(t *testing.T) {
	b := start(t)
	b.open(pageOf(t, withLedger(assemble(t, stencil(8, 200, 5, 2.1)))), 1280, 800, "light")
	open, title := "document.getElementById('panel').open", "document.getElementById('panel-title').textContent"
	b.eval("document.querySelector('#ranks button.rank').focus()")
	assert.Equal(t, "5", b.eval("document.activeElement.textContent"), "the rank that the verdict names comes first")
	b.press("Enter")
	assert.Equal(t, true, b.eval(open))
	assert.Equal(t, "Rank 5", b.eval(title))
	said := fmt.Sprint(b.eval("document.getElementById('panel').innerText"))
	for _, fact := range []string{
		"named by the verdict", "stencil-worker-1", "node2", "Where its time went", "useful computation", "Where it computes longest",
		"between MPI_Waitall at stencil.c:82 and MPI_Irecv at stencil.c:70", "Its longest calls", "MPI_Waitall at stencil.c:82", "Who waits for it", "rank 4", "Its delays that others wait for",
	} {
		assert.Contains(t, said, fact)
	}
	b.screenshot("panel", false)
	b.press("Escape")
	assert.Equal(t, false, b.eval(open))
	assert.Equal(t, "5", b.eval("document.activeElement.textContent"))
	b.press("ArrowDown", "Enter")
	assert.Equal(t, "Rank 0", b.eval(title))
	assert.Contains(t, b.eval("document.getElementById('panel').innerText"), "Whom it waits for")
	b.press("Escape")

	b.eval("document.getElementById('timeline').scrollIntoView()")
	b.click(lineChart, 0.5, 0.05, 1) // the first row
	b.until(open)
	assert.Equal(t, "Rank 5", b.eval(title))
	b.eval("[...document.querySelectorAll('#panel button')].find((x) => x.textContent.includes('calls')).click()")
	assert.Equal(t, false, b.eval(open))
	assert.Contains(t, b.eval(drawn), "messages")
	b.eval("document.querySelector('[data-zoom=all]').click()")

	b.eval("document.querySelector('" + lineChart + "').focus()")
	b.press("ArrowDown", "ArrowDown")
	assert.Contains(t, b.eval("document.getElementById('timeline-row').textContent"), "rank 0")
	b.press("Enter")
	assert.Equal(t, "Rank 0", b.eval(title))
	b.press("Escape")

	b.eval("document.getElementById('ranks').scrollIntoView()")
	b.click("#ranks-chart", 0.95, 0.1, 1)
	b.until(open)
	assert.Equal(t, "Rank 7", b.eval(title))
	b.eval("document.querySelector('#panel .close').click()")
	assert.Equal(t, false, b.eval(open))

	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": false})
	b.eval("document.querySelector('#ledger button.rank').click()")
	assert.LessOrEqual(t, b.eval("document.getElementById('panel').scrollWidth"), 390.0)
	b.screenshot("panel-phone", false)
	assert.Empty(t, b.problems)
}

// TestFullWidth: on large screens pictures are as wide as the window, and lines of text are not.
func TestFullWidth(t *testing.T) {
	b := start(t)
	file := pageOf(t, withLedger(assemble(t, stencil(64, 50, 5, 2.1))))
	for _, width := range []int{1280, 1920, 2560} {
		b.open(file, width, 1080, "light")
		b.screenshot(fmt.Sprint("width-", width), true)
		for _, picture := range []string{".ledger.whole", lineChart, "#ranks-chart"} {
			assert.Greater(t, b.eval("document.querySelector('"+picture+"').getBoundingClientRect().width"), 0.94*float64(width), picture)
		}
		longest := b.eval(`Math.max(...[...document.querySelectorAll('main p, main li')].filter((x) => !x.closest('ul.tree, nav, .ledger-bars')).map((x) => x.getBoundingClientRect().width / parseFloat(getComputedStyle(x).fontSize)))`)
		assert.Less(t, longest, 82.0, "em at %d pixels", width)
		assert.LessOrEqual(t, b.eval("document.documentElement.scrollWidth"), float64(width))
		if width == 1280 {
			continue // there the widest tables are cut off, and scroll
		}
		b.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
		cut := fmt.Sprint(b.eval(`[...document.querySelectorAll('.scroll:not(pre)')].filter((x) => x.scrollWidth > x.clientWidth + 1).map((x) => x.closest('section').id).join()`))
		assert.Empty(t, strings.TrimSpace(cut), "tables that are cut off at %d pixels", width)
	}
	assert.Empty(t, b.problems)
}

// TestPageOfOneRank: where nobody waits there is no window to look into, and all else works.
func TestPageOfOneRank(t *testing.T) {
	b := start(t)
	rep := assemble(t, stencil(1, 40, -1, 1))
	require.Nil(t, report.Of[detail.Findings](rep).Detail)
	b.open(pageOf(t, rep), 1280, 800, "light")
	assert.Nil(t, b.eval("document.querySelector('[data-zoom=detail]')"))
	b.eval("document.getElementById('timeline').scrollIntoView()")
	b.drag(lineChart, 0.3, 0.2, 0.4, 0.3)
	assert.Equal(t, `["ranks","halo","route","path"]`, b.eval(drawn))
	b.eval("document.querySelector('#ranks button.rank').click()")
	assert.Equal(t, "Rank 0", b.eval("document.getElementById('panel-title').textContent"))
	assert.Empty(t, b.problems)
}
