package term

import "strings"

// HintLine joins labels and commands.
func (l Style) HintLine(pairs []string) string {
	var items []string
	for i := 0; i+1 < len(pairs); i += 2 {
		items = append(items, l.Dim(pairs[i]+":")+" "+pairs[i+1])
	}
	return strings.Join(items, "     ")
}
