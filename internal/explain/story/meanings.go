package story

import (
	"strings"

	"github.com/retake-dev/retake"
)

// DescribeFacts describes facts in a few words, by the path that shows them and without its
// name: "users 20 → 500 rows", "npm +2 packages", "−API_KEY".
func DescribeFacts(facts []retake.Fact) map[string]string {
	out := map[string]string{}
	say := func(path, text string) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, path+" "), baseName(path)+" ")
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
		{envKeysText, []retake.FactKind{retake.FactEnv}},
		{settingText, []retake.FactKind{retake.FactSetting}},
	} {
		for _, list := range groupFacts(factsOfKind(facts, kind.kinds...), factPath) {
			say(list[0].Path, kind.text(list))
		}
	}
	return out
}
