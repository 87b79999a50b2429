package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// table lists all cases.
//
//go:embed cases.txt
var table string

// A benchmark is a case of the table.
type benchmark struct {
	name                   string
	about, against, target string            // against: a peer or a floor
	params                 map[string]string // with their defaults
	run                    func(*bench)
}

// measuring has the function of each case.
var measuring = map[string]func(*bench){
	"baseline-sizes":        baselineSizes,
	"baseline-commands":     baselineCommands,
	"baseline-instructions": baselineInstructions,
	"parts":                 parts,
	"tracer-calls":          tracerCalls,
	"tracer-cold":           tracerCold,
	"tracer-lines":          tracerLines,
	"tracer-bytes":          tracerBytes,
	"tracer-start":          tracerStart,
	"tracer-evidence":       tracerEvidence,
	"tracer-disk":           tracerDisk,
	"tracer-idle":           tracerIdle,
	"tracer-instructions":   tracerInstructions,
	"tracer-npb":            tracerNPB,
	"languages":             languages,
	"clustering":            clustering,
	"trace-sizes":           traceSizes,
	"trace-clock":           traceClock,
	"trace-simulated":       traceSimulated,
	"trace-timing":          traceTiming,
	"trace-decode":          traceDecode,
	"merge":                 merges,
	"analyze-stencil":       analyzeStencils,
	"analyze-memory":        analyzeMemory,
	"analyze-irregular":     analyzeIrregular,
	"short":                 short,
	"clusters":              clustersOfMany,
	"tables":                tables,
	"histogram":             histograms,
	"scale-rates":           scaleRates,
	"scale-unseen":          scaleUnseen,
	"predict":               predictions,
	"simgrid":               simgrid,
	"skeleton":              skeletons,
	"replay-calls":          replayCalls,
	"replay-times":          replayTimes,
	"long":                  long,
	"operator":              operator,
	"verdict":               verdicts,
	"strangers":             strangersBench,
	"cpus":                  busyCPUs,
	"topology":              topologies,
	"verify-npb":            verifyNPB,
	"verify-osu":            verifyOSU,
}

var parameter = regexp.MustCompile(`^([A-Z]+)=(.*?)  \S`)

// readCases parses the table: a name, and indented lines with a word and text.
func readCases() (all []*benchmark, err error) {
	var c *benchmark
	for line := range strings.Lines(table) {
		word, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		param := parameter.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case word == "" || word == "#":
		case line[0] != ' ':
			c = &benchmark{name: word, params: map[string]string{"ROUNDS": "1"}, run: measuring[word]}
			if all = append(all, c); c.run == nil {
				return nil, fmt.Errorf("bench/cases.txt: no function of cases.go measures %s", word)
			}
		case param != nil:
			c.params[param[1]] = param[2]
		case word == "measures":
			c.about = strings.TrimSpace(text)
		case word == "against":
			c.against = strings.TrimSpace(text)
		case word == "target":
			c.target = strings.TrimSpace(text)
		default:
			return nil, fmt.Errorf("bench/cases.txt: %s of %s: not measures, against, target or NAME=", word,
				c.name)
		}
	}
	return all, nil
}

// chosen returns the cases with these names or beginnings of names.
func chosen(names []string) (of []*benchmark, err error) {
	all, err := readCases()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		before := len(of)
		for _, c := range all {
			if c.name == name || strings.HasPrefix(c.name, name+"-") {
				of = append(of, c)
			}
		}
		if len(of) == before {
			return nil, fmt.Errorf("there is no case %s: make bench lists them", name)
		}
	}
	return of, nil
}

// param returns the value of a parameter of the case.
func (c *benchmark) param(name string) string {
	usual, known := c.params[name]
	if !known {
		panic(fmt.Sprintf("bench/cases.txt: %s has no parameter %s", c.name, name))
	}
	if s := os.Getenv(name); s != "" {
		return s
	}
	return usual
}

func (b *bench) param(name string) string { return b.of.param(name) }

func (b *bench) number(name string) int { return get(strconv.Atoi(b.param(name))) }

func (b *bench) words(name string) []string { return strings.Fields(b.param(name)) }

// given reports whether a parameter has a value.
func (b *bench) given(name string) bool { return b.param(name) != "" }
