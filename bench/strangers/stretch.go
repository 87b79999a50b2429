package strangers

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A stretchSlot is what a rank of class B shares with this process (stretch/stretch.c).
type stretchSlot struct {
	factor  float64
	only    uint64 // the region that is stretched; 0: all of them
	longer  float64
	_       uint64
	regions [30]struct {
		at    uint64
		slept float64
	}
}

// shareSlots makes the file of the slots, in which nothing is stretched.
func (s *stage) shareSlots(path string) error {
	const size = placeRanks * int(unsafe.Sizeof(stretchSlot{}))
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	shared, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	s.ends = append(s.ends, func() { _ = unix.Munmap(shared) })
	s.job.slots = unsafe.Slice((*stretchSlot)(unsafe.Pointer(&shared[0])), placeRanks)
	return nil
}

// beginStretch lets ranks sleep longer, by a part of what they want to.
func beginStretch(j *Job, touched []int, strength float64) (func() float64, error) {
	set := func(factor float64) {
		for _, rank := range touched {
			j.slots[rank].factor = factor
		}
	}
	set(1 + strength)
	return func() float64 {
		set(1)
		least := j.slots[touched[0]].longer
		for _, rank := range touched {
			least = min(least, j.slots[rank].longer)
		}
		return least
	}, nil
}

// beginRegion is beginStretch in the region in which a rank has slept most so far.
func beginRegion(j *Job, touched []int, strength float64) (func() float64, error) {
	slot := &j.slots[touched[0]]
	at, err := longestRegion(slot)
	if err != nil {
		return nil, err
	}
	if j.region, err = functionAt(j.replayer, at); err != nil {
		return nil, err
	}
	slot.only = at
	return beginStretch(j, touched, strength)
}

// longestRegion waits until a rank has slept a little, and returns where it slept most.
func longestRegion(slot *stretchSlot) (at uint64, err error) {
	const enough, tries = 0.2, 500
	for range tries {
		most, all := 0.0, 0.0
		for i := range slot.regions {
			r := &slot.regions[i]
			if all += r.slept; r.slept > most {
				at, most = r.at, r.slept
			}
		}
		if all >= enough {
			return at, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, errors.New("the rank hardly computes")
}

// functionAt returns the MPI function that the replayer calls after it sleeps: at is an offset in
// the function of the replayer that does that.
func functionAt(replayer string, at uint64) (string, error) {
	f, err := elf.Open(replayer)
	if err != nil {
		return "", err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return "", err
	}
	for _, s := range symbols {
		name, found := strings.CutPrefix(s.Name, "cr_issue_")
		if found && s.Value <= at && at < s.Value+s.Size {
			return name, nil
		}
	}
	return "", fmt.Errorf("%s: no function is at %#x", replayer, at)
}
