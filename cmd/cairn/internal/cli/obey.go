package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// maxGrace is how long a command that was told to end may take to do so in good order. Then it is left alone, and the
// process ends: what it writes to files has their names only when it is whole.
const maxGrace = 700 * time.Millisecond

// Obey makes commands end soon after SIGTERM and SIGINT, wherever they are. cairn run and cairn ship are not among them:
// what they do then takes its time.
func Obey(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			signals := make(chan os.Signal, 1)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
			defer signal.Stop(signals)
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			c.SetContext(ctx)
			done := make(chan error, 1)
			go func() { done <- run(c, args) }()
			select {
			case err := <-done:
				return err
			case <-ctx.Done():
			}
			err := context.Canceled
			select {
			case err = <-done:
			case <-time.After(maxGrace):
			}
			if !errors.Is(err, context.Canceled) {
				return err
			}
			return StatusError(EndedBy(received(signals)), fmt.Errorf("told to end before it was done: %w", err))
		}
	}
	return commands
}

// received is the signal that came.
func received(signals <-chan os.Signal) syscall.Signal {
	select {
	case s := <-signals:
		if number, ok := s.(syscall.Signal); ok {
			return number
		}
	default:
	}
	return syscall.SIGTERM
}
