package story

import (
	"strings"

	"github.com/retake-dev/retake"
)

// Meanings are facts in a few words, by the path that shows them and without its name:
// "users 20 → 500 rows", "npm +2 packages", "−API_KEY".
func Meanings(facts []retake.Fact) map[string]string {
	out := map[string]string{}
	say := func(path, text string) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, path+" "), base(path)+" ")
		if out[path] == "" {
			out[path] = text
		}
	}
	for _, kind := range []struct {
		text  func([]retake.Fact) string
		kinds []retake.FactKind
	}{
		{databaseText, []retake.FactKind{retake.FactTable, retake.FactRows, retake.FactIndex}},
		{packageText, []retake.FactKind{retake.FactPackage}},
		{keysText, []retake.FactKind{retake.FactEnv}},
		{settingText, []retake.FactKind{retake.FactSetting}},
	} {
		for _, list := range cluster(of(facts, kind.kinds...), byPath) {
			say(list[0].Path, kind.text(list))
		}
	}
	return out
}
