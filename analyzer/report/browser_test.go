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

// press types keys as a person does: "Tab", "Enter", " ", "ArrowRight".
func (b *browser) press(keys ...string) {
	b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, " ": 32, "ArrowRight": 39}
	for _, key := range keys {
		event := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
		switch key {
		case "Enter":
			event["text"] = "\r"
		case " ":
			event["text"], event["code"] = " ", "Space"
		}
		b.call("Input.dispatchKeyEvent", event)
		delete(event, "text")
		event["type"] = "keyUp"
		b.call("Input.dispatchKeyEvent", event)
	}
}
