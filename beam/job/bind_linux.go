package job

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// bindLoopback restricts the TCP socket of this process that listens on port to the loopback interface. Prism listens
// on all interfaces, without authentication, and cannot be told otherwise; a connection from another machine could run
// commands here. After this call the kernel refuses such connections. It needs Linux 5.7 or newer, but no privilege.
func bindLoopback(port int) error {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}

	for _, f := range files {
		fd, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		if listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listens == 0 {
			continue
		}
		if address, err := unix.Getsockname(fd); err != nil || portOf(address) != port {
			continue
		}
		return unix.BindToDevice(fd, "lo")
	}
	return errors.New("found no socket")
}

// portOf returns the TCP port of an address, or 0.
func portOf(a unix.Sockaddr) int {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return a.Port
	case *unix.SockaddrInet6:
		return a.Port
	}
	return 0
}
