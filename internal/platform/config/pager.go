package config

import (
	"os"
	"strings"
)

// Pager is the program that shows long output on a terminal, with its arguments: what
// RETAKE_PAGER says, else PAGER, else less. Empty, or "cat", is none. A program is searched
// in the absolute directories of PATH only; a workspace never says what runs.
func (c Config) Pager() []string {
	text, set := os.LookupEnv("RETAKE_PAGER")
	if !set {
		text, set = os.LookupEnv("PAGER")
	}
	if !set {
		text = "less -FRX"
	}
	words := strings.Fields(text)
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	if !strings.HasPrefix(words[0], string(os.PathSeparator)) {
		path, ok := c.LookPath(words[0])
		if !ok {
			return nil
		}
		words[0] = path
	}
	return words
}

// PagerEnviron is the environment of the pager. As git does, less is told to show colors
// and to end at once where all fits, unless the user told it something else.
func (c Config) PagerEnviron() []string {
	env := c.Environ
	for key, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(key); !set {
			env = append(env[:len(env):len(env)], key+"="+value)
		}
	}
	return env
}
