package realnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// makeBridge makes a bridge with an address, and switches it on.
func makeBridge(name string, address netip.Addr, bits int) error {
	err := withSocket(func(fd int) error {
		request, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCBRADDBR, request); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		for _, step := range []struct {
			request uint
			value   []byte
		}{
			{unix.SIOCSIFADDR, address.AsSlice()},
			{unix.SIOCSIFNETMASK, net.CIDRMask(bits, 32)},
		} {
			if err := request.SetInet4Addr(step.value); err != nil {
				return err
			}
			if err := unix.IoctlIfreq(fd, step.request, request); err != nil {
				return err
			}
		}
		return setFlags(fd, name, unix.IFF_UP)
	})
	if err != nil {
		return fmt.Errorf("make bridge %q: %w", name, err)
	}
	return nil
}

// removeBridge waits until no interface of a pod is left on the bridge, for as long as ctx allows, and deletes it. A bridge that
// does not exist is removed.
func removeBridge(ctx context.Context, name string) error {
	awaitNoPorts(ctx, name)
	err := withSocket(func(fd int) error {
		if err := setFlags(fd, name, 0); err != nil {
			return err
		}
		request, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		return unix.IoctlIfreq(fd, unix.SIOCBRDELBR, request)
	})
	if err != nil && !errors.Is(err, unix.ENODEV) && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("delete bridge %q: %w", name, err)
	}
	return nil
}

// awaitNoPorts waits for the kernel, which deletes the interface of a pod some time after the pod's last process. What is left
// when ctx ends goes later, without the bridge.
func awaitNoPorts(ctx context.Context, name string) {
	tick := time.NewTicker(endInterval)
	defer tick.Stop()
	for {
		ports, err := os.ReadDir(filepath.Join("/sys/class/net", name, "brif"))
		if err != nil || len(ports) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func setFlags(fd int, name string, flags uint16) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	request.SetUint16(flags)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// withSocket gives do a socket to ask the kernel about interfaces with.
func withSocket(do func(fd int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(fd), unix.Close(fd))
}
