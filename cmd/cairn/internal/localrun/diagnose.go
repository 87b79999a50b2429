package localrun

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// whyNothingWasTraced examines a command that left no trace and returns the most likely reason as
// one sentence. Any argument may be the program: launchers accept many options before it.
func whyNothingWasTraced(command []string) string {
	var static, plain []string
	for _, argument := range command {
		path, err := exec.LookPath(argument)
		if err != nil {
			continue
		}
		switch kind := inspectELF(path); {
		case kind.usesMPI:
			return fmt.Sprintf("%s uses %s but no rank of it called MPI_Init under the tracer (was it started on another host, or by a launcher that clears LD_PRELOAD?)", argument, kind.library)
		case kind.static:
			static = append(static, argument)
		case kind.dynamic && !isLauncher(path):
			plain = append(plain, argument)
		}
	}
	switch {
	case len(static) > 0:
		return fmt.Sprintf("%s is statically linked, and a tracer can only be loaded into a dynamically linked program: link it with the shared MPI library", strings.Join(static, ", "))
	case len(plain) > 0:
		return fmt.Sprintf("no process called MPI_Init under the tracer, and %s is not linked to an MPI library (a program that finds MPI with dlopen and dlsym is not traced)", strings.Join(plain, ", "))
	}
	return "no process called MPI_Init under the tracer"
}

type binary struct {
	dynamic, static, usesMPI bool
	library                  string
}

// inspectELF reads the properties of an ELF file. For any other file it returns the zero value.
func inspectELF(path string) binary {
	f, err := elf.Open(path)
	if err != nil {
		return binary{}
	}
	defer f.Close()
	b := binary{static: f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			b.static, b.dynamic = false, true
		}
	}
	libraries, _ := f.ImportedLibraries()
	for _, library := range libraries {
		if strings.HasPrefix(library, "libmpi") {
			b.usesMPI, b.library = true, library
		}
	}
	return b
}

// isLauncher reports whether path is a known launcher, which starts MPI programs but is not one
// itself.
func isLauncher(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if resolved, err := os.Readlink(path); err == nil && strings.Contains(resolved, "alternatives") {
		return true
	}
	for _, launcher := range []string{"mpirun", "mpiexec", "orterun", "prterun", "prun", "hydra", "srun", "env", "sh", "bash", "dash", "timeout", "nice", "taskset", "numactl", "python"} {
		if strings.HasPrefix(name, launcher) {
			return true
		}
	}
	return false
}
