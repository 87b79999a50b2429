package hosts

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// NewRun returns the description of a run that `cairn run` starts and collects.
func NewRun(out string, config settings.Settings) *Run {
	return &Run{ID: "run-" + rand.Text(), Out: out, Settings: config, Collected: true}
}

// orUntraced runs the program also on hosts that do not have this command.
const orUntraced = `[ -x "$0" ] && exec "$0" exec --run "$@"; shift; echo "cairn: there is no $0 on $(hostname): what runs there is not traced" >&2; exec "$@"`

// Prefix returns what is to be put in front of the program so that it is a task of the run.
func (r *Run) Prefix() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	// launchers pass arguments on as text
	return []string{"/bin/sh", "-c", orUntraced, self, base64.RawURLEncoding.EncodeToString(raw)}, nil
}

func parseRun(text string) (r Run, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	return r, err
}

// arrival is how long parts are awaited before they are asked for.
const arrival = time.Second

// Collect has the parts of all hosts in the run's folder: those that see it write to it. The others
// are asked by means of the launcher.
func (r *Run) Collect(ctx context.Context, line *launch.CommandLine) error {
	AwaitAll(r.Out, arrival)
	if complete(r.Out) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ask := func(hear func(io.Reader) error, arguments ...string) error {
		turn := append([]string{self, sendCommand, "--run", r.ID, "--turn", rand.Text()}, arguments...)
		return listen(ctx, line.Replaced(turn...), hear)
	}
	var names, done []string
	err = ask(func(out io.Reader) error {
		names = announcements(out)
		return nil
	})
	for _, name := range names {
		failed := ask(func(out io.Reader) error { return save(out, r.Out, name) }, "--part", name)
		if failed == nil {
			done = append(done, name)
		}
		err = errors.Join(err, failed)
	}
	if len(done) > 0 {
		err = errors.Join(err, ask(func(io.Reader) error { return nil }, "--done", strings.Join(done, ",")))
	}
	return err
}

// listen runs a command and has its standard output read.
func listen(ctx context.Context, command []string, hear func(io.Reader) error) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return err
	}
	heard := hear(out)
	_, _ = io.Copy(io.Discard, out)
	if err := c.Wait(); err != nil {
		return fmt.Errorf("the launcher: %w: %s", err, strings.TrimSpace(problems.String()))
	}
	return heard
}

// lines calls a function with what follows the keyword of each line that has one. Launchers may
// print a rank in front of each.
func lines(out io.Reader, f func(keyword, text string) error) error {
	for in := bufio.NewScanner(out); in.Scan(); {
		for _, keyword := range []string{announcement, piece, ending} {
			if _, text, found := strings.Cut(in.Text(), keyword+" "); found {
				if err := f(keyword, strings.TrimSpace(text)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func announcements(out io.Reader) (names []string) {
	_ = lines(out, func(keyword, text string) error {
		if keyword == announcement && filepath.IsLocal(text) && filepath.Base(text) == text {
			names = append(names, text)
		}
		return nil
	})
	return names
}

// save writes the part that is sent to a run's folder.
func save(in io.Reader, folder, name string) error {
	err := savePart(folder, name, func(out io.Writer) error {
		sum, whole := sha256.New(), false
		err := lines(in, func(keyword, text string) error {
			switch keyword {
			case piece:
				raw, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return err
				}
				_, _ = sum.Write(raw)
				_, err = out.Write(raw)
				return err
			case ending:
				whole = text == hex.EncodeToString(sum.Sum(nil))
			}
			return nil
		})
		if err == nil && !whole {
			err = errors.New("not all of it has arrived")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the part %s: %w", name, err)
	}
	return nil
}
