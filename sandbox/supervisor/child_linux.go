package supervisor

import "syscall"

// childAttributes puts a child into its own process group and ends it when the supervisor dies, however it dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
