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

// maxGrace is the time that a command has for an orderly end after a signal. After it, the process
// exits at once. This leaves no partial files: they get their names only when they are complete.
const maxGrace = 700 * time.Millisecond

// Obey makes commands end soon after SIGTERM and SIGINT, whatever they are doing. cairn run and
// cairn ship are not among them: they need time to finish their work.
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
			return StatusError(EndedBy(received(signals)), fmt.Errorf("asked to end before it was done: %w", err))
		}
	}
	return commands
}

// received returns the signal that has arrived.
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
