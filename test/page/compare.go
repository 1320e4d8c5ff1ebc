//go:build unix

package page

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// masks are what no two runs have in common.
var masks = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\b(ws|cp|key|wh|sch|del|req)_[0-9a-f]{8}-[0-9a-f-]{27}`), "${1}_ID"},
	{regexp.MustCompile(`\b(msg|evt)_[0-9A-Za-z_-]{16,}`), "${1}_ID"},
	{regexp.MustCompile(`\brtk_([a-z]+)_[0-9A-Za-z]+`), "rtk_${1}_KEY"},
	{regexp.MustCompile(`\bwhsec_[0-9A-Za-z+/=]+`), "whsec_KEY"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`\bk[0-9a-f]{32}\b`), "TREE"},
	{regexp.MustCompile(`\b\d+(\.\d+)? (ms|s)\b`), "DURATION"},
}

func masked(text string) string {
	for _, m := range masks {
		text = m.form.ReplaceAllString(text, m.name)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// compare answers every block that printed something else than the page says.
func compare(blocks []Block, out string) error {
	printed := map[string]string{}
	for _, part := range strings.Split(out, "\n"+mark)[1:] {
		line, text, _ := strings.Cut(part, "\n")
		printed[line] = text
	}
	var wrong []error
	for _, b := range blocks {
		text, ran := printed[fmt.Sprint(b.Line)]
		if !ran {
			wrong = append(wrong, fmt.Errorf("the block at line %d did not run", b.Line))
			continue
		}
		for _, says := range b.Says {
			if !Same(says, text) {
				wrong = append(wrong, fmt.Errorf("the block at line %d prints\n%s\nand the page says\n%s", b.Line, text, says))
			}
		}
	}
	return errors.Join(wrong...)
}

// Same reports whether a text is what a page says.
func Same(says, text string) bool {
	form := strings.ReplaceAll(regexp.QuoteMeta(masked(says)), "…", "(?s:.*)")
	return regexp.MustCompile(`\A` + form + `\z`).MatchString(masked(text))
}
