package hosts

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/untraced"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// A Part is what a run has left on one host: the first file of an archive, which has the spool's
// files after it.
type Part struct {
	Host     string   `json:"host"`
	Run      Run      `json:"run"`
	Tasks    []int    `json:"tasks"`    // ranks, or unknown
	Problems []string `json:"problems"` // of the compressor, for people
	// CPUSeconds is what the compressor took, in WallSeconds: of the host, and of no rank.
	CPUSeconds  float64 `json:"cpu_seconds"`
	WallSeconds float64 `json:"wall_seconds"`
}

const (
	partSuffix   = ".tar.zst" // in the folder of the run
	packedPrefix = "packed-"  // in that of the host
	unfinished   = ".part-"   // the same, while it is written
	partFile     = "part.json"
	aliveFile    = "lock" // by which a process is known to be alive (spool.Directory.Alive)
	maxPart      = 64 << 20
)

// part describes the host at the end of its tasks.
func (h *host) part() *Part {
	if !h.run.Collected && len(processesIn(h.folder.spool())) == 0 {
		why, _ := untraced.NewObserver("").Explain(h.run.Command)
		h.note("nothing was traced: %s", why)
	}
	var own, children unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &own)
	_ = unix.Getrusage(unix.RUSAGE_CHILDREN, &children)
	seconds := 0.0
	for _, t := range []unix.Timeval{own.Utime, own.Stime, children.Utime, children.Stime} {
		seconds += float64(t.Sec) + float64(t.Usec)/1e6
	}
	run := *h.run
	run.Command = nil
	return &Part{
		Host: hostname(), Run: run, Tasks: h.tasks, Problems: h.problems,
		CPUSeconds: seconds, WallSeconds: time.Since(h.begun).Seconds(),
	}
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// pack writes the part of a folder into it, in the place of the spool.
func (f folder) pack(p *Part) error {
	out, err := os.CreateTemp(string(f), ".packed-"+p.Host+"-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	if err := errors.Join(p.write(out, f.spool()), out.Close()); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), f.path(strings.TrimPrefix(filepath.Base(out.Name()), "."))); err != nil {
		return err
	}
	return f.removeSpool()
}

// removeSpool removes the spool, with its files on a tmpfs.
func (f folder) removeSpool() error {
	tracerroot.RemoveBuffers(f.spool())
	return os.RemoveAll(f.spool())
}

// packed returns the names of the parts in a folder: a program may be started again in it before
// the first one is fetched.
func (f folder) packed() (names []string) {
	paths, _ := filepath.Glob(f.path(packedPrefix + "*"))
	for _, path := range paths {
		names = append(names, strings.TrimPrefix(filepath.Base(path), packedPrefix))
	}
	return names
}

func (f folder) openPacked(name string) (*os.File, error) {
	return os.OpenFile(f.path(packedPrefix+name), os.O_RDONLY|unix.O_NOFOLLOW, 0)
}

// deliver moves the parts of a folder, in which nothing else is, to that of the run.
func (f folder) deliver(run *Run) error {
	for _, name := range f.packed() {
		if err := f.copyPart(name, run.Out); err != nil {
			return err
		}
	}
	return f.remove()
}

