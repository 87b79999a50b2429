package recorder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// A Report says how a recovery went.
type Report struct {
	Process    *Process
	Rank       int
	WorldSize  int
	Calls      uint64
	EndedEarly string // "" when MPI_Finalize returned
	Lost       uint64 // calls that are missing
	Checkpoint bool   // there was one
	Segments   int    // that were read
	Notes      []string
}

// maxSegmentFile bounds the segment files that a recovery reads.
const maxSegmentFile = maxSegmentBytes + segmentHeaderSize

// Recover finishes what a process left in its directory, from its last checkpoint and the segments since. It only
// reads, so that it can be done by another user and repeated.
func Recover(dir string) (*trace.Content, *Report, error) {
	content, report, _, err := recoverAt(dir, true)
	return content, report, err
}

// Snapshot is the trace of a living process so far: its last checkpoint and what can be read of the segments since.
func Snapshot(dir string) (*trace.Content, *Report, error) {
	const tries = 5
	var err error
	for range tries {
		var content *trace.Content
		var report *Report
		var before, after uint64
		content, report, before, err = recoverAt(dir, false)
		if err != nil {
			continue // as when both files of the state were written while we read them
		}
		// A checkpoint in between means that segments were reused while we read them.
		if _, after, _, err = readState(dir); err == nil && before == after {
			return content, report, nil
		}
	}
	if err == nil {
		err = errors.New("the process checkpoints faster than it can be read")
	}
	return nil, nil, err
}

// recoverAt also returns the number of the checkpoint that it went on from.
func recoverAt(dir string, ended bool) (*trace.Content, *Report, uint64, error) {
	fail := func(err error) (*trace.Content, *Report, uint64, error) { return nil, nil, 0, err }
	p, err := ReadProcess(dir)
	if err != nil {
		return fail(err)
	}
	times, err := os.Open(filepath.Join(dir, spillFile))
	if err == nil {
		defer times.Close()
	} else if !errors.Is(err, os.ErrNotExist) {
		return fail(err)
	}
	r, number, err := readCheckpoint(dir, p, times)
	if err != nil {
		return fail(err)
	}
	report := &Report{Process: p, Checkpoint: r != nil}
	if r == nil {
		r = New(p)
	}
	r.readDictionary(dir)
	r.life = readLife(dir)
	sources, err := r.readSegments(dir, ended)
	if err != nil {
		return fail(err)
	}
	for _, s := range sources {
		report.Segments += len(s.segments)
	}
	r.consume(sources)
	if p.BootID != "" && p.BootID == bootID() {
		if now, ok := sampleNow(p.Clock.Kind); ok {
			r.sampleSkipped = r.sampleEvery // the last sample is always kept
			r.addSample(now)
		}
	}
	var found *evidence
	if b, err := os.ReadFile(filepath.Join(dir, evidenceFile)); err == nil {
		found = decodeEvidence(b, r.sites.of)
	}
	content, err := r.Content()
	if err != nil {
		return fail(err)
	}
	found.addTo(content)
	if b, err := os.ReadFile(filepath.Join(dir, contextFile)); err == nil {
		content.Ranks.Change(0, func(r *trace.Rank) { r.Context = decodeContext(b) })
	}
	if ended {
		report.EndedEarly = r.endedEarly()
		content.Ranks.Change(0, func(rank *trace.Rank) {
			if rank.EndedEarly = report.EndedEarly; report.EndedEarly != "" {
				rank.End = r.life.end(r)
			}
		})
	}
	report.Rank, report.WorldSize = content.Ranks.At(0).Rank, content.Meta.WorldSize
	report.Calls = r.Calls()
	report.Lost = r.lost.Dropped + r.lost.Malformed
	report.Notes = content.Meta.Notes
	return content, report, number, nil
}

// readCheckpoint reads the newest state, if there is one; times is the file of times, nil if there is none.
func readCheckpoint(dir string, p *Process, times *os.File) (*Recorder, uint64, error) {
	state, number, ok, err := readState(dir)
	if err != nil || !ok {
		return nil, 0, err
	}
	var spilled int64
	if times != nil {
		info, err := times.Stat()
		if err != nil {
			return nil, 0, err
		}
		spilled = info.Size()
	}
	r, err := Restore(p, state, spilled)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", filepath.Join(dir, stateFiles[number%2]), err)
	}
	if times != nil {
		r.times = times
	}
	return r, number, nil
}

