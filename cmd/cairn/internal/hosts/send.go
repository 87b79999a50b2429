package hosts

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// Parts of hosts that do not see the run's folder come through the launcher: `cairn run` starts its
// command again, with `cairn send` in the place of the program. Standard output of all tasks
// arrives in one stream, in pieces that may be cut anywhere. So first each host announces its part
// with one short line. Then the command is started once for each part, which is the only output
// then, and at last once so that hosts remove what has arrived.
const (
	announcement = "cairn-part:" // name of a part
	piece        = "cairn-data:" // base64
	ending       = "cairn-end:"  // SHA-256

	turnFile = "turn-"

	pieceBytes = 1536
	// sendLimit is how long a host may write its part when the job has ended.
	sendLimit = time.Minute
)

// A sender is `cairn send` on one host.
type sender struct {
	run, turn, part string
	done            []string
	out             io.Writer
}

// NewSendCommand returns the command that sends the part of a host.
func NewSendCommand() *cobra.Command {
	var s sender
	c := &cobra.Command{
		Use:    sendCommand,
		Short:  "Write what this host has of a run to standard output (cairn run starts it)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s.out = c.OutOrStdout()
			return s.send()
		},
	}
	c.Flags().StringVar(&s.run, "run", "", "name of the run")
	c.Flags().StringVar(&s.turn, "turn", "", "a name of this start: one task of each host answers")
	c.Flags().StringVar(&s.part, "part", "", "name of the part to send; without it each host announces its own")
	c.Flags().StringSliceVar(&s.done, "done", nil, "names of parts that have arrived")
	return c
}

func (s *sender) send() (err error) {
	for _, here := range foldersOf(func(run *Run) bool { return run.ID == s.run }) {
		// whoever makes it is the one of this host
		turn, failed := os.OpenFile(here.path(turnFile+s.turn), os.O_CREATE|os.O_EXCL, 0o600)
		if failed != nil {
			continue
		}
		turn.Close()
		switch {
		case s.done != nil:
			err = errors.Join(err, s.remove(here))
		case s.part != "":
			if slices.Contains(here.packed(), s.part) {
				err = errors.Join(err, s.copy(here.openPacked(s.part)))
			}
		default:
			err = errors.Join(err, s.announce(here))
		}
	}
	return err
}

// remove removes the parts that have arrived, and the folder unless there is something else in it.
func (s *sender) remove(here folder) (err error) {
	for _, name := range here.packed() {
		if slices.Contains(s.done, name) {
			err = errors.Join(err, os.Remove(here.path(packedPrefix+name)))
		}
	}
	held, failed := here.lock()
	if held == nil {
		return errors.Join(err, failed) // another start of the program has it
	}
	defer held.Close()
	if len(here.packed()) == 0 && !exists(here.spool()) {
		err = errors.Join(err, here.remove())
	}
	return err
}

// announce packs what a host has, unless that is in the run's folder, and prints the names of
// parts.
func (s *sender) announce(here folder) error {
	held, err := here.await(sendLimit)
	if held == nil {
		return err
	}
	defer held.Close()
	if err := here.packLeft(); err != nil {
		return err
	}
	for _, name := range here.packed() {
		_, failed := fmt.Fprintf(s.out, "%s %s\n", announcement, name)
		err = errors.Join(err, failed)
	}
	return err
}

// copy prints a file that was opened.
func (s *sender) copy(in *os.File, err error) error {
	if err != nil {
		return err
	}
	defer in.Close()
	sum, room := sha256.New(), make([]byte, pieceBytes)
	out := bufio.NewWriter(s.out)
	for {
		n, err := io.ReadFull(in, room)
		if n > 0 {
			_, _ = sum.Write(room[:n])
			if _, err := fmt.Fprintf(out, "%s %s\n", piece, base64.StdEncoding.EncodeToString(room[:n])); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s %s\n", ending, hex.EncodeToString(sum.Sum(nil)))
	return out.Flush()
}
