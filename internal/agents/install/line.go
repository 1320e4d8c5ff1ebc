package install

import (
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
)

const nothingChanged = "Nothing was changed."

// hookCommand returns the command of a hook. It is one string and not a program with
// arguments: some versions, and other agents that read the same file, do not know arguments
// and would run the program alone.
func hookCommand(program, agent string) string { return shellQuote(program) + " hook " + agent }

// isHookCommand reports whether a command is ours: one word that names the program,
// followed by "hook NAME". A longer command that mentions us belongs to somebody else.
func isHookCommand(command, agent string) bool {
	word, ok := strings.CutSuffix(command, " hook "+agent)
	return ok && isRetakeWord(word)
}

// isRetakeWord reports whether a shell word names our program.
func isRetakeWord(word string) bool {
	switch {
	case len(word) > 1 && word[0] == '\'' && word[len(word)-1] == '\'':
		word = strings.ReplaceAll(word[1:len(word)-1], `'\''`, "\x00")
		if strings.Contains(word, "'") {
			return false
		}
	case len(word) > 1 && word[0] == '"' && word[len(word)-1] == '"':
		if word = word[1 : len(word)-1]; strings.ContainsAny(word, "\"$`") {
			return false
		}
	case !isPlainWord(word):
		return false
	}
	return isRetakePath(word)
}

// isRetakePath reports whether a path ends with the name of our program.
func isRetakePath(path string) bool {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	return base == "retake" || strings.EqualFold(base, "retake.exe")
}

func shellQuote(word string) string {
	if isPlainWord(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlainWord reports whether a shell takes a word literally without quotes.
func isPlainWord(word string) bool {
	for _, r := range word {
		ok := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+@%:,=", r)
		if !ok {
			return false
		}
	}
	return word != ""
}

// checkProgram refuses a program that isHookCommand would not recognize.
func checkProgram(program string) error {
	broken := strings.ContainsFunc(program, func(r rune) bool { return r < ' ' || r == 0x7f })
	if program == "retake" || !broken && isRetakePath(program) && filepath.IsAbs(program) {
		return nil
	}
	return &retake.Error{
		Kind: retake.Invalid, What: "the command for the hooks is neither retake nor an absolute path that ends with retake", Safe: nothingChanged,
		Hint: "put the program where it is found by its name, retake",
	}
}
