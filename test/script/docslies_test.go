//go:build unix

package script_test

import (
	"strings"
	"testing"
)

// A page that cannot be found wrong says nothing.
func TestDocsLiesAreFound(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "git")
	s := newDocStage(t)
	for text, want := range map[string]string{
		"```\nretake log --gone\n```":               "--gone",
		"```console\n$ retake nope\n● 1\n```":       "nope",
		"```sh\nretake show 99\n```":                "exit code 3",
		"```\nretake backup now --gone\n```":        "the help has no --gone",
		"```sh\nretake diff | false\n```":           "exit code 1",
		"```\nretake log\n":                         "is not closed",
		"```\n\ntext\n\n```json\n{}\n```":           "is still open",
		"```\nretake log   every turn\n```":         "exit code",
		"```\nretake restore 13 -- src  # yes\n```": "",
		"```text\nretake nope\n```":                 "",
		"```js\nawait (;\n```":                      "exit code 1",
	} {
		blocks, err := docBlocks(text)
		if err == nil {
			err = s.playPage(t.Context(), "page", blocks)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
