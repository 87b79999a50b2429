//go:build browser

// The page in a real browser: go test -tags browser ./analyzer/report. Needs chromium (a package of Debian).

package report_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/tracetest"
)

// A browser is a headless Chromium, spoken to over a pipe (Chrome DevTools protocol).
type browser struct {
	t        *testing.T
	in       *os.File
	out      *bufio.Reader
	id       int
	session  string
	problems []string // console errors, exceptions, and everything that was fetched
}

func start(t *testing.T) *browser {
	t.Helper()
	toBrowser, in, err := os.Pipe()
	require.NoError(t, err)
	out, fromBrowser, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	require.NoError(t, cmd.Start(), "`apt-get install chromium` installs it")
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		time.Sleep(200 * time.Millisecond) // its helpers still write to the profile
	})
	b := &browser{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	attached := b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})
	b.session = attached["sessionId"].(string)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// call sends a command and waits for its answer, noting what happens meanwhile.
func (b *browser) call(method string, parameters map[string]any) map[string]any {
	b.t.Helper()
	b.id++
	message := map[string]any{"id": b.id, "method": method, "params": parameters}
	if parameters == nil {
		message["params"] = map[string]any{}
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	raw, err := json.Marshal(message)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(raw, 0))
	require.NoError(b.t, err)
	for {
		var answer struct {
			ID     int
			Method string
			Result map[string]any
			Error  map[string]any
			Params map[string]any
		}
		raw, err := b.out.ReadBytes(0)
		require.NoError(b.t, err)
		require.NoError(b.t, json.Unmarshal(raw[:len(raw)-1], &answer))
		if answer.ID == b.id {
			require.Nil(b.t, answer.Error, method)
			return answer.Result
		}
		b.notice(answer.Method, answer.Params)
	}
}

func (b *browser) notice(method string, p map[string]any) {
	switch method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.problems = append(b.problems, fmt.Sprint(method, " ", p))
	case "Runtime.consoleAPICalled":
		if p["type"] == "error" || p["type"] == "warning" {
			b.problems = append(b.problems, fmt.Sprint(method, " ", p["args"]))
		}
	case "Network.requestWillBeSent":
		url := p["request"].(map[string]any)["url"].(string)
		if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") && url != "about:blank" {
			b.problems = append(b.problems, "fetched "+url)
		}
	}
}

// eval runs an expression in the page.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	r := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	require.NotContains(b.t, r, "exceptionDetails", expression)
	return r["result"].(map[string]any)["value"]
}

// open shows a page in a window of this size and waits until its scripts are done.
func (b *browser) open(file string, width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
	b.call("Page.navigate", map[string]any{"url": "file://" + file})
	for range 600 {
		if b.eval("document.documentElement?.dataset.ready || ''") == "yes" {
			b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Fatal("the page's scripts do not come to an end: ", b.problems)
}

// screenshot keeps what is seen in $CAIRN_REPORT_DIR.
func (b *browser) screenshot(name string, whole bool) {
	dir := os.Getenv("CAIRN_REPORT_DIR")
	if dir == "" {
		return
	}
	r := b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": whole})
	image, err := base64.StdEncoding.DecodeString(r["data"].(string))
	require.NoError(b.t, err)
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), image, 0o644))
}

// files are those of a trace's report.
func files(t testing.TB, b *tracetest.Builder) map[string][]byte {
	t.Helper()
	f, err := assemble(t, b).Files()
	require.NoError(t, err)
	return f
}

func TestInTheBrowser(t *testing.T) {
	b := start(t)
	dir := t.TempDir()
	for name, rep := range map[string]func() map[string][]byte{
		"slow":     func() map[string][]byte { return files(t, stencil(8, 200, 5, 2.1)) },
		"balanced": func() map[string][]byte { return files(t, stencil(8, 200, -1, 1)) },
		"large":    func() map[string][]byte { return files(t, stencil(1024, 20, 700, 1.5)) },
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			file := filepath.Join(dir, name+".html")
			require.NoError(t, os.WriteFile(file, rep()["index.html"], 0o644))
			b.open(file, 1280, 800, "light")
			b.screenshot(name+"-light", false)

			// the verdict and all its facts are seen without scrolling
			bottom := b.eval("document.querySelector('.facts, .verdict ol').getBoundingClientRect().bottom").(float64)
			assert.Less(t, bottom, 800.0)

			// a click on a heading sorts by it, both ways
			first := func() string { return fmt.Sprint(b.eval(ranks + ".tBodies[0].rows[0].cells[0].textContent")) }
			b.eval(column + ".click()")
			if name == "slow" {
				assert.Equal(t, "5", first(), "the slow rank computes longest")
			}
			longest := first()
			b.eval(column + ".click()")
			assert.NotEqual(t, longest, first())
			assert.Equal(t, "ascending", b.eval(column+".parentElement.getAttribute('aria-sort')"))

			// buttons zoom the time line
			zoom := "JSON.stringify(((z) => [Math.round(z.start), Math.round(z.end)])(echarts.getInstanceByDom(document.getElementById('chart')).getOption().dataZoom[0]))"
			assert.Equal(t, "[0,100]", b.eval(zoom))
			b.eval("document.querySelector('[data-zoom=in]').click()")
			assert.Equal(t, "[25,75]", b.eval(zoom))
			b.eval("document.querySelector('[data-zoom=right]').click()")
			assert.Equal(t, "[50,100]", b.eval(zoom))
			b.eval("document.getElementById('chart').scrollIntoView()")
			b.screenshot(name+"-zoomed", false)
			b.eval("document.querySelector('[data-zoom=all]').click()")
			assert.Equal(t, "[0,100]", b.eval(zoom))

			// everything that can be clicked can be reached by the keyboard
			assert.Equal(t, 0.0, b.eval("[...document.querySelectorAll('button')].filter((x) => x.tabIndex < 0).length"))

			b.open(file, 1280, 2600, "dark")
			b.screenshot(name+"-dark", false)
			assert.Empty(t, b.problems)
			b.problems = nil
		})
	}
}

const (
	ranks  = "document.getElementById('ranks').closest('section').querySelector('table')"
	column = "[..." + ranks + ".tHead.rows[0].cells].find((c) => c.textContent.startsWith('Computes')).querySelector('button')"
)
