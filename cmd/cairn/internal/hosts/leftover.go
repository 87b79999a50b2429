package hosts

import (
	"errors"
	"os"
	"strings"
	"time"
)

// Deliver has the parts of this host in the folder of a run: it waits for the compressors that are
// at work, and makes the parts of those that were killed. The run's folder may have another name
// here than the job had for it: it has the run's name.
func Deliver(out string, limit time.Duration) (err error) {
	for _, here := range foldersOf(func(run *Run) bool { return run.Out == out || (&Run{ID: run.ID, Out: out}).sees() }) {
		err = errors.Join(err, here.deliverLeft(limit))
	}
	return err
}

// Places returns where a host may have something of a run, outside of the run's folder.
func Places() string { return strings.Join(parents(), ", ") }

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
	problem := "its compressor ended before its work was done, as with a batch system that ends all processes of a job; " +
		"this command has read what the ranks recorded"
	if words := f.lastWords(); words != "" {
		problem += "; it said: " + words
	}
	return f.pack(&Part{Host: hostname(), Run: *run, Tasks: f.tasks(), Problems: []string{problem}})
}

// lastWords returns the last line in the compressor's log.
func (f folder) lastWords() string {
	raw, _ := os.ReadFile(f.path(logFile))
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return lines[len(lines)-1]
}
