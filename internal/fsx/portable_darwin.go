package fsx

import "syscall"

func changeTime(sys *syscall.Stat_t) int64 { return sys.Ctimespec.Nano() }
