//go:build unix && !linux

package parts

import "syscall"

func attributes(who *syscall.Credential, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: who}
}
