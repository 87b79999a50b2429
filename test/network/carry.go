package network

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// carry forwards packets until the network is closed. One thread does it all, with the highest
// priority of the machine if that is allowed: the ranks of an MPI program spin while they wait, and
// a packet must not wait for them.
func (n *Network) carry() {
	runtime.LockOSThread() // it ends with the goroutine
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	ready := []unix.PollFd{{Fd: int32(n.stop[0]), Events: unix.POLLIN}}
	for _, h := range n.Hosts {
		ready = append(ready, unix.PollFd{Fd: int32(h.device), Events: unix.POLLIN})
	}
	room := make([]byte, mtu)
	for {
		_, _ = unix.Ppoll(ready, n.deliver(), nil)
		if ready[0].Revents != 0 {
			return
		}
		for _, h := range n.Hosts {
			for {
				size, err := unix.Read(h.device, room)
				if err != nil {
					break // there is nothing more
				}
				n.send(h, room[:size])
			}
		}
	}
}

// send puts a packet on its way.
func (n *Network) send(from *Host, b []byte) {
	to := n.host(b)
	if to == nil {
		return
	}
	now, link := time.Now(), n.link.Load()
	if rand.Float64() < link.Loss {
		n.lost.Add(1)
		return
	}
	var takes time.Duration
	if link.Bandwidth > 0 {
		takes = time.Duration(float64(len(b)) / link.Bandwidth * float64(time.Second))
	}
	from.sends = latest(now, from.sends).Add(takes)
	// the receiver takes its first byte before the last one is sent, unless it is still
	// taking another packet
	to.receives = latest(from.sends.Add(link.Latency-takes), to.receives).Add(takes)
	n.delayed.Add(int64(to.receives.Sub(now)))
	to.arriving = append(to.arriving, packet{append([]byte(nil), b...), to.receives})
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// deliver passes arrived packets to hosts, and returns the time until the next packet arrives, or
// nil if none is in flight.
func (n *Network) deliver() *unix.Timespec {
	next := time.Duration(-1)
	for _, h := range n.Hosts {
		for len(h.arriving) > 0 {
			if wait := time.Until(h.arriving[0].at); wait > 0 {
				if next < 0 || wait < next {
					next = wait
				}
				break
			}
			// a host that has no room loses it, as hosts do
			_, _ = unix.Write(h.device, h.arriving[0].bytes)
			h.arriving[0].bytes = nil
			h.arriving = h.arriving[1:]
		}
	}
	if next < 0 {
		return nil
	}
	t := unix.NsecToTimespec(int64(next))
	return &t
}

// host returns the destination of an IPv4 packet, or nil if there is none.
func (n *Network) host(b []byte) *Host {
	if len(b) < 20 || b[0]>>4 != 4 {
		return nil
	}
	to, _ := netip.AddrFromSlice(b[16:20])
	for _, h := range n.Hosts {
		if h.Address == to {
			return h
		}
	}
	return nil
}
