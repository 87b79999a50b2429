package commands_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// ending runs a command line and returns its exit code and its last line.
func ending(t *testing.T, arguments ...string) (code int, said string) {
	t.Helper()
	c := commands.Root()
	c.SetArgs(arguments)
	c.SetOut(new(bytes.Buffer))
	c.SetErr(new(bytes.Buffer))
	err := c.ExecuteContext(t.Context())
	if err == nil {
		return 0, ""
	}
	code, _ = cli.ExitCode(err)
	return code, err.Error()
}

// nonsense maps each numeric flag to values that it must refuse, for a trace of 4 ranks.
var nonsense = map[string][]string{
	"simulate --ranks":             {"0", "-1", "16777217"},
	"simulate --iterations":        {"0", "-1"},
	"simulate --bytes":             {"0", "-1"},
	"simulate --grid":              {"0,4", "-2,-2", "4"},
	"simulate --points":            {"-1"},
	"simulate --reduce":            {"0", "-2"},
	"simulate --steps":             {"0", "-1"},
	"simulate --variety":           {"0", "-1"},
	"simulate --regrid":            {"0", "-1"},
	"simulate --compute":           {"0", "-1ms"},
	"simulate --slow-rank":         {"-1", "4"},
	"simulate --slow-percent":      {"-101"},
	"simulate --slow-node":         {"-1", "1"},
	"simulate --slow-node-percent": {"-101"},
	"simulate --linear-percent":    {"-101"},
	"simulate --noise-percent":     {"-1"},
	"simulate --seed":              {"-1"},
	"simulate --latency":           {"0", "-1"},
	"simulate --per-byte":          {"0", "-1"},
	"simulate --eager":             {"0", "-1"},
	"simulate --collective":        {"0", "-1"},
	"simulate --call":              {"0", "-1"},
	"simulate --ranks-per-node":    {"0", "-1"},
	"simulate --skew":              {"1"},
	"dump --rank":                  {"-1", "4"},
	"analyze --index":              {"-1"},
	"analyze --of":                 {"-1"},
	"analyze --patience":           {"-1"},
	"report --patience":            {"-1"},
	"merge --patience":             {"-1"},
	"delete-prefix --patience":     {"-1"},
	"analyze --from":               {"-1", "1e10"},
	"analyze --to":                 {"-1", "1e10"},
	"export --from":                {"-1", "1e10"},
	"export --to":                  {"-1", "1e10"},
	"export --latency":             {"-1us", "1"},
	"export --bandwidth":           {"-1", "1e10"},
	"replay --compute-scale":       {"-1", "1e7"},
	"replay-rank --compute-scale":  {"-1", "1e7"},
	"replay-feed --rank":           {"-1"},
	"replay-feed --threads":        {"0"},
	"replay-feed --first-file":     {"2"},
	"skeleton --scale":             {"-1", "0"},
	"scale --ranks":                {"0", "-1"},
	"graph --from":                 {"-1", "1e10"},
	"graph --to":                   {"-1", "1e10"},
	"clusters --k":                 {"-1", "5"},
	"clusters --frames":            {"-1"},
	"clusters --threshold":         {"-1", "101"},
	"program --threshold":          {"-1", "101"},
	"reduce --k":                   {"-1", "5"},
	"reduce --frames":              {"-1"},
	"predict --latency":            {"-1us", "1"},
	"predict --overhead":           {"-1us", "1"},
	"predict --bandwidth":          {"-1"},
	"predict --handshake-from":     {"-1"},
	"merge --collect-timeout":      {"-1"},
	"merge --fan-in":               {"-1", "1"},
	"merge --level":                {"-1"},
	"merge --index":                {"-1"},
	"merge --pods":                 {"-1"},
	"ship --grace":                 {}, // ship never fails (TestShipNeverFails)
	"ship --spool-limit-bytes":     {},
}

