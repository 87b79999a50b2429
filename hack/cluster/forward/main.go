// Forward makes the API server of the local cluster reachable on 127.0.0.1. The API server runs in
// a network namespace that is isolated from the host's network.
//
//	cairn-forward NETNS PORT TARGET ADDRFILE
//
// It listens on 127.0.0.1:PORT (any free port if that one is taken), writes the address to
// ADDRFILE, and executes itself again inside the namespace NETNS. A listening socket stays in the
// namespace in which it was created; new connections are made in the other one.
package main

import (
	"errors"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

func main() {
	log.SetFlags(log.LstdFlags)
	log.SetPrefix("cairn-forward: ")
	switch {
	case len(os.Args) == 5:
		log.Fatal(enter(os.Args[1], os.Args[2], os.Args[3], os.Args[4]))
	case len(os.Args) == 4 && os.Args[1] == "serve":
		log.Fatal(serve(os.Args[2], os.Args[3]))
	}
	log.Fatal("usage: cairn-forward NETNS PORT TARGET ADDRFILE")
}

func enter(netns, port, target, addrFile string) error {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		l, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETFD, 0); errno != 0 {
		return errno
	}
	if err := os.WriteFile(addrFile+".new", []byte(l.Addr().String()+"\n"), 0o644); err != nil {
		return err
	}
	if err := os.Rename(addrFile+".new", addrFile); err != nil {
		return err
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(nsenter, []string{"nsenter", "--net=" + netns, self, "serve", strconv.Itoa(int(f.Fd())), target}, os.Environ())
}

func serve(fd, target string) error {
	n, err := strconv.Atoi(fd)
	if err != nil {
		return err
	}
	l, err := net.FileListener(os.NewFile(uintptr(n), "listener"))
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go forward(c.(*net.TCPConn), target)
	}
}

func forward(c *net.TCPConn, target string) {
	defer c.Close()
	up, err := net.Dial("tcp4", target)
	if err != nil {
		log.Print(err)
		return
	}
	defer up.Close()
	var wg sync.WaitGroup
	pipe := func(to, from *net.TCPConn) {
		// both ends of a broken connection notice it themselves; the other direction may still
		// work, so only this half is closed
		_, _ = io.Copy(to, from)
		_ = to.CloseWrite()
	}
	wg.Go(func() { pipe(up.(*net.TCPConn), c) })
	wg.Go(func() { pipe(c, up.(*net.TCPConn)) })
	wg.Wait()
}
