//go:build !unix

package main

import "os/exec"

func together(*exec.Cmd) {}

func kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }
