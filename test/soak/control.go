package main

import (
	"os"
	"time"
)

// leakEachSecond is what the process of a control keeps each second.
const leakEachSecond = 1 << 20

// leakForever opens a file and takes memory each second, and gives nothing back. A control measures it
// instead of the daemon.
func leakForever() {
	var files []*os.File
	var memory [][]byte
	for range time.Tick(time.Second) {
		if f, err := os.Open(os.DevNull); err == nil {
			files = append(files, f)
		}
		b := make([]byte, leakEachSecond)
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = byte(len(files) + len(memory)) // the kernel counts pages that were written
		}
		memory = append(memory, b)
	}
}
