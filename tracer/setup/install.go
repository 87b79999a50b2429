package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/tracer/budget"
)

// InstallOptions says what to copy where.
type InstallOptions struct {
	To        string // the directory to fill
	Binary    string // the binary that probes; "" is the one beside the one that runs
	Libraries string // directory of the tracer's libraries; "" is looked for beside the binary
	Refused   string // why nothing is to be traced, whatever can be installed; "" if it may be
	// SpoolLimitBytes is how much all processes of the pod may have in the spool; 0: the sidecar says so, if anybody does.
	SpoolLimitBytes int64
}

// Binaries: what is installed for the probe is small, and what all else is done with is not.
const (
	probeBinary     = "cairn-probe"
	installedBinary = "cairn"
)

// Install copies the probe to To/cairn and the libraries to To/lib and makes
// To/spool, where anybody may create files and only their owner may remove
// them. It may be repeated.
//
// What fails makes a verdict against tracing, and no more: a failing init container would keep the job from running. What
// a pod cannot start without is made first, because it needs no room: the preload file, empty, and the spool. The probe
// finds the verdict in To, and passes it on.
func Install(o InstallOptions) Verdict {
	v := Verdict{Traceable: true, ABI: []ABI{}, Architecture: runtime.GOARCH}
	for _, step := range []func(InstallOptions) error{makePlaces, installProbe, installLibraries, checkSpool} {
		if err := step(o); err != nil {
			var other *architectureError
			if errors.As(err, &other) {
				refuse(&v, messages.ProbeUnsupportedArchitecture, err.Error())
			} else if v.Traceable {
				refuse(&v, messages.ProbeInternalError, "cannot install the tracer: "+err.Error())
			}
		}
	}
	if o.Refused != "" {
		refuse(&v, messages.ProbeInternalError, o.Refused)
	}
	note := filepath.Join(o.To, InstallFile)
	if v.Traceable {
		makeAccount(o)
		if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
			refuse(&v, messages.ProbeInternalError, "cannot install the tracer: "+err.Error())
		}
		return v
	}
	// half a tracer is of no use, and its room is needed
	removeLibraries(o.To)
	v = v.Fit()
	raw, err := messages.Encode(v)
	if err == nil {
		err = writeFile(note, raw, 0o644)
	}
	if err != nil { // the probe will miss the libraries
		v.Message += fmt.Sprintf(" (and cannot note it: %v)", err)
	}
	return v
}

