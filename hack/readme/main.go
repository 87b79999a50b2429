// Command readme keeps the output blocks of a Markdown file up to date: it runs the command that
// each block names, and writes or checks its output. A block is
//
//	<!-- output: COMMAND -->
//	```
//	…
//	```
//
// "output(cluster): COMMAND" marks blocks that need the demo's cluster. With -cluster only
// these are run, without it only the others. -write updates the file. Without -write it fails
// and names the blocks that differ, except for numbers and the width of columns, which change
// from run to run.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	write := flag.Bool("write", false, "write what the commands print into the file")
	cluster := flag.Bool("cluster", false, "run the blocks that need the demo's cluster, not the others")
	flag.Parse()
	if err := run(flag.Arg(0), *write, *cluster); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

var block = regexp.MustCompile("(?s)<!-- output(\\(cluster\\))?: ([^\n]*?) -->\n```[a-z]*\n(.*?)```")

// again is how often the command of a block that differs is repeated: measurements are sampled, so
// that on a machine with other load a sentence may lack a clause.
const again = 3

func run(path string, write, cluster bool) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var differ []string
	text := block.ReplaceAllStringFunc(string(raw), func(whole string) string {
		parts := block.FindStringSubmatch(whole)
		needsCluster, command, before := parts[1] != "", parts[2], parts[3]
		if needsCluster != cluster {
			return whole
		}
		after, err := output(command)
		for range again {
			if write || err != nil || mask(after) == mask(before) {
				break
			}
			after, err = output(command)
		}
		if err != nil {
			differ = append(differ, fmt.Sprintf("%s: %v", command, err))
			return whole
		}
		if !write && mask(after) != mask(before) {
			differ = append(differ, fmt.Sprintf("%s\n--- in %s\n%s--- printed\n%s", command, path, before, after))
		}
		return whole[:len(whole)-len(before)-len("```")] + after + "```"
	})
	if len(differ) > 0 {
		return fmt.Errorf("%d output blocks of %s do not hold (`make docs` writes them anew):\n%s", len(differ), path, strings.Join(differ, "\n"))
	}
	if write {
		return os.WriteFile(path, []byte(text), 0o644)
	}
	return nil
}

// output is what a terminal shows: standard output and standard error, without trailing blanks.
func output(command string) (string, error) {
	out, err := exec.Command("bash", "-c", command).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n") + "\n", nil
}

var (
	host       = regexp.MustCompile(`\(host [^)]*\)`)
	identifier = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{12,}\b`)
	age        = regexp.MustCompile(`\b([0-9]+[dhms])+\b`)
	number     = regexp.MustCompile(`[-+]?[0-9]+([.,][0-9]+)*`)
	unit       = regexp.MustCompile(`N (ns|us|µs|ms|s|B|KB|MB|bytes|calls/s)\b`)
	runDelay   = regexp.MustCompile(`, waited N unit for a CPU`) // a kernel without schedstat does not count it
	steal      = regexp.MustCompile(`(?m)^steal on .*\n`)        // only where a hypervisor took a CPU meanwhile
	blank      = regexp.MustCompile(`[ \t]+|─+|-{2,}|█+`)
)

// mask replaces what may change from run to run.
func mask(s string) string {
	s = steal.ReplaceAllString(s, "")
	s = host.ReplaceAllString(s, "(host H)")
	s = identifier.ReplaceAllString(s, "ID")
	s = age.ReplaceAllString(s, "N")
	s = number.ReplaceAllString(s, "N")
	s = unit.ReplaceAllString(s, "N unit")
	s = runDelay.ReplaceAllString(s, "")
	return blank.ReplaceAllString(s, " ")
}