func (f folder) copyPart(name, out string) error {
	in, err := f.openPacked(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return savePart(out, name, func(out io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// savePart writes a part into a run's folder, at once.
func savePart(folder, name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(partsOf(folder), 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(partsOf(folder), unfinished)
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	err = write(out)
	if err == nil {
		err = errors.Join(out.Chmod(0o644), out.Sync())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), filepath.Join(partsOf(folder), name+partSuffix))
}

// write writes the archive: compressed, since a spool has records that are in its checkpoints, too.
func (p *Part) write(out io.Writer, directory string) error {
	if err := spool.SaveFromTmpfs(directory); err != nil {
		return err
	}
	packed, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	description, err := json.Marshal(p)
	if err == nil {
		err = archive.WriteHeader(&tar.Header{Name: partFile, Mode: 0o644, Size: int64(len(description)), Format: tar.FormatPAX})
	}
	if err == nil {
		_, err = archive.Write(description)
	}
	if err == nil {
		err = addFiles(archive, directory)
	}
	return errors.Join(err, archive.Close(), packed.Close())
}

// addFiles adds the files of processes, and the tables of names.
func addFiles(archive *tar.Writer, directory string) error {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case !e.Type().IsRegular() || e.Name() == aliveFile || strings.HasPrefix(e.Name(), "."):
			return nil
		}
		in, err := root.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		info, err := in.Stat()
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: info.Size(), Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = io.CopyN(archive, in, info.Size())
		return err
	})
}

// list returns the paths of the parts in a run's folder.
func list(out string) []string {
	paths, _ := filepath.Glob(filepath.Join(partsOf(out), "*"+partSuffix))
	slices.Sort(paths)
	return paths
}

// Waiting reports whether parts in a run's folder have not been unpacked.
func Waiting(out string) bool { return len(list(out)) > 0 }

// complete reports whether the parts in a run's folder are those of all tasks.
func complete(out string) bool {
	missing, known := Missing(out)
	return known && missing == 0
}

// Missing returns the number of tasks of which there is no part in a run's folder, with those parts
// that were unpacked before. known is false if the launcher has not said how many there are.
func Missing(out string) (tasks int, known bool) {
	parts := Parts(out)
	for _, path := range list(out) {
		if p, err := readPart(path, ""); err == nil {
			parts = append(parts, p)
		}
	}
	ranks, size := map[int]bool{}, unknown
	for _, p := range parts {
		size = max(size, p.Run.Size)
		for _, rank := range p.Tasks {
			ranks[rank] = true
		}
	}
	delete(ranks, unknown)
	return max(size-len(ranks), 0), size != unknown
}

// AwaitAll waits for the parts of all tasks in a run's folder, or until somebody has finished it.
// It waits longer than the limit while a part is being written.
func AwaitAll(ctx context.Context, out string, limit time.Duration) {
	const poll = 50 * time.Millisecond
	mark := (&Run{Out: out}).mark()
	for deadline := time.Now().Add(limit); ctx.Err() == nil && exists(mark) && !complete(out); time.Sleep(poll) {
		if time.Now().After(deadline) && !arriving(out) {
			return
		}
	}
}

// recently is how long a part is expected after a sign of it.
const recently = 5 * time.Second

// comes has others know that the part of this host is being made, until the function is called that
// it returns.
func (r *Run) comes() (done func()) {
	if !r.sees() {
		return func() {}
	}
	sign, err := os.CreateTemp(partsOf(r.Out), unfinished)
	if err != nil {
		return func() {}
	}
	ended, removed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(removed)
		for beat := time.NewTicker(recently / 5); ; {
			select {
			case <-ended:
				beat.Stop()
				sign.Close()
				os.Remove(sign.Name())
				return
			case <-beat.C:
				_, _ = sign.WriteAt([]byte{1}, 0)
			}
		}
	}()
	return func() { close(ended); <-removed }
}

// arriving reports whether a host is making its part.
func arriving(out string) bool {
	paths, _ := filepath.Glob(filepath.Join(partsOf(out), unfinished+"*"))
	return slices.ContainsFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && time.Since(info.ModTime()) < recently
	})
}

// readPart reads a part, and writes its files into a spool, if one is given.
func readPart(path, into string) (*Part, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	packed, err := zstd.NewReader(bufio.NewReader(in), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	archive := tar.NewReader(packed)
	header, err := archive.Next()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := new(Part)
	if header.Name != partFile {
		return nil, fmt.Errorf("%s is not the part of a host", path)
	}
	if err := json.NewDecoder(io.LimitReader(archive, maxPart)).Decode(p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if into == "" {
		return p, nil
	}
	if err := unpack(archive, into); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// unpack writes the files of an archive below a folder.
func unpack(archive *tar.Reader, into string) error {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(header.Name), 0o755); err != nil {
			return err
		}
		out, err := root.Create(header.Name)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, archive)
		if err = errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
}

// HostsFile is the name of the file beside the trace that lists the parts which it was made from.
const HostsFile = "hosts.json"

// Unpack moves the parts of a run into a spool, and returns all that were unpacked so far. What is
// unpacked twice is the same.
func Unpack(out, spool string) (parts []*Part, err error) {
	parts = Parts(out)
	for _, path := range list(out) {
		p, failed := readPart(path, spool)
		if failed == nil {
			parts = append(parts, p)
			failed = os.Remove(path)
		}
		err = errors.Join(err, failed)
	}
	if len(parts) == 0 {
		return nil, err
	}
	raw, failed := json.Marshal(parts)
	if failed == nil {
		failed = os.WriteFile(filepath.Join(out, HostsFile), append(raw, '\n'), 0o644)
	}
	return parts, errors.Join(err, failed)
}

// Parts returns the parts of a run that were unpacked.
func Parts(out string) (parts []*Part) {
	if raw, err := os.ReadFile(filepath.Join(out, HostsFile)); err == nil {
		_ = json.Unmarshal(raw, &parts) // it is only to be printed
	}
	return parts
}
