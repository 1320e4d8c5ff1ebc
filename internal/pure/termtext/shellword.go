package termtext

import "strings"

// ShellWord returns s as one word for pasting into a shell, quoted if necessary.
func ShellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%="
	if s != "" && strings.Trim(s, plain+"~") == "" && !strings.HasPrefix(s, "~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
