package untraced

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// A finding is something that was seen, and what to try.
type finding struct {
	weight       int // how much it says of the MPI program
	names        []string
	fact, advice string
}

// Weights of findings.
const (
	nothing  = iota
	noMPI    // the tracer is there, MPI is not
	noInit   // both are
	untraced // the tracer is not, or cannot write
	certain  // MPI is, and the tracer is not
)

// containers start programs where neither this process's environment nor its folders are.
var containers = regexp.MustCompile(`^(docker|podman|nerdctl|apptainer|singularity|enroot|ch-run|kubectl)$`)

// best returns the finding that says most.
func (o *Observer) best() finding {
	var best finding
	for _, name := range slices.Sorted(maps.Keys(o.seen)) {
		p := o.seen[name]
		f := p.finding()
		switch {
		case f.weight < certain && starts(name):
		case f.weight > best.weight:
			best = f
			best.names = []string{name}
		case f.weight == best.weight && f.fact == best.fact:
			best.names = append(best.names, name)
		}
	}
	return best
}

// NotLoaded returns what was seen of processes into which the tracer was not loaded, and what to
// try; "": there were none, except for launchers.
func (o *Observer) NotLoaded() string {
	if best := o.best(); best.weight >= untraced {
		return best.text()
	}
	return ""
}

// Explain returns why the command was not traced, as far as anything was seen of that, and what to
// try: one sentence without a final period. seen reports whether there was a process of an MPI
// program, or one into which the tracer could not be loaded.
func (o *Observer) Explain(command []string) (text string, seen bool) {
	best := o.best()
	container := ""
	for _, word := range command {
		if containers.MatchString(filepath.Base(word)) {
			container = filepath.Base(word)
		}
	}
	switch {
	case best.weight < untraced && container != "" && o.root == "":
		return fmt.Sprintf("no process called MPI_Init under the tracer on the hosts' side of %s: put `cairn exec -o DIR` in front of the program inside of the container", container), false
	case best.weight < untraced && container != "":
		return fmt.Sprintf("no process called MPI_Init under the tracer on this side of %s: run cairn inside of the container, or give it %s and the variables LD_PRELOAD and CAIRN_ROOT",
			container, strings.Join([]string{o.root, o.libraries}, ", ")), false
	case best.weight == nothing:
		return o.ofFiles(command), false
	}
	return best.text(), best.weight >= noInit
}

func (f *finding) text() string {
	name := f.names[0]
	if others := len(f.names) - 1; others > 0 {
		name += fmt.Sprintf(" (and %s like it)", wording.Count(others, "other", "others"))
	}
	return fmt.Sprintf("%s %s: %s", name, f.fact, f.advice)
}

// finding returns what a process says.
func (p *process) finding() finding {
	if p.traced() {
		return p.traceable()
	}
	f := p.file.finding()
	switch {
	case strings.HasPrefix(filepath.Base(p.name), "qemu-"):
		f = finding{fact: "emulates another machine than that of the tracer (" + runtime.GOARCH + ")", advice: "run the program on such a machine"}
	case f.weight == untraced:
	case p.loaded:
		f = finding{fact: "runs where " + p.readOnly + " is mounted read-only, and the tracer cannot write to it",
			advice: "name a folder with -o that it can write to"}
	case p.secure:
		f = secure("runs with other rights than its caller has")
	case len(p.hidden) > 0:
		f = finding{fact: "runs in another root, in which " + strings.Join(p.hidden, " and ") + " cannot be seen",
			advice: "bind the folders into the container with the same paths, and pass LD_PRELOAD and CAIRN_ROOT on (apptainer --bind, docker -v and -e)"}
	case p.cleared && p.preload != "":
		f = finding{fact: "was started with LD_PRELOAD=" + p.preload + ", without the tracer's", advice: "add to the variable instead of setting it (LD_PRELOAD=…:$LD_PRELOAD)"}
	case p.cleared:
		f = finding{fact: "was started without the tracer's LD_PRELOAD", advice: "whatever clears the variable (env -i and sudo do) has to pass LD_PRELOAD and CAIRN_ROOT on"}
	case p.known && p.given:
		f = finding{fact: "did not load the tracer, although it was started with its LD_PRELOAD", advice: "its dynamic linker, " + cmp.Or(p.file.loader, "which is not known") + ", says why with LD_DEBUG=libs"}
	default:
		return finding{}
	}
	f.weight = untraced
	if p.mpi != "" || p.file.mpi != "" {
		f.weight = certain
	}
	return f
}

// traceable returns what a process says in which the tracer is.
func (p *process) traceable() finding {
	switch {
	case p.mpi == "":
		return finding{weight: noMPI, fact: "had the tracer loaded, but no MPI library", advice: "is it the MPI program, and did it come to where it uses MPI?"}
	case p.file.mpi == "":
		return finding{weight: noInit, fact: "had loaded " + p.mpi + " itself, and called no MPI_Init that the tracer saw",
			advice: "functions that a program looks up in that library (dlopen, dlsym) are not traced; those of a program or plug-in that is linked with it, or looks them up with RTLD_DEFAULT, are"}
	}
	return finding{weight: noInit, fact: "had the tracer and " + p.mpi + " loaded, and recorded no call",
		advice: "did it end before MPI_Init, or say why it is not traced?"}
}

func secure(why string) finding {
	return finding{fact: why + ", and the system loads no LD_PRELOAD into such a program", advice: "trace a copy of it without these rights"}
}

// finding returns why the tracer cannot be in processes of an executable.
func (b *file) finding() (f finding) {
	switch {
	case b.foreign != "":
		f = finding{fact: fmt.Sprintf("is a program for another machine (%s) than the tracer (%s)", b.foreign, runtime.GOARCH), advice: "build it for this one"}
	case b.elf && b.static:
		f = finding{fact: "is statically linked, and a tracer can only be loaded into a dynamically linked program", advice: "link it with the shared MPI library"}
	case b.rights != "":
		f = secure(b.rights)
	default:
		return f
	}
	f.weight = untraced
	return f
}

// ofFiles returns what the words of a command say of which no process was seen. Any of them may be
// the program: launchers accept many options before it.
func (o *Observer) ofFiles(command []string) string {
	var best finding
	advice := "only processes on this machine that get LD_PRELOAD and CAIRN_ROOT are traced; did it end before?"
	if o.root == "" {
		advice = "programs that the launcher starts get LD_PRELOAD and CAIRN_ROOT, and what they start only if both are passed on; did it end before?"
	}
	for _, word := range command {
		path, err := exec.LookPath(word)
		if err != nil || starts(path) {
			continue
		}
		b := inspect(path)
		f := b.finding()
		switch {
		case f.weight == untraced:
		case b.mpi != "":
			f = finding{weight: certain, fact: "is linked with " + b.mpi + ", and no process of it was seen to call MPI_Init under the tracer",
				advice: advice}
		case b.elf:
			f = finding{weight: noMPI, fact: "is not linked with an MPI library, and no process called MPI_Init under the tracer", advice: "is it the MPI program?"}
		}
		if f.weight > best.weight {
			best = f
			best.names = []string{word}
		}
	}
	if best.weight == nothing {
		return "no process called MPI_Init under the tracer"
	}
	return best.text()
}
