package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/tracer/budget"
)

// InstallOptions are the options of Install.
type InstallOptions struct {
	To        string // the directory to fill
	Binary    string // the binary that probes; "": the one beside the running one
	Libraries string // directory of the tracer's libraries; "": searched beside the binary
	Refused   string // why the pod must not be traced, whatever can be installed; "" if it may be
	// SpoolLimitBytes is the limit for all processes of the pod together; 0: the sidecar sets it,
	// if there is one.
	SpoolLimitBytes int64
	// Buffers is a folder on a tmpfs for record buffers; "": they are in the spool.
	Buffers string
}

// buffersLink is spool.TmpfsLink; that package is too large for the probe.
const buffersLink = "buffers"

// Names of the binaries: the small one that is installed for the probe, and the one for
// everything else.
const (
	probeBinary     = "cairn-probe"
	installedBinary = "cairn"
)

// Install copies the probe to To/cairn and the libraries to To/lib. It creates To/spool, where
// anybody may create files and only their owner may remove them. It may be repeated.
//
// A failure leads to a verdict against tracing, and nothing else, since a failing init container
// would keep the job from running. What a pod cannot start without is created first, because it
// needs no space: the empty preload file, and the spool. The verdict is also written to To, where
// the probe finds it and passes it on.
func Install(o InstallOptions) Verdict {
	v := Verdict{Traceable: true, ABI: []ABI{}, Architecture: runtime.GOARCH}
	for _, step := range []func(InstallOptions) error{makeMountTargets, installProbe, installLibraries, checkSpool} {
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
		makeBudget(o)
		linkBuffers(o)
		if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
			refuse(&v, messages.ProbeInternalError, "cannot install the tracer: "+err.Error())
		}
		return v
	}
	// an incomplete tracer is useless, and its space is needed
	removeLibraries(o.To)
	v = v.Fit()
	raw, err := messages.Encode(v)
	if err == nil {
		err = writeFile(note, raw, 0o644)
	}
	if err != nil { // the probe will find the libraries missing
		v.Message += fmt.Sprintf(" (and this verdict could not be saved: %v)", err)
	}
	return v
}

// makeMountTargets creates what containers mount, since a container with a subPath of a missing
// file cannot start. The preload file stays empty until the probe writes it.
func makeMountTargets(o InstallOptions) error {
	if err := makeReadable(o.To); err != nil {
		return err
	}
	removeLeftovers(o.To)
	file, err := os.OpenFile(filepath.Join(o.To, PreloadFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(file.Chmod(0o644), file.Close())
	return errors.Join(err, makeShared(filepath.Join(o.To, "spool")))
}

// makeBudget creates the budget of the spool, which the sidecar maintains, because the first rank
// may start before the sidecar. If that fails each process has a limit of its own, so it is no
// reason not to trace.
func makeBudget(o InstallOptions) {
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

// linkBuffers makes the spool's link to a folder on the tmpfs. The folder is our own and has the
// sticky bit, which the volume does not have. If that fails the buffers are in the spool.
func linkBuffers(o InstallOptions) {
	if o.Buffers == "" {
		return
	}
	folder := filepath.Join(o.Buffers, "processes")
	if makeShared(folder) == nil {
		_ = os.Symlink(folder, filepath.Join(o.To, "spool", buffersLink))
	}
}

// checkSpool checks the mode of the spool: without the sticky bit any user could remove
// another's trace.
func checkSpool(o InstallOptions) error { return shared(filepath.Join(o.To, "spool")) }

// installProbe copies the probe. It is more important than libraries of an earlier installation:
// without it the pod's next container has no command. If there is no space at all the command is a
// link to true(1) of the user's image, which needs none: the pod runs, and the operator uses the
// verdict of this container.
func installProbe(o InstallOptions) error {
	from, err := o.probe()
	if err != nil {
		return errors.Join(err, linkTrue(o.To))
	}
	to := filepath.Join(o.To, installedBinary)
	err = copyFile(from, to, 0o755)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		removeLibraries(o.To)
		err = copyFile(from, to, 0o755)
	}
	if err != nil {
		return errors.Join(err, linkTrue(o.To))
	}
	return nil
}

// linkTrue creates a command for the next container that always succeeds, if there is no command.
func linkTrue(dir string) error {
	to := filepath.Join(dir, installedBinary)
	if _, err := os.Lstat(to); err == nil {
		return nil // there is one of an earlier installation
	}
	return os.Symlink("/bin/true", to)
}

// probe returns the path of the binary to copy.
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

// architectureError reports that the tracer has no libraries for this machine.
type architectureError struct{ cause error }

func (e *architectureError) Error() string {
	return fmt.Sprintf("the tracer is for %s; this node is %s", strings.Join(tracerArchitectures, " and "), runtime.GOARCH)
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
		if err != nil && !slices.Contains(tracerArchitectures, runtime.GOARCH) {
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

// temporary is the prefix of the names of incomplete files.
const temporary = ".cairn-"

// removeLeftovers removes incomplete files of an installation that was killed.
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

// makeReadable creates a directory that all users can enter, whatever the umask. It does not change
// an existing one, such as a pod's volume.
func makeReadable(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// makeShared creates a directory like /tmp. It sets the mode explicitly, because the umask clears
// bits of Mkdir's mode and some systems clear the sticky bit. shared checks the result.
func makeShared(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := shared(dir); err == nil {
		return nil // possibly another user's
	}
	return os.Chmod(dir, sharedMode)
}

const sharedMode = os.ModeSticky | 0o777

// shared returns an error if not everybody may create files in a directory, or if others than their
// owner may remove them.
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
		for _, abi := range []ABI{OpenMPI, MPICH} {
			if _, err := os.Stat(filepath.Join(dir, Shim(abi))); err == nil {
				return filepath.Clean(dir), nil
			}
		}
		tried = append(tried, filepath.Clean(dir))
	}
	return "", fmt.Errorf("the tracer's libraries are not beside this binary (looked in %s)", strings.Join(tried, ", "))
}

// copyFile copies a file with exactly this mode, atomically.
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
		// allocate before writing: a volume that is too small is noticed at once
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
