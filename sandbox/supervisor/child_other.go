//go:build !linux

package supervisor

import "syscall"

// childAttributes puts a child into its own process group. Other systems have no parent-death signal: `down`
// finds the children of a crashed supervisor by their process numbers.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
