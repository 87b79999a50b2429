//go:build browser

// The page in a real browser: go test -tags browser ./analyzer/report. Needs chromium (a
// package of Debian).

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

	"github.com/stretchr/testify/require"
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
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "", "features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}})
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

// press types keys as a person does: "Tab", "Enter", " ", "ArrowRight", "+".
func (b *browser) press(keys ...string) {
	b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowRight": 39, "ArrowDown": 40, "+": 187}
	for _, key := range keys {
		event := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
		switch key {
		case "Enter":
			event["text"] = "\r"
		case " ":
			event["text"], event["code"] = " ", "Space"
		case "+":
			event["text"], event["code"] = "+", "Equal"
		}
		b.call("Input.dispatchKeyEvent", event)
		delete(event, "text")
		event["type"] = "keyUp"
		b.call("Input.dispatchKeyEvent", event)
	}
}

// mouse moves the pointer to a point of an element, given as parts of its width and height, and
// does something there: "mousePressed", "mouseReleased", "mouseMoved".
func (b *browser) mouse(do, element string, x, y float64, clicks int) {
	b.t.Helper()
	at := b.eval("(({ left, top, width, height }) => [left + width * " + fmt.Sprint(x) + ", top + height * " + fmt.Sprint(y) + "])(document.querySelector('" + element + "').getBoundingClientRect())").([]any)
	event := map[string]any{"type": do, "x": at[0], "y": at[1], "button": "left", "buttons": 1, "clickCount": clicks}
	if do == "mouseMoved" && clicks == 0 {
		event["button"], event["buttons"] = "none", 0
	}
	b.call("Input.dispatchMouseEvent", event)
}

// click clicks at a point of an element, as often as that.
func (b *browser) click(element string, x, y float64, times int) {
	b.t.Helper()
	b.mouse("mouseMoved", element, x, y, 0)
	for n := range times {
		b.mouse("mousePressed", element, x, y, n+1)
		b.mouse("mouseReleased", element, x, y, n+1)
	}
}

// drag drags from one point of an element to another.
func (b *browser) drag(element string, x1, y1, x2, y2 float64) {
	b.t.Helper()
	b.mouse("mouseMoved", element, x1, y1, 0)
	b.mouse("mousePressed", element, x1, y1, 1)
	b.mouse("mouseMoved", element, (x1+x2)/2, (y1+y2)/2, 1)
	b.mouse("mouseMoved", element, x2, y2, 1)
	b.mouse("mouseReleased", element, x2, y2, 1)
}

// until waits until an expression is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for range 100 {
		if b.eval(expression) == true {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatal("never true: ", expression)
}
