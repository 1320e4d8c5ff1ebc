package picture

func OrWord(text, none string) string {
	if text == "" {
		return none
	}
	return text
}
