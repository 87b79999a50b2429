package spool

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Sizes of the spool.
const (
	maxBufferBytes  = 1 << 30
	checkpointBytes = 4 << 20   // least number of raw bytes between checkpoints
	stepBytes       = 8 << 20   // of buffers that are read at once
	maxLiveBuffer   = 64 << 20  // larger ones are left to the recovery
	maxStateKept    = 1 << 20   // capacity of the checkpoint buffer that is kept between checkpoints
	maxStateBytes   = 128 << 20 // size of a checkpoint above which tracing stops: the program is too irregular
)

// A Writer compresses the records of a living process, outside of it: it reads the buffers that
// threads have filled, writes checkpoints, and releases the buffers that these include. Until then
// a recovery starts from them. It is not safe for concurrent use.
//
// All that it needs is in the directory, so another Writer can go on whenever one is killed.
type Writer struct {
	directory *Directory
	process   *record.Process
	recorder  *recorder.Recorder

	state       []byte // buffer for checkpoints
	checkpoints uint64 // number of checkpoints so far
	logs        [3]blockLog
	tables      tableLog
	answer      answer // the compressor's to the process

	raw         int64 // bytes of the buffers that were consumed since the last checkpoint
	inBuffers   int64 // bytes of all buffers on the disk
	stateSize   int64
	maxState    int64          // size of a checkpoint above which tracing stops
	failure     error          // of the last checkpoint
	diskBytes   int64          // of the logs and tables
	stateDisk   [2]int64       // sizes of the state files
	budget      *budget.Budget // shared by all processes of the spool; nil: this process has its own limit
	usage       usage
	memoryShare int // Limits.Memory from the next checkpoint on; 0: as it is

	// for tests: called at every named step, and before each header is read
	hook    func(step string)
	listing func()
}

// reach marks a named step, at which tests can make the compressor die (steps_test.go).
func (w *Writer) reach(step string) {
	if w.hook != nil {
		w.hook(step)
	}
}

// ErrStopped reports that the compressor has stopped for this process: its state is too large.
var ErrStopped = errors.New("tracing has stopped")

// Compress begins to compress the records of a process, or goes on where an earlier Writer has
// written its last checkpoint. account is that of the spool, nil if there is none.
func (d *Directory) Compress(account *budget.Budget) (*Writer, error) {
	last, err := d.restore()
	if err != nil {
		return nil, err
	}
	w := &Writer{directory: d, process: last.process, recorder: last.recorder, budget: account, maxState: maxStateBytes}
	if w.process.SharedSpool == 0 {
		w.budget = nil
	}
	w.logs = [3]blockLog{
		{prefix: timesFile, fileBytes: blockLogBytes}, {prefix: valuesFile, fileBytes: blockLogBytes}, {prefix: chaptersFile, fileBytes: 1},
	}
	w.tables.minBytes = minTables
	if err := w.resume(last); err != nil {
		return nil, err
	}
	w.recorder.Dictionary().Follow(&fileOf{d, record.DictionaryFile})
	return w, nil
}

// resume goes on after the last checkpoint. It removes what was written after that.
func (w *Writer) resume(last *lastCheckpoint) error {
	if last.found {
		w.checkpoints, w.stateSize = last.head.Number+1, stateFrame+int64(last.head.Length)+stateSum
		if err := w.tables.resume(w.directory, last.tables); err != nil {
			return err
		}
		w.diskBytes += w.tables.at.Bytes
	}
	for i := range w.logs {
		bytes, err := w.logs[i].resume(w.directory, last.head.Logs[i])
		if err != nil {
			return err
		}
		w.diskBytes += bytes
	}
	for i, name := range stateFiles {
		w.stateDisk[i] = w.directory.sizeOf(name)
	}
	w.resumeUsage()
	return w.answer.resume(w.directory)
}

// SetMemory sets how much memory the recorder may take, from the next checkpoint on: it stands
// there, since a recovery must take the same decisions.
func (w *Writer) SetMemory(bytes int) { w.memoryShare = bytes }

// Memory returns the memory in bytes that the recorder had after the last step, as estimated.
func (w *Writer) Memory() int { return int(w.usage.Memory) }

