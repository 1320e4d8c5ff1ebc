package main

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events string
		want   tally
		shown  []string
	}{
		"all ends": {`{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"loud \"Action\":\"pass\"\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
`, tally{1, 1, 1}, []string{"FAIL  p TestB\nloud \"Action\":\"pass\"\n"}},
		"no test files": {`{"Action":"start","Package":"p"}
{"Action":"skip","Package":"p"}
`, tally{}, nil},
		"does not build": {`{"ImportPath":"p [p.test]","Action":"build-output","Output":"undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL p [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
`, tally{0, 1, 0}, []string{"undefined: x"}},
		"panics before a test": {`{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"panic: no\n"}
{"Action":"fail","Package":"p"}
`, tally{0, 1, 0}, []string{"panic: no"}},
		"never ends": {`{"Action":"start","Package":"p"}
{"Action":"pass","Package":"p","Test":"TestA"}
`, tally{1, 1, 0}, []string{"p never ended"}},
		"takes too long, after another spoke": {`{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- PASS: TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"panic: test timed out\n"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}
`, tally{1, 1, 0}, []string{"panic: test timed out\n", "TestA did not end\n"}},
		"takes too long": {`{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"running tests:\n"}
{"Action":"fail","Package":"p"}
`, tally{0, 1, 0}, []string{"TestA did not end\npanic: test timed out\nrunning tests:\n"}},
		"the same package twice": {`{"Action":"start","Package":"p"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
{"Action":"start","Package":"p"}
{"Action":"fail","Package":"p"}
`, tally{0, 2, 0}, nil},
		"plain words": {"go: no such thing\n", tally{}, []string{"go: no such thing\n"}},
	} {
		var show strings.Builder
		got, err := read(strings.NewReader(c.events), &show)
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
		for _, s := range c.shown {
			if !strings.Contains(show.String(), s) {
				t.Errorf("%s: %q is not shown in %q", name, s, show.String())
			}
		}
		if strings.Contains(show.String(), "quiet") {
			t.Errorf("%s: output of a test that passed is shown", name)
		}
	}
}
