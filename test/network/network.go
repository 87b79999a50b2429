// Package network divides this machine into hosts that are connected by a network with a
// configurable latency and bandwidth.
//
// A Host is a network namespace with its own host name. Its only interface besides the loopback is
// a TUN device. This process reads what a host sends, and writes it to the device of the
// destination, delayed according to the Link. The kernel's own delays (netem) would need a module
// that not every kernel has. Programs are started on a host with Host.Command; MPI launchers use
// Network.Agent instead of ssh.
//
// Nothing has a name outside: open files of this process keep the namespaces and devices alive,
// which end with it. So any number of networks may exist at the same time, and none is left behind.
// Creating one needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN).
package network

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A Link is the connection between any two hosts.
type Link struct {
	Latency   time.Duration // one way
	Bandwidth float64       // bytes per second that a host sends, and that it receives; 0: unlimited
	Loss      float64       // part of the packets that get lost, at random
}

// Device is the name of each host's interface.
const Device = "link0"

// mtu is the largest possible one. Connections start with ten of these in flight, so that they use
// the full bandwidth from the beginning.
const mtu = 65535

// A Network of hosts.
type Network struct {
	Hosts []*Host

	link    atomic.Pointer[Link]
	stop    [2]int // a pipe, whose closed end tells the carrier
	carrier sync.WaitGroup

	lost, delayed atomic.Int64 // see Sent
}

// A Host is one machine.
type Host struct {
	Name    string
	Address netip.Addr

	network, name *os.File  // its namespaces
	first         *exec.Cmd // if it is isolated
	end           io.Closer // ends that
	memory        string    // its /dev/shm, as it is seen from outside
	device        int
	sends         time.Time // when the packets it has sent so far have left
	receives      time.Time // when the packets it has received so far have arrived
	arriving      []packet  // in order of time
}

type packet struct {
	bytes []byte
	at    time.Time // when it arrives
}

// New creates a network with the given number of hosts, 10.0.0.1 and so on. Close ends it.
func New(hosts int, link Link) (*Network, error) {
	n := &Network{}
	n.Set(link)
	if err := unix.Pipe2(n.stop[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	for i := range hosts {
		h := &Host{Name: fmt.Sprintf("host%d", i+1), Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})}
		if err := h.make(); err != nil {
			n.Close()
			if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
				err = fmt.Errorf("hosts are network namespaces, which only root may make: %w", err)
			}
			return nil, err
		}
		n.Hosts = append(n.Hosts, h)
	}
	n.carrier.Go(n.carry)
	return n, nil
}

// Set changes the link, for packets that are sent from now on.
func (n *Network) Set(link Link) { n.link.Store(&link) }

// Sent is what a network did to the packets so far.
type Sent struct {
	Lost    int64
	Delayed time.Duration // of all that were not lost, in total
}

// Sent returns what the network did so far.
func (n *Network) Sent() Sent {
	return Sent{n.lost.Load(), time.Duration(n.delayed.Load())}
}

// Close ends the network. Programs that still run on its hosts are disconnected.
func (n *Network) Close() {
	_ = unix.Close(n.stop[1])
	n.carrier.Wait()
	_ = unix.Close(n.stop[0])
	for _, h := range n.Hosts {
		_ = unix.Close(h.device)
		h.close()
	}
}

// make creates the namespaces and the device, on a thread that ends with it.
func (h *Host) make() error {
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is of no use to others
		made <- h.makeHere()
	}()
	return <-made
}

func (h *Host) makeHere() (err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := unix.Sethostname([]byte(h.Name)); err != nil {
		return os.NewSyscallError("sethostname", err)
	}
	var opened []*os.File
	defer func() {
		if err != nil {
			for _, f := range opened {
				f.Close()
			}
		}
	}()
	own := fmt.Sprintf("/proc/self/task/%d/ns/", unix.Gettid())
	for name, file := range map[string]**os.File{"net": &h.network, "uts": &h.name} {
		if *file, err = os.Open(own + name); err != nil {
			return err
		}
		opened = append(opened, *file)
	}
	// connections may have as much data in flight as the link can carry, and are not slower after a
	// pause
	for name, value := range map[string]string{
		"tcp_rmem": "4096 16777216 67108864", "tcp_wmem": "4096 16777216 67108864", "tcp_slow_start_after_idle": "0", "tcp_no_metrics_save": "1", "tcp_congestion_control": "reno",
	} {
		if err := os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0o644); err != nil {
			return err
		}
	}
	if err := h.open(); err != nil {
		return err
	}
	if err := h.configure(); err != nil {
		_ = unix.Close(h.device)
		return err
	}
	return nil
}

// open opens the device.
func (h *Host) open() error {
	tun, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	device, err := unix.NewIfreq(Device)
	if err == nil {
		device.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(tun, unix.TUNSETIFF, device)
	}
	if err != nil {
		_ = unix.Close(tun)
		return fmt.Errorf("TUN device: %w", err)
	}
	h.device = tun
	return nil
}

// configure gives the device its address and starts both interfaces.
func (h *Host) configure() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(socket) }()
	set := func(device string, what uint, value func(*unix.Ifreq) error) {
		r, e := unix.NewIfreq(device)
		if e == nil {
			e = value(r)
		}
		if e == nil {
			e = unix.IoctlIfreq(socket, what, r)
		}
		if e != nil && err == nil {
			err = fmt.Errorf("interface %s: %w", device, e)
		}
	}
	up := func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }
	set("lo", unix.SIOCSIFFLAGS, up)
	set(Device, unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(h.Address.AsSlice()) })
	set(Device, unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{255, 255, 255, 0}) })
	set(Device, unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(mtu); return nil })
	set(Device, unix.SIOCSIFFLAGS, up)
	return err
}