// Invalid numbers are errors of the command line that name the flag. The test walks over all
// commands, so that flags missing in the table are found.
func TestNonsenseNumbers(t *testing.T) {
	numeric := []string{"int", "int64", "uint64", "float", "float64", "duration", "seconds", "ints", "intSlice", "durationSlice"}
	others := []string{"string", "bool", "strings", "stringSlice", "stringArray"}
	four := cairntest.TraceFile(t, tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 4, Iterations: 3}))
	eight := cairntest.TraceFile(t, tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 8, Iterations: 3}))
	whatElse := map[string][]string{
		"simulate": {"--pattern", "stencil2d", "-o", t.TempDir() + "/x.cairn"}, "dump": {four}, "analyze": {four, "-o", t.TempDir()},
		"replay": {four, "--", "true"}, "replay-rank": {four}, "replay-feed": {four}, "skeleton": {four, "-o", t.TempDir()}, "scale": {four, eight},
		"export": {four, "-o", t.TempDir() + "/x"}, "graph": {four}, "clusters": {four}, "program": {four, "--logical"},
		"reduce": {four, "--leads", "-o", t.TempDir() + "/x.cairn"}, "predict": {four}, "merge": {"--job", "--store", t.TempDir()},
		"report": {"--job", "--store", t.TempDir()}, "delete-prefix": {"--store", t.TempDir()},
	}
	seen := map[string]bool{}
	for _, c := range commands.Root().Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if !slices.Contains(numeric, kind) {
				require.Contains(t, others, kind, "%s --%s", c.Name(), f.Name)
				return
			}
			name := c.Name() + " --" + f.Name
			seen[name] = true
			values, known := nonsense[name]
			require.True(t, known, "%s is not in the table", name)
			if len(values) == 0 {
				return
			}
			for _, value := range append([]string{"", "NaN", "+Inf", "x", "99999999999999999999999"}, values...) {
				checkRefused(t, c, f, value, whatElse[c.Name()])
			}
		})
	}
	for name := range nonsense {
		assert.True(t, seen[name], "there is no %s", name)
	}
}

func checkRefused(t *testing.T, c *cobra.Command, f *pflag.Flag, value string, others []string) {
	t.Helper()
	code, said := ending(t, append([]string{c.Name(), "--" + f.Name + "=" + value}, others...)...)
	assert.Equal(t, cli.ExitUsage, code, "%s --%s=%s: %s", c.Name(), f.Name, value, said)
	// simulate checks flags that depend on each other
	if c.Name() != "simulate" || !strings.HasPrefix(said, "simulate:") {
		assert.True(t, strings.Contains(said, "--"+f.Name) || strings.Contains(said, "rank"), said)
	}
}

// Lists of ranks that the trace lacks, and settings with numbers in them.
func TestNonsenseNumbersInTexts(t *testing.T) {
	four := cairntest.TraceFile(t, tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 4, Iterations: 3}))
	for _, arguments := range [][]string{
		{"export", four, "-o", t.TempDir() + "/x", "--ranks", "4"}, {"export", four, "-o", t.TempDir() + "/x", "--ranks", "0-4"},
		{"export", four, "-o", t.TempDir() + "/x", "--ranks", "-1"}, {"graph", four, "--to", "1", "--ranks", "7"},
		{"predict", four, "--compute", "4=0.5"}, {"predict", four, "--compute", "0-4=0.5"}, {"predict", four, "--compute", "0=NaN"},
		{"predict", four, "--compute", "0=-1"}, {"predict", four, "--compute", "0=Inf"},
		{"run", "--timing-error", "0", "--", "true"}, {"run", "--timing-error", "51", "--", "true"}, {"run", "--timing-error", "NaN", "--", "true"},
		{"run", "--mode", "clustered", "--clustering", "wait=0", "--", "true"}, {"run", "--mode", "clustered", "--clustering", "frames=-1", "--", "true"},
		{"run", "--clustering", "wait=5", "--", "true"},
	} {
		code, said := ending(t, arguments...)
		assert.Equal(t, cli.ExitUsage, code, "%v: %s", arguments, said)
	}
}

// Valid numbers are accepted.
func TestValidNumbers(t *testing.T) {
	out := t.TempDir() + "/x.cairn"
	for _, arguments := range [][]string{
		{"simulate", "--ranks", "1", "-o", out}, {"simulate", "--pattern", "stencil2d", "--reduce", "-1", "--slow-rank", "3", "--slow-percent", "-50", "-o", out},
		{"dump", out, "--rank", "0"}, {"clusters", out, "--threshold", "0", "--k", "4"}, {"predict", out, "--latency", "0", "--bandwidth", "2.5e1"},
		{"predict", out, "--compute", "0,3=0.5", "--compute", "all=1"},
	} {
		code, said := ending(t, arguments...)
		assert.Equal(t, 0, code, "%v: %s", arguments, said)
	}
}