// readSegments reads the segments that the recorder has not worked off yet, thread by thread.
func (r *Recorder) readSegments(dir string, ended bool) ([]*source, error) {
	names, err := fs.Glob(os.DirFS(dir), segmentGlob) // not filepath.Glob: dir is no pattern
	if err != nil {
		return nil, err
	}
	byThread := map[uint32]*source{}
	for _, name := range names {
		seg, err := readSegment(filepath.Join(dir, name))
		switch {
		case errors.Is(err, errSegment):
			// a file that was made but never given to a thread, or was just being
			continue
		case errors.Is(err, os.ErrNotExist) && !ended:
			continue // removed between listing and opening
		case err != nil:
			return nil, err
		}
		if seg.stopped != "" {
			r.addNote("tracing stopped: %s", seg.stopped)
			r.stopped = true
		}
		s := byThread[seg.thread]
		if s == nil {
			s = &source{thread: r.thread(seg.thread), closed: ended, ended: ended}
			byThread[seg.thread] = s
		}
		if seg.sequence >= s.thread.sequence {
			s.segments = append(s.segments, seg)
		}
	}
	var sources []*source
	for _, s := range byThread {
		sort.Slice(s.segments, func(i, j int) bool { return s.segments[i].sequence < s.segments[j].sequence })
		if n := len(s.segments); n > 0 && !ended {
			last := s.segments[n-1]
			if s.segments[n-1], err = readSettled(last); err != nil {
				return nil, err
			}
		}
		if missing := s.trim(r); missing && !ended {
			return nil, errMoved
		}
		sources = append(sources, s)
	}
	sort.Slice(sources, func(i, j int) bool { return sources[i].thread.number < sources[j].thread.number })
	return sources, nil
}

// errMoved says that segments of a living process went on while they were read.
var errMoved = errors.New("segments were reused while they were read")

// trim makes sure that segments follow on each other and on what the checkpoint has.
func (s *source) trim(r *Recorder) (missing bool) {
	t := s.thread
	if len(s.segments) > 0 && s.segments[0].sequence != t.sequence {
		r.addNote("thread %d: segments %d to %d are missing", t.number, t.sequence, s.segments[0].sequence-1)
		t.offset = 0
		missing = true
	}
	// a checkpoint can have worked off the beginning of its first segment
	s.started = t.offset > 0
	for i := 1; i < len(s.segments); i++ {
		if s.segments[i].sequence != s.segments[i-1].sequence+1 {
			r.addNote("thread %d: segments are missing after %d", t.number, s.segments[i-1].sequence)
			missing = true
		}
	}
	return missing
}

// readSegment reads a segment file.
func readSegment(path string) (*segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSegmentFile {
		return nil, fmt.Errorf("%s: %d bytes", path, info.Size())
	}
	// Only what is used is read, rounded up to words: the file of a short run is mostly unused.
	header := make([]uint64, headerWords)
	if _, err := io.ReadFull(f, bytesOf(header)); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errSegment
		}
		return nil, err
	}
	h, err := parseSegmentHeader(header)
	if err != nil {
		return nil, errSegment
	}
	used := min(h.used, uint64(info.Size()-segmentHeaderSize)) / 8
	words := make([]uint64, headerWords+used)
	copy(words, header)
	n, err := f.ReadAt(bytesOf(words[headerWords:]), segmentHeaderSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return &segment{path: path, thread: h.thread, sequence: h.sequence, words: words[:headerWords+n/8], stopped: printable([]byte(h.stopped))}, nil
}

// readSettled reads the segment that a thread of a living process is writing to, up to the first call that has not
// returned. Which calls have is taken from a first reading and their content from a second one, so that nothing is half
// written.
func readSettled(first *segment) (*segment, error) {
	settled := headerWords
	for limit := first.available(); ; {
		_, reserved, open := first.recordAt(settled, limit)
		if reserved == 0 || open {
			break
		}
		settled += reserved
	}
	second, err := readSegment(first.path)
	if err != nil {
		return nil, err
	}
	if second.thread != first.thread || second.sequence != first.sequence || len(second.words) < settled {
		return nil, errSegment
	}
	second.words = second.words[:settled]
	return second, nil
}

// endedEarly says how a process ended that did not get through MPI_Finalize.
func (r *Recorder) endedEarly() string {
	if r.finalized {
		return ""
	}
	for _, t := range r.threads {
		if t.inFlight != 0 && !r.stopped {
			return "killed in " + mpi.ByID(t.inFlight).Name
		}
	}
	var last *thread
	for _, t := range r.threads {
		if t.calls > 0 && (last == nil || t.lastExit > last.lastExit) {
			last = t
		}
	}
	if last == nil {
		return "before MPI_Init"
	}
	if r.stopped {
		return "tracing stopped after " + mpi.ByID(last.lastFunction).Name
	}
	return "after " + mpi.ByID(last.lastFunction).Name
}
