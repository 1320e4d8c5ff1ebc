package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/retake-dev/retake"
)

// gitTruth returns the fact of a turn that committed, in git's own words; none where the branch
// stands where it stood.
func (s *stand) gitTruth(ctx context.Context) []retake.Fact {
	ask := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", s.tree(), "-c", "safe.directory=*"}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	before := s.head
	s.head = ask("rev-parse", "--short=7", "HEAD")
	if before == "" || s.head == "" || before == s.head {
		return nil
	}
	name := fmt.Sprintf("commit %s “%s”", ask("symbolic-ref", "--short", "HEAD"), ask("log", "-1", "--format=%s"))
	return []retake.Fact{{Kind: retake.FactGit, What: retake.Edited, Name: name, Before: before, After: s.head, Path: ".git/"}}
}
