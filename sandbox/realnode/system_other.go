//go:build !linux

package realnode

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
)

// Everything here stands in for what only Linux has. Machine.Check refuses other systems before any of it is called.
var errNotLinux = errors.New("a real node requires Linux")

func onOverlay(string) bool { return false }

func isNotEmpty(error) bool { return false }

func signal([]int, syscall.Signal) {}

func makeBridge(string, netip.Addr, int) error { return errNotLinux }

func removeBridge(context.Context, string) error { return errNotLinux }

// PauseBestEffort is not possible here.
func (Host) PauseBestEffort(Node) error { return errNotLinux }

// ResumeBestEffort is not possible here.
func (Host) ResumeBestEffort(Node) error { return errNotLinux }

// EnterNamespace is not possible here.
func (n Node) EnterNamespace() error { return errNotLinux }

// OnFirstThread is not known here.
func OnFirstThread() bool { return false }
