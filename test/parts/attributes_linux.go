package parts

import "syscall"

// attributes: a group of its own, for what ends us by the terminal must not end it, and
// its end with ours.
func attributes(who *syscall.Credential, end syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: end, Credential: who}
}
