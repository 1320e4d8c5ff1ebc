// Command ordeal puts the promises of docs/internals/invariants.md to the test: kills, power
// cuts, faults, adversaries, odd trees, moving files. Each promise prints how many
// were tried and how many failed, and each has a control that must fail when the
// protection is taken away.
//
// Each guarantee is a package of its own; those that end in "bed" hold what several of them
// stand on, and harness counts and reports.
//
//	go run -tags testing ./test/ordeal -tier q            quick, as in .ci/run
//	go run -tags testing ./test/ordeal -tier c -o reliability.json
package main

import (
	_ "github.com/retake-dev/retake/test/ordeal/g1"
	_ "github.com/retake-dev/retake/test/ordeal/g18"
	_ "github.com/retake-dev/retake/test/ordeal/g2"
	_ "github.com/retake-dev/retake/test/ordeal/g28"
	_ "github.com/retake-dev/retake/test/ordeal/g29"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func main() { harness.Main() }