// makePlaces makes what containers mount: a subPath of a missing file keeps a container from starting. Nothing is
// preloaded until the probe says so.
func makePlaces(o InstallOptions) error {
	if err := makeReadable(o.To); err != nil {
		return err
	}
	removeLeftovers(o.To)
	file, err := os.OpenFile(filepath.Join(o.To, PreloadFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(file.Chmod(0o644), file.Close())
	for _, dir := range []string{"spool", filepath.Join("spool", "symbols")} {
		err = errors.Join(err, makeShared(filepath.Join(o.To, dir)))
	}
	return err
}

// makeAccount makes the account of the spool, which the sidecar keeps: the first rank may begin before that does. Without it
// each process has a limit of its own, so that it is no reason not to trace.
func makeAccount(o InstallOptions) {
	if o.SpoolLimitBytes <= 0 {
		return
	}
	root, err := os.OpenRoot(filepath.Join(o.To, "spool"))
	if err != nil {
		return
	}
	defer root.Close()
	if account, err := budget.Make(root, o.SpoolLimitBytes); err == nil {
		_ = account.Close()
	}
}

// checkSpool: where the sticky bit does not hold, any user could remove another's trace.
func checkSpool(o InstallOptions) error { return shared(filepath.Join(o.To, "spool")) }

// installProbe copies the probe. It is worth more than libraries of an earlier installation: without it the next
// container of the pod has no command. Where there is no room for it at all, the command is true(1) of the user's image,
// which needs none: that pod runs, and the operator takes what this container said.
func installProbe(o InstallOptions) error {
	from, err := o.probe()
	if err != nil {
		return errors.Join(err, extrapolation(o.To))
	}
	to := filepath.Join(o.To, installedBinary)
	err = copyFile(from, to, 0o755)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		removeLibraries(o.To)
		err = copyFile(from, to, 0o755)
	}
	if err != nil {
		return errors.Join(err, extrapolation(o.To))
	}
	return nil
}

// extrapolation makes the command of the next container, if there is none, one that ends well.
func extrapolation(dir string) error {
	to := filepath.Join(dir, installedBinary)
	if _, err := os.Lstat(to); err == nil {
		return nil // of an earlier installation
	}
	return os.Symlink("/bin/true", to)
}

// probe is the binary to copy.
func (o InstallOptions) probe() (string, error) {
	if o.Binary != "" {
		return o.Binary, nil
	}
	self, err := executable()
	if err != nil {
		return "", err
	}
	if beside := filepath.Join(filepath.Dir(self), probeBinary); isFile(beside) {
		return beside, nil
	}
	return self, nil
}

func executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(self)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// architectureError: the tracer has no libraries for this machine.
type architectureError struct{ cause error }

func (e *architectureError) Error() string {
	return fmt.Sprintf("the tracer is for %s; this node is %s", TracerArchitecture, runtime.GOARCH)
}

func (e *architectureError) Unwrap() error { return e.cause }

// installLibraries copies the tracer's libraries.
func installLibraries(o InstallOptions) error {
	if o.Libraries == "" {
		beside := o.Binary
		if beside == "" {
			self, err := executable()
			if err != nil {
				return err
			}
			beside = self
		}
		found, err := FindLibraries(beside)
		if err != nil && runtime.GOARCH != TracerArchitecture {
			return &architectureError{err}
		}
		if err != nil {
			return err
		}
		o.Libraries = found
	}
	libraries, err := fs.Glob(os.DirFS(o.Libraries), "libcairn-*.so")
	if err != nil || len(libraries) == 0 {
		return fmt.Errorf("there is no libcairn-*.so in %s", o.Libraries)
	}
	if err := makeReadable(filepath.Join(o.To, "lib")); err != nil {
		return err
	}
	for _, library := range libraries {
		if err := copyFile(filepath.Join(o.Libraries, library), filepath.Join(o.To, "lib", library), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// keepSize is FALLOC_FL_KEEP_SIZE.
const keepSize = 1

// temporary is how files are called while they are written.
const temporary = ".cairn-"

// removeLeftovers removes what an installation that was killed had begun to write.
func removeLeftovers(dir string) {
	for _, in := range []string{dir, filepath.Join(dir, "lib")} {
		names, _ := filepath.Glob(filepath.Join(in, temporary+"*"))
		for _, name := range names {
			os.Remove(name)
		}
	}
}

func removeLibraries(dir string) {
	removeLeftovers(dir)
	names, _ := filepath.Glob(filepath.Join(dir, "lib", "libcairn-*.so"))
	for _, name := range names {
		os.Remove(name)
	}
}

// makeReadable makes a directory that all users can enter, whatever the umask;
// one that is there, such as a pod's volume, stays as it is.
func makeReadable(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// makeShared makes a directory like /tmp. The umask takes bits from Mkdir's
// mode, and some systems take the sticky bit, so it is set, and looked at by shared.
func makeShared(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := shared(dir); err == nil {
		return nil // also one that is another user's
	}
	return os.Chmod(dir, sharedMode)
}

const sharedMode = os.ModeSticky | 0o777

// shared is an error where not everybody may create files in a directory, or more than their owner may remove them.
func shared(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if got := info.Mode() & (os.ModeSticky | os.ModePerm); got != sharedMode {
		return fmt.Errorf("%s has mode %v, needs %v", dir, got, sharedMode)
	}
	return nil
}

// FindLibraries looks for the tracer's libraries where `make build` and the image have them.
func FindLibraries(binary string) (string, error) {
	beside := filepath.Dir(binary)
	var tried []string
	for _, dir := range []string{filepath.Join(beside, "..", "lib"), filepath.Join(beside, "..", "lib", "cairn"), filepath.Join(beside, "lib")} {
		if _, err := os.Stat(filepath.Join(dir, CoreLibrary)); err == nil {
			return filepath.Clean(dir), nil
		}
		tried = append(tried, filepath.Clean(dir))
	}
	return "", fmt.Errorf("the tracer's libraries are not beside this binary (looked in %s)", strings.Join(tried, ", "))
}

// copyFile copies with exactly this mode; the destination appears complete or not at all.
func copyFile(from, to string, mode os.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	return replace(to, mode, func(file *os.File) error {
		// room is asked for before anything is written: a volume that is too small is known at once
		err := syscall.Fallocate(int(file.Fd()), keepSize, 0, max(info.Size(), 1))
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return &fs.PathError{Op: "write", Path: to, Err: err}
		}
		_, err = io.Copy(file, source)
		return err
	})
}

func writeFile(to string, content []byte, mode os.FileMode) error {
	return replace(to, mode, func(to *os.File) error {
		_, err := to.Write(content)
		return err
	})
}

func replace(to string, mode os.FileMode, write func(*os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(to), temporary)
	if err != nil {
		return err
	}
	err = write(tmp)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), to)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