// Step compresses the buffers that are full, and writes a checkpoint if one is due. If the process
// has requested a ballot, the answer gets it. more reports that there are other full buffers. ring
// is what the process said before.
func (w *Writer) Step(ring RingState) (more bool, err error) {
	if w.answer.isStopped() {
		return false, ErrStopped
	}
	more, err = w.step(ring.Cuts == w.Answered(), ring.Once)
	if err == nil && ring.Cuts != w.Answered() {
		err = w.answerBallot(ring.Cuts)
	}
	return more, err
}

// answerBallot tells the process its ballot about the interval that its latest cut ended, if the
// records so far have that cut.
func (w *Writer) answerBallot(cuts uint64) error {
	b, ok := w.recorder.Ballot(cuts - 1)
	if !ok {
		return nil
	}
	w.answer.setBallot(cuts, b)
	return w.answer.write(w.directory)
}

// Answered returns the number of cuts whose ballots the answer has.
func (w *Writer) Answered() uint64 { return w.answer.cuts() }

// step does so; closed: records in buffers that are not full can wait.
func (w *Writer) step(closed bool, once int64) (more bool, err error) {
	runtime.LockOSThread() // whose CPU time is that of the step
	defer runtime.UnlockOSThread()
	began := threadTime()
	memory := memories.Get().(*bufferMemory)
	defer memories.Put(memory)
	memory.reset()
	sources, files, err := w.directory.readBuffers(w.recorder,
		reading{living: true, closed: closed, most: stepBytes, memory: memory, odd: func(error) {}, hook: w.listing})
	if err != nil {
		return false, err
	}
	w.reach("buffers read")
	w.recorder.ConsumeOrWait(sources, closed)
	w.reach("buffers consumed")
	w.inBuffers = 0
	progress := false
	for _, f := range files {
		if !f.onTmpfs { // which the spool's limit does not count
			w.inBuffers += f.size
		}
		done := f.consumedBy(w.recorder)
		if done && !f.done {
			w.raw += f.size
			progress = true
		}
		more = more || f.header.Closed && !done
	}
	if w.raw > max(checkpointBytes, w.stateSize) {
		if w.failure = w.checkpoint(); w.failure == nil {
			err = w.release(files, once)
		}
	}
	w.usage.CPU += uint64(threadTime() - began)
	w.noteUsage()
	return more && progress, errors.Join(err, w.failure)
}

// memories are kept between steps, of whichever process, but not for long.
var memories = sync.Pool{New: func() any { return new(bufferMemory) }}

