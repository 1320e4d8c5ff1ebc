package secrets

// Values are the secrets that a first look finds.
func Values(s string) []string {
	var list []string
	for _, h := range findSecrets(s) {
		list = append(list, s[h.from:h.to])
	}
	return list
}

// Marks is the text of all marks.
const Marks = allMarks
