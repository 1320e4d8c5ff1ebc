package config

import (
	"os"

	"golang.org/x/sys/windows"
)

func isTTY(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

func terminalHeight() int {
	var i windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(os.Stdout.Fd()), &i); err == nil {
		return int(i.Window.Bottom-i.Window.Top) + 1
	}
	return 0
}

func terminalWidth() int {
	var i windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(os.Stdout.Fd()), &i); err == nil {
		return int(i.Window.Right-i.Window.Left) + 1
	}
	return 80
}
