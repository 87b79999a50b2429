package catalog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Folder has the corpus, relative to the root of the repository.
const Folder = "apps"

// A Program is a block of programs.txt.
type Program struct {
	Name     string
	About    string
	Packages []string // of Debian; the first one has the program
	Language string
	Uses     string   // what of MPI it is in the corpus for
	Own      bool     // a small program of this repository
	Longer   []string // what makes it take some seconds instead of one
	Prepare  []string
	Commands []Command
	OpenMP   int // threads of each rank
}

// A Command is how a program is started under one of the MPIs.
type Command struct {
	MPI   string
	Ranks int // of the first program, if the command has several
	Line  string
}

// New returns a program without commands.
func New(name string) Program { return Program{Name: name, OpenMP: 1} }

// Set sets what a line of the program's block says. It reports whether the word is one of those
// that say how the program is run.
func (p *Program) Set(word, value string) (known bool, err error) {
	switch word {
	case "about":
		p.About = value
	case "package":
		p.Packages = strings.Fields(value)
	case "language":
		p.Language = value
	case "uses":
		p.Uses = value
	case "own":
		p.Own = true
	case "longer":
		p.Longer = append(p.Longer, value)
	case "prepare":
		p.Prepare = append(p.Prepare, value)
	case "openmp":
		p.OpenMP, err = strconv.Atoi(value)
	case "openmpi", "mpich":
		ranks, line, _ := strings.Cut(value, " ")
		n, bad := strconv.Atoi(ranks)
		if bad != nil || n < 1 {
			return true, fmt.Errorf("%s: %q is no number of ranks", word, ranks)
		}
		p.Commands = append(p.Commands, Command{MPI: word, Ranks: n, Line: strings.TrimSpace(line)})
	default:
		return false, nil
	}
	return true, err
}

// Read returns the programs of a folder. Words that say nothing about how a program is run are not
// looked at.
func Read(folder string) (all []*Program, err error) {
	err = Lines(filepath.Join(folder, "programs.txt"), func(line string) error {
		if line[0] != ' ' {
			p := New(strings.TrimSpace(line))
			all = append(all, &p)
			return nil
		}
		if len(all) == 0 {
			return fmt.Errorf("%q belongs to no program", line)
		}
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, err := all[len(all)-1].Set(word, strings.TrimSpace(value))
		return err
	})
	return all, err
}

// Lines calls a function with each line of a file that is not empty and no comment. An error gets
// the place.
func Lines(path string, do func(line string) error) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(string(text), "\n") {
		if t := strings.TrimSpace(line); t == "" || strings.HasPrefix(t, "#") {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
	}
	return nil
}

// InstalledVersion returns the version of the package of a program.
func (p *Program) InstalledVersion() (string, error) {
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}\n", p.Packages[0]).Output()
	if err != nil || strings.TrimSpace(string(out)) == "" {
		return "", fmt.Errorf("%s is not installed: hack/install.sh apps", p.Packages[0])
	}
	return strings.TrimSpace(string(out)), nil
}

// Environment returns the environment of all commands. Debian's Python has the modules, whichever
// Python comes first here.
func (p *Program) Environment() []string {
	return append(os.Environ(), "PATH=/usr/bin:"+os.Getenv("PATH"), fmt.Sprintf("OMP_NUM_THREADS=%d", p.OpenMP),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1", "LC_ALL=C.UTF-8")
}

// Shell returns a command line that runs in a folder.
func (p *Program) Shell(dir, line string) *exec.Cmd {
	c := exec.Command("/bin/bash", "-c", line)
	c.Dir, c.Env = dir, p.Environment()
	return c
}

// Place makes dir a fresh folder with the inputs of the program, changed to take longer if that is
// wanted, and does all that is prepared in it with run.
func (p *Program) Place(dir, mpi string, longer bool, run func(*exec.Cmd) error) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	inputs := filepath.Join(Folder, "inputs", p.Name)
	if _, err := os.Stat(inputs); err == nil {
		if err := os.CopyFS(dir, os.DirFS(inputs)); err != nil {
			return err
		}
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lines := p.Prepare
	if longer {
		lines = slices.Concat(p.Longer, p.Prepare)
	}
	for _, line := range lines {
		line = strings.ReplaceAll(line, "{mpi}", mpi)
		if err := run(p.Shell(dir, line)); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// Launcher is the command that starts ranks. Ranks are not bound to cores: a shared machine would
// make them wait for one core while another one idles.
func Launcher(mpi string, ranks int) []string {
	if mpi == "openmpi" {
		return []string{"mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-np", fmt.Sprint(ranks)}
	}
	return []string{"mpirun.mpich", "-np", fmt.Sprint(ranks)}
}
