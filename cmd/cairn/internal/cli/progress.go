package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// When and how often progress is shown.
const (
	progressPatience = 1500 * time.Millisecond // shorter passes show nothing
	barInterval      = 200 * time.Millisecond
	lineInterval     = 10 * time.Second
)

// A progressMeter shows the current pass, or the one that began last if several run: on a terminal
// as a bar with rate and remaining time, elsewhere as an occasional line. The bar is cleared when
// the pass ends.
type progressMeter struct {
	out      io.Writer
	terminal bool

	mu     sync.Mutex
	going  []*goingPass
	shown  *goingPass  // on the terminal
	said   time.Time   // when the last line was printed
	ticker *time.Timer // fires the next update while passes run
	idle   bool        // the ticker is stopped
}

type goingPass struct {
	*passes.Pass
	begun time.Time
	bar   *progressbar.ProgressBar // measures time from its own start
}

// NewProgressMeter shows progress on out, which is standard error.
func NewProgressMeter(out *os.File) *progressMeter {
	m := &progressMeter{out: out, terminal: term.IsTerminal(int(out.Fd())), idle: true}
	m.ticker = time.AfterFunc(time.Hour, m.tick)
	m.ticker.Stop()
	return m
}

// tick updates the display and schedules the next update while passes run.
func (m *progressMeter) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.show(time.Now())
	if m.idle = len(m.going) == 0; !m.idle {
		m.ticker.Reset(barInterval)
	}
}

// Stop ends the display.
func (m *progressMeter) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ticker.Stop()
	m.clear()
	m.going = nil
}

// Begin implements passes.Watcher.
func (m *progressMeter) Begin(p *passes.Pass) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := &goingPass{p, time.Now(), newBar(m.out, p)}
	g.bar.StartWithoutRender()
	m.going = append(m.going, g)
	if m.idle {
		m.idle = false
		m.ticker.Reset(barInterval)
	}
}

// End implements passes.Watcher.
func (m *progressMeter) End(p *passes.Pass) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.going = slices.DeleteFunc(m.going, func(g *goingPass) bool { return g.Pass == p })
	if m.shown != nil && m.shown.Pass == p {
		m.clear()
	}
}

// show displays the pass that began last.
func (m *progressMeter) show(now time.Time) {
	if len(m.going) == 0 {
		return
	}
	p := m.going[len(m.going)-1]
	if now.Sub(p.begun) < progressPatience {
		return
	}
	if !m.terminal {
		if now.Sub(m.said) >= lineInterval {
			m.said = now
			fmt.Fprintln(m.out, "cairn:", progressLine(p.Pass, now.Sub(p.begun)))
		}
		return
	}
	if m.shown != p {
		m.clear()
		m.shown = p
	}
	_ = p.bar.Set64(int64(p.Done())) // a terminal that is gone shows nothing
}

// clear removes the bar.
func (m *progressMeter) clear() {
	if m.shown != nil {
		_ = m.shown.bar.Clear()
	}
	m.shown = nil
}

func newBar(out io.Writer, p *passes.Pass) *progressbar.ProgressBar {
	total := int64(p.Total)
	if total == 0 {
		total = -1
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(p.Name), progressbar.OptionSetWidth(20),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.Unit), progressbar.OptionShowElapsedTimeOnFinish(),
		progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true))
}

// progressLine returns, for example, "matching calls: 42% of 10000000 calls, 1900000 calls/s, about
// 3.1 s left".
func progressLine(p *passes.Pass, elapsed time.Duration) string {
	done := p.Done()
	rate := float64(done) / elapsed.Seconds()
	if p.Total == 0 {
		return fmt.Sprintf("%s: %d %s, %.3g %s/s", p.Name, done, p.Unit, rate, p.Unit)
	}
	line := fmt.Sprintf("%s: %d%% of %d %s, %.3g %s/s", p.Name, 100*done/p.Total, p.Total, p.Unit, rate, p.Unit)
	if done > 0 {
		line += ", about " + wording.Duration(float64(p.Total-done)/rate) + " left"
	}
	return line
}
