package hook

import "strings"

// machineTags are the tags that programs put around text of their own in a prompt.
func machineTags() []string {
	return []string{
		"system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "ide_context",
		"environment_details", "environment_context", "user_instructions", "editor_context", "open_and_recently_viewed_files",
		"attached_files", "local-command-stdout", "local-command-stderr", "local-command-caveat", "task-notification",
		"command-message", "hook_context",
	}
}

// personTags enclose what a person wrote: the tags are removed, the content stays.
func personTags() []string { return []string{"user_query", "user_message", "task", "feedback"} }

// personWords returns what a person wrote in a prompt. A prompt that consists of machine
// text only is marked as such.
func personWords(prompt string) (words string, machine bool) {
	words = prompt
	if strings.ContainsRune(words, '<') {
		for _, tag := range machineTags() {
			words = removeTag(words, tag)
		}
		for _, tag := range personTags() {
			words = unwrapTag(words, tag)
		}
	}
	words = strings.TrimSpace(words)
	return words, words == "" && strings.TrimSpace(prompt) != ""
}

// removeTag removes every <tag>...</tag>. One that is not closed stays, since a person may
// have typed it.
func removeTag(s, tag string) string {
	opening, closing := "<"+tag, "</"+tag+">"
	var b strings.Builder
	for {
		at := strings.Index(s, opening)
		if at < 0 {
			break
		}
		inside := s[at+len(opening):]
		end := strings.Index(inside, closing)
		if end < 0 {
			break
		}
		if !strings.HasPrefix(inside, ">") && !strings.HasPrefix(inside, " ") { // another, longer tag
			b.WriteString(s[:at+len(opening)])
			s = inside
			continue
		}
		b.WriteString(s[:at])
		s = inside[end+len(closing):]
	}
	return b.String() + s
}

// unwrapTag removes one <tag> and its </tag> that enclose the whole text.
func unwrapTag(s, tag string) string {
	t := strings.TrimSpace(s)
	inner, ok := strings.CutPrefix(t, "<"+tag+">")
	if !ok {
		return s
	}
	if inner, ok = strings.CutSuffix(inner, "</"+tag+">"); !ok {
		return s
	}
	return inner
}
