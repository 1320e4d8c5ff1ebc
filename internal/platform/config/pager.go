package config

import (
	"os"
	"strings"
)

// Pager returns the program that shows long output on a terminal, with its arguments:
// RETAKE_PAGER, or PAGER, or less. An empty value and "cat" mean none. The program is looked
// up in the absolute directories of PATH only, so that a workspace cannot choose what runs.
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

// PagerEnviron returns the environment of the pager. As git does, it tells less to show colors
// and to exit at once if everything fits, unless the user has configured it.
func (c Config) PagerEnviron() []string {
	env := c.Environ
	for key, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(key); !set {
			env = append(env[:len(env):len(env)], key+"="+value)
		}
	}
	return env
}
