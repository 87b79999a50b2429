package hosts

import (
	"errors"
	"time"
)

// Deliver has the parts of this host in the folder of a run: it waits for the compressors that are
// at work, and makes the parts of those that were killed.
func Deliver(out string, limit time.Duration) (err error) {
	for _, here := range foldersOf(func(run *Run) bool { return run.Out == out }) {
		err = errors.Join(err, here.deliverLeft(limit))
	}
	return err
}

// deliverLeft does that for one folder.
func (f folder) deliverLeft(limit time.Duration) error {
	held, err := f.await(limit)
	if held == nil {
		return err
	}
	defer held.Close()
	if err := f.packLeft(); err != nil {
		return err
	}
	run, err := f.run()
	if err != nil {
		return err
	}
	return f.deliver(run)
}

// packLeft packs what a compressor that was killed has left, if there is anything.
func (f folder) packLeft() error {
	if !exists(f.spool()) {
		return nil
	}
	if anyAlive(f.spool()) {
		return ErrRunning
	}
	run, err := f.run()
	if err != nil {
		return err
	}
	const killed = "its compressor was killed before the job's end, or with it; this command has read what the ranks recorded"
	return f.pack(&Part{Host: hostname(), Run: *run, Tasks: f.tasks(), Problems: []string{killed}})
}
