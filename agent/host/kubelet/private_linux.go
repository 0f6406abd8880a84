package kubelet

import "golang.org/x/sys/unix"

// keepPrivate keeps processes of the same user from reaching the files of this one through /proc. They share a process namespace.
func keepPrivate() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
