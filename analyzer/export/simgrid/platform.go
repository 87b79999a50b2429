package simgrid

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// hosts returns the hosts of the ranks, in order of ranks; ranks that the trace lacks have separate
// hosts.
func hosts(t timeline.Trace) []string {
	of := make([]string, t.Meta().WorldSize)
	for i := range of {
		of[i] = fmt.Sprintf("missing-%d", i)
	}
	for _, r := range t.Ranks().All() {
		if r.Rank >= len(of) {
			continue
		}
		name := "host"
		for _, where := range []string{r.Host, r.Pod, r.Node} {
			if where != "" {
				name = where
			}
		}
		// a blank or a colon would end a name in the list of hosts
		of[r.Rank] = strings.Map(func(c rune) rune {
			if c == ' ' || c == ':' || c == '\t' || c == '\n' {
				return '_'
			}
			return c
		}, name)
	}
	return of
}

// platform writes the hosts, the network and what is needed to run the export: platform.xml,
// hostfile and traces.txt.
func (e *export) platform(dir string) error {
	of := hosts(e.trace)
	cores := map[string]int{}
	var names []string
	for _, h := range of {
		if cores[h]++; cores[h] == 1 {
			names = append(names, h)
		}
	}
	n := e.summary.Network
	return writeFiles(dir, map[string]func(w *bufio.Writer){
		"hostfile": func(w *bufio.Writer) {
			for _, h := range of {
				fmt.Fprintln(w, h)
			}
		},
		"traces.txt": func(w *bufio.Writer) {
			for i := range of {
				fmt.Fprintf(w, "%d.ti\n", i)
			}
		},
		"platform.xml": func(w *bufio.Writer) {
			fmt.Fprint(w, `<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- A message takes its link's latency and its bytes by the bandwidth, and disturbs no other one. With SHARED in place of
     FATPIPE messages share the links of their hosts. A flop is a nanosecond of the traced run. -->
<platform version="4.1">
  <config>
`)
			for _, p := range e.configuration() {
				fmt.Fprintf(w, "    <prop id=\"%s\" value=\"%s\"/>\n", p[0], p[1])
			}
			fmt.Fprint(w, "  </config>\n  <zone id=\"run\" routing=\"Cluster\">\n")
			for _, h := range names {
				fmt.Fprintf(w, "    <host id=\"%s\" speed=\"1Gf\" core=\"%d\"/>\n", escaped(h), cores[h])
			}
			for i := range names {
				// a message takes its sender's uplink and its receiver's downlink, also within a
				// host
				for _, way := range []string{"up", "down"} {
					fmt.Fprintf(w, "    <link id=\"%s-%d\" bandwidth=\"%.0fBps\" latency=\"%.3fns\" sharing_policy=\"FATPIPE\"/>\n",
						way, i, n.Bandwidth*1e9, n.Latency/2)
				}
			}
			for i, h := range names {
				fmt.Fprintf(w, "    <host_link id=\"%s\" up=\"up-%d\" down=\"down-%d\"/>\n", escaped(h), i, i)
			}
			fmt.Fprint(w, "  </zone>\n</platform>\n")
		},
	})
}

// configuration makes SMPI's network the plain one of the platform: its default correction factors
// were measured on a cluster of its authors.
func (e *export) configuration() [][2]string {
	size := fmt.Sprint(e.summary.HandshakeFrom)
	return [][2]string{
		{"network/TCP-gamma", "0"}, {"network/crosstraffic", "0"}, {"network/weight-S", "0"},
		{"smpi/bw-factor", "0:1"}, {"smpi/lat-factor", "0:1"}, {"smpi/host-speed", "1Gf"},
		{"smpi/async-small-thresh", size}, {"smpi/send-is-detached-thresh", size},
	}
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to a Builder never fails
	return b.String()
}

func writeFiles(dir string, files map[string]func(w *bufio.Writer)) error {
	for name, write := range files {
		if err := writeFile(filepath.Join(dir, name), func(w *bufio.Writer) error { write(w); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(w *bufio.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	err = write(w)
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
