package xray_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/xray"
)

// join keeps whole secrets out of this file: other people's scanners read it.
func join(parts ...string) string { return strings.Join(parts, "") }

var stripe = join("sk_", "live_", "a8Kd93jfLs02mQpZx7Yt5Rw1")

const envFile = `# comment
export PORT=3000
DATABASE_URL="postgres://app:hunter22@db/app" # note
EMPTY=
QUOTED='single # not a comment'
KEY="-----BEGIN KEY-----
line=two
-----END KEY-----"
AFTER=1 # comment
not a line
2BAD=1
DOTTED.KEY-x=1
`

func TestEnvTellsKeysAndNoValue(t *testing.T) {
	t.Parallel()
	r := xray.ReadBytes("env@1", []byte(envFile), nil)
	values := map[string]string{}
	var names []string
	for _, trait := range r.Traits {
		values[trait.Name] = trait.Value
		names = append(names, trait.Name)
	}
	if d := cmp.Diff([]string{"PORT", "DATABASE_URL", "EMPTY", "QUOTED", "KEY", "AFTER", "DOTTED.KEY-x"}, names); d != "" {
		t.Error(d)
	}
	same := xray.ReadBytes("env@1", []byte("DATABASE_URL=postgres://app:hunter22@db/app\nAFTER='1'\n"), nil)
	for _, trait := range same.Traits {
		if values[trait.Name] != trait.Value {
			t.Errorf("%s: the same value in other quotes looks different", trait.Name)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{"hunter22", "3000", "BEGIN", "two", "single"} {
		if strings.Contains(string(b), leak) {
			t.Errorf("%s leaves the reader: %s", leak, b)
		}
	}
}

func side(path, reader, text string) []xray.SidedReading {
	return []xray.SidedReading{{Path: path, Entry: file(int64(len(text))), Reader: reader, Reading: xray.ReadBytes(reader, []byte(text), nil)}}
}

func TestEnvFactsHaveNoValues(t *testing.T) {
	t.Parallel()
	facts := xray.CompareReadings(side(".env", "env@1", "A=1\nB=1\nC=1\n"), side(".env", "env@1", "A=2\nC=1\nD=1\n"))
	want := []retake.Fact{
		{Kind: retake.FactEnv, What: retake.Edited, Name: "A", Path: ".env"},
		{Kind: retake.FactEnv, What: retake.Deleted, Name: "B", Path: ".env"},
		{Kind: retake.FactEnv, What: retake.Added, Name: "D", Path: ".env"},
	}
	if d := cmp.Diff(want, facts); d != "" {
		t.Error(d)
	}
}

// TestSecretsInSettingsAreHidden holds that no likely secret is seen, and that a change of
// it still is.
func TestSecretsInSettingsAreHidden(t *testing.T) {
	t.Parallel()
	config := func(password, key string) string {
		return `{"db":{"password":"` + password + `"},"pay":"` + key + `","api":{"token":"${TOKEN}"},"max_tokens":"100"}`
	}
	before, after := side("c.json", "json@2", config("app", stripe)), side("c.json", "json@2", config("other", stripe+"x"))
	b, err := json.Marshal([]any{before, after})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), stripe) || strings.Contains(string(b), `"app"`) {
		t.Errorf("a secret leaves the reader: %s", b)
	}
	want := []retake.Fact{
		{Kind: retake.FactSetting, What: retake.Edited, Name: "db.password", Before: "hidden", After: "hidden", Path: "c.json"},
		{Kind: retake.FactSetting, What: retake.Edited, Name: "pay", Before: "hidden", After: "hidden", Path: "c.json"},
	}
	if d := cmp.Diff(want, xray.CompareReadings(before, after)); d != "" {
		t.Error(d)
	}
	got := told(before[0].Reading)
	if d := cmp.Diff([]string{"setting api.token ${TOKEN}", "setting db.password hidden", "setting max_tokens 100", "setting pay hidden"}, got); d != "" {
		t.Error(d)
	}
}

// A secret is known by its key, the key above it, or that of the list it is in; what only
// sounds like one is shown.
func TestKeysThatSpeakOfSecrets(t *testing.T) {
	t.Parallel()
	for text, hides := range map[string]bool{
		`{"password":12345678}`: true, `{"db":{"pass":"hunter2"}}`: true, `{"DB_PASS":"hunter2"}`: true, `{"secret_key_base":"abcdef"}`: true,
		`{"api":{"key":"k1"}}`: true, `{"passwords":["alpha"]}`: true, `{"tokens":{"prod":"t1"}}`: true, `{"token":"$ecret1"}`: true,
		`{"token":"<b>bold"}`: true, `{"password":"${DB:-hunter2}"}`: true, `{"users":[{"password":"x"}]}`: true,
		`{"max_tokens":4096}`: false, `{"max_tokens":"4096"}`: false, `{"token":null}`: false, `{"secret":false}`: false, `{"token":"${TOKEN}"}`: false,
		`{"token":"$TOKEN"}`: false, `{"token":"{{ vault }}"}`: false, `{"token":"<your token>"}`: false, `{"keyboard":{"key":"a"}}`: false,
		`{"compass":"north"}`: false, `{"bypass":"on"}`: false, `{"limits":{"tokens":100}}`: false, `{"name":"demo"}`: false,
	} {
		traits := told(side("c.json", "json@2", text)[0].Reading)
		if got := strings.HasSuffix(traits[0], " hidden"); len(traits) != 1 || got != hides {
			t.Errorf("%s is told as %q", text, traits)
		}
	}
}

func TestLongValuesAreCutAndCompared(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100)
	facts := xray.CompareReadings(side("c.json", "json@2", `{"a":"`+long+`1","b":1}`), side("c.json", "json@2", `{"a":"`+long+`2","b":1}`))
	if len(facts) != 1 || facts[0].Before != facts[0].After || len([]rune(facts[0].Before)) != 80 || !strings.HasSuffix(facts[0].After, "…") {
		t.Errorf("%+v", facts)
	}
	name := strings.Repeat("k", 500)
	facts = xray.CompareReadings(nil, side("c.json", "json@2", `{"`+name+`1":1,"`+name+`2":1}`))
	if len(facts) != 2 || len(facts[0].Name) > 250 {
		t.Errorf("long names become one, or stay long: %+v", facts)
	}
}

func TestSecretsAreToldByFileAndOnlyWhenTheyCome(t *testing.T) {
	t.Parallel()
	text := "a = 1\nkey = " + stripe + "\nDB_PASSWORD=s3cretPa55\n"
	clean, dirty := side("a.py", "secret@1", "a = 1\n"), side("a.py", "secret@1", text)
	want := []retake.Fact{{Kind: retake.FactSecret, What: retake.Added, Name: "password, stripe key", Path: "a.py"}}
	if d := cmp.Diff(want, xray.CompareReadings(clean, dirty)); d != "" {
		t.Error(d)
	}
	if facts := xray.CompareReadings(dirty, clean); len(facts) != 0 {
		t.Errorf("a secret that went is told: %v", facts)
	}
	if facts := xray.CompareReadings(dirty, dirty); len(facts) != 0 {
		t.Errorf("a secret that stayed is told: %v", facts)
	}
	if r := xray.ReadBytes("secret@1", []byte(text+"\x00"), nil); len(r.Traits) != 0 {
		t.Errorf("a binary file is looked at: %v", r)
	}
}
