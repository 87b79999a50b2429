package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// ProfileFlags are the files to which a command writes profiles of itself, for `go tool pprof`.
type ProfileFlags struct{ cpu, memory string }

// Register adds the flags to a command.
func (p *ProfileFlags) Register(c *cobra.Command) {
	c.Flags().StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of this command to a file (go tool pprof)")
	c.Flags().StringVar(&p.memory, "memprofile", "", "write a profile of what this command allocated to a file (go tool pprof)")
}

// Profiled adds the profile flags to commands that may run for long.
func Profiled(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		var flags ProfileFlags
		flags.Register(c)
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			stop, err := flags.Start()
			if err != nil {
				return UsageError(err)
			}
			return errors.Join(run(c, args), stop())
		}
	}
	return commands
}

// Start begins the CPU profile. stop ends it and writes both profiles.
func (p *ProfileFlags) Start() (stop func() error, err error) {
	var cpu *os.File
	if p.cpu != "" {
		if cpu, err = os.Create(p.cpu); err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(err, cpu.Close())
		}
	}
	return func() error {
		var err error
		if cpu != nil {
			pprof.StopCPUProfile()
			err = cpu.Close()
		}
		return errors.Join(err, p.writeMemory())
	}, nil
}

func (p *ProfileFlags) writeMemory() error {
	if p.memory == "" {
		return nil
	}
	f, err := os.Create(p.memory)
	if err != nil {
		return err
	}
	runtime.GC() // the heap profile is as of the last collection
	if err := pprof.Lookup("allocs").WriteTo(f, 0); err != nil {
		return errors.Join(fmt.Errorf("memory profile: %w", err), f.Close())
	}
	return f.Close()
}
