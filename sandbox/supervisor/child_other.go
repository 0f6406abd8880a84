//go:build !linux

package supervisor

import "syscall"

// childAttributes puts a child into a process group of its own. Other systems have no parent-death signal: `down`
// finds the children of a crashed supervisor by their process numbers.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