// checkpoint writes the state. The buffers of its records can be released after that.
func (w *Writer) checkpoint() error {
	w.reach("checkpoint begins")
	before := w.diskBytes
	w.recorder.CloseBlocks()
	if err := w.writeBlocks(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	w.reach("blocks written")
	if w.memoryShare > 0 {
		// the dictionary is a part of the share, but must not take all of it
		w.recorder.Limits.Memory = max(w.memoryShare-w.recorder.Dictionary().Memory(), w.memoryShare/2)
	}
	w.tables.add(w.recorder)
	tables, _ := w.tables.next()
	w.state = w.recorder.AppendCheckpoint(append(w.state[:0], make([]byte, stateFrame)...), tables, nil)
	w.state = w.frameState(w.state)
	size, added := int64(len(w.state)), int64(len(w.tables.pending))
	growth := max(size-w.stateDisk[w.checkpoints%2], 0)
	if !w.takeState(size, growth, added, w.diskBytes-before) {
		return w.limitReached()
	}
	w.reach("state encoded")
	if err := w.tables.write(w.directory); err != nil {
		w.budget.Add(-growth - added)
		return fmt.Errorf("checkpoint: %w", err)
	}
	w.diskBytes += added
	w.usage.Written += uint64(added)
	w.reach("tables written")
	if err := w.directory.writeState(w.checkpoints, w.state); err != nil {
		w.budget.Add(-growth)
		return fmt.Errorf("checkpoint: %w", err)
	}
	w.stateDisk[w.checkpoints%2] += growth
	w.usage.Written += uint64(size)
	w.reach("state written")
	w.checkpoints++
	if cap(w.state) > maxStateKept {
		w.state = nil
	}
	w.stateSize, w.raw = size, 0
	if freed := w.tables.removeObsolete(w.directory); freed > 0 {
		w.diskBytes -= freed
		w.budget.Add(-freed)
		w.reach("old tables removed")
	}
	w.forgetRemoved()
	if whole := size + w.tables.base; whole > w.maxState {
		return w.stop(fmt.Sprintf("the recorder's state has reached %d MiB: the calls of this process hardly repeat", whole>>20))
	}
	return nil
}

// release tells the process which buffers it can use again, and removes those that it does not use
// again. It must follow a checkpoint. once is how many bytes of the latter it has made so far.
func (w *Writer) release(files []bufferFile, once int64) error {
	var words [record.BufferHeaderWords]uint64
	copies := map[string][]bufferFile{}
	for _, f := range files {
		done := f.consumedBy(w.recorder)
		switch isOnce := strings.HasPrefix(f.name, oncePrefix); {
		case isOnce && done:
			if err := w.removeBuffers(f); err != nil {
				return err
			}
		case isOnce:
			once -= f.size
		case f.isCopy():
			copies[f.name] = append(copies[f.name], f)
			once -= f.size
		case done && f.inRing():
			// The header may have been read while a thread wrote it: that of the use before with
			// the number of the new one.
			if now, err := w.directory.headerNow(f.bufferPlace, words[:]); err == nil && now.isUseOf(&f) && now.consumedBy(w.recorder) {
				w.answer.release(f.slot, f.header.Taken)
			}
		}
	}
	latest := slices.MaxFunc(append(slices.Collect(maps.Keys(copies)), ""), compareCopies)
	for name, files := range copies {
		if name == latest && len(files) < rawlayout.Copies || slices.ContainsFunc(files, func(f bufferFile) bool { return !f.consumedBy(w.recorder) }) {
			continue // the process may write to it
		}
		if err := w.removeBuffers(files...); err != nil {
			return err
		}
		for _, f := range files {
			once += f.size
		}
	}
	removed := max(int64(w.answer.word(rawlayout.CompressorRemovedAt)), once) // once may not include all that was listed
	w.answer.set(rawlayout.CompressorRemovedAt, uint64(removed))
	w.reach("buffers released")
	w.answer.set(rawlayout.CompressorBytesAt, uint64(w.onDisk()))
	return w.answer.write(w.directory)
}

// compareCopies compares names of files by the number of the copies in them.
func compareCopies(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// removeBuffers removes the file that these buffers are in.
func (w *Writer) removeBuffers(files ...bufferFile) error {
	if err := w.directory.root.Remove(files[0].name); err != nil {
		return err
	}
	for _, f := range files {
		w.budget.Add(-f.size)
		w.inBuffers -= f.size
	}
	w.reach("buffer removed")
	return nil
}

// stop has the process stop tracing when it takes its next buffer.
func (w *Writer) stop(why string) error {
	w.answer.stop(why)
	return errors.Join(ErrStopped, w.answer.write(w.directory))
}

// onDisk returns the bytes of the compressor's files.
func (w *Writer) onDisk() int64 { return w.diskBytes + w.stateDisk[0] + w.stateDisk[1] }

// takeState reports whether there is room for a state that makes its file longer by growth bytes
// and its tables by added bytes, after the logs have grown by logged bytes.
func (w *Writer) takeState(size, growth, added, logged int64) bool {
	if w.budget != nil {
		reserve := int64(0)
		if growth+added+logged > 0 {
			// Room for the next checkpoint, without which there is no use in continuing: the old
			// state and the new one, and all tables anew. The last sixteenth is for processes that
			// begin, so that the trace at least shows them.
			reserve = w.budget.Limit()/16 + 2*w.stateSize + w.tables.at.Bytes
		}
		return w.budget.Take(growth+added, w.tables.at.Bytes+w.stateDisk[0]+w.stateDisk[1], reserve)
	}
	limit := w.process.SpoolLimitBytes
	return limit <= 0 || w.inBuffers+w.diskBytes+w.stateSize+size+added <= limit
}

func (w *Writer) limitReached() error {
	limit := w.process.SpoolLimitBytes
	if w.budget != nil {
		limit = w.budget.Limit()
	}
	return limitError(limit)
}

// A limitError reports that the spool has reached its limit in bytes.
type limitError int64

func (l limitError) Error() string {
	return fmt.Sprintf("the spool limit of %d bytes is reached", int64(l))
}

func (limitError) Unwrap() error { return unix.EDQUOT }
