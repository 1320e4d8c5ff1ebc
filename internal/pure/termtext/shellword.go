package termtext

import "strings"

// ShellWord is one word of a command that is to be pasted into a shell, in quotes where it
// needs them.
func ShellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%="
	if s != "" && strings.Trim(s, plain+"~") == "" && !strings.HasPrefix(s, "~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
