package secrets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/pure/secrets"
)

// join keeps whole secrets out of this file: other people's scanners read it.
func join(parts ...string) string { return strings.Join(parts, "") }

const (
	mixed40 = "a8Kd93jfLs02mQpZx7Yt5Rw1Ev6Bn4Hu0cTgXz9Q"
	lower32 = "a83d93ef1502abcd7e45f1e60b4c0da9"
)

// secretSamples are texts with the secret between « and », and its kind.
func secretSamples() map[string]string {
	return map[string]string{
		"export GITHUB_TOKEN=«" + join("gh", "p_", mixed40[:36]) + "»":                         "github token",
		"fine: «" + join("github", "_pat_", mixed40) + "»":                                     "github token",
		"git clone https://oauth2:«" + join("glp", "at-", mixed40[:20]) + "»@gitlab.com/o/r":   "gitlab token",
		"PRIVATE-TOKEN «" + join("glp", "at-", mixed40[:20]) + "»":                             "gitlab token",
		"slack «" + join("xo", "xb-", "123456789012-", mixed40[:24]) + "»!":                    "slack token",
		"https://hooks.slack.com/services/«" + "T0ABCDEF1/B0ABCDEF2/" + mixed40[:24] + "»":     "slack webhook",
		"«" + join("sk_", "live_", mixed40[:24]) + "»":                                         "stripe key",
		"key «" + join("sk-", "ant-api03-", mixed40) + "»,":                                    "anthropic key",
		"key «" + join("sk-", "proj-", mixed40) + "»,":                                         "openai key",
		"«" + join("sk", "-", mixed40) + "»":                                                   "openai key",
		"«" + join("AI", "za", mixed40[:35]) + "»":                                             "google key",
		"//packages.example/:_x=«" + join("np", "m_", mixed40[:36]) + "»":                      "npm token",
		"«" + join("py", "pi-AgEI", mixed40, mixed40) + "»":                                    "pypi token",
		"«" + join("S", "G.", mixed40[:22], ".", mixed40, "abc") + "»":                         "sendgrid key",
		"sid «" + join("S", "K", lower32) + "»":                                                "twilio key",
		"id = «" + join("AK", "IA", "QWERTYUI12345678") + "»":                                  "aws access key",
		"aws_secret_access_key = «" + mixed40 + "»":                                            "aws secret key",
		"«" + join("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxIn0.", mixed40) + "»":             "jwt",
		"postgres://app:«hunter2»@db.example.com/app":                                          "url password",
		"curl -H 'Authorization: Bearer «" + mixed40[:12] + "»' x":                             "authorization",
		`{"Authorization":"Basic «dXNlcjpwYXNz»"}`:                                             "authorization",
		"send it with bearer «" + mixed40[:20] + "»":                                           "bearer token",
		"DB_PASSWORD=«s3cretPa55»":                                                             "password",
		`{"password": "«Tr0ub4dor&3x»"}`:                                                       "password",
		`{"text":"{\"api_key\": \"«` + lower32 + `»\"}"}`:                                      "api key",
		"api-key: «" + lower32 + "»":                                                           "api key",
		"client_secret='«" + mixed40[:20] + "»'":                                               "secret",
		"?access_token=«" + mixed40[:20] + "»&x=1":                                             "token",
		"deploy --token «" + mixed40[:20] + "» now":                                            "token",
		"mysql -u root -p«hunter22» app":                                                       "password",
		"curl -u admin:«hunter22» https://x.example.com":                                       "password",
		"sshpass -p «hunter22» ssh x":                                                          "password",
		"a\\n«" + join("gh", "p_", mixed40[:36]) + "»\\n":                                      "github token",
		"«-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef=\n-----END RSA PRIVATE KEY-----»\nrest": "private key",
		"«-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNza\\nabc==»\"}":                         "private key",
	}
}

func TestSecretsAreCovered(t *testing.T) {
	t.Parallel()
	for text, kind := range secretSamples() {
		head, rest, _ := strings.Cut(text, "«")
		value, tail, _ := strings.Cut(rest, "»")
		masked, kinds := secrets.Mask(head + value + tail)
		if want := head + "[masked: " + kind + "]" + tail; masked != want {
			t.Errorf("%s\n got %s\nwant %s", text, masked, want)
		}
		if d := cmp.Diff([]string{kind}, kinds); d != "" {
			t.Errorf("%s: %s", text, d)
		}
		if d := cmp.Diff([]string{kind}, secrets.FindKinds([]byte(head+value+tail))); d != "" {
			t.Errorf("%s: Find: %s", text, d)
		}
		if !strings.Contains(secrets.Marks, "[masked: "+kind+"]") {
			t.Errorf("%s is not in the list of marks", kind)
		}
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "hello world", "the token is wrong", "password: ", "Password:", "password=", "TOKEN=$TOKEN", "TOKEN=${GITHUB_TOKEN:-x}", "token: ${{ secrets.GITHUB_TOKEN }}",
		"API_KEY=xxxxxxxxxxxxxxxx", "api_key=<your-api-key>", "SECRET=changeme123", `"apiKey": "your-api-key-here1"`, "apiKey: process.env.API_KEY1",
		"token = os.environ['TOKEN_1']", `"input_tokens": 123456789`, `"max_tokens":4096,"cache_read_input_tokens":20192`, "token = get_token(user1)", "tokenizer: gpt2-medium-1",
		`"token_type": "bearer_v2_abc"`, "password = user.password1", "secretName: tls-cert-2024", "const token = await auth.getToken2();", "password: string",
		"https://example.com/a:b@c", "http://user@host/x", "ssh://git@github.com:22/o/r", "postgres://user:password@localhost/db", "postgres://u:$PW@h/d", "https://u:${T}@h",
		"Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "the bearer of good news 2024", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "task-sk-abc", "sk-learn",
		"AKIAIOSFODNN7EXAMPLE", "eyJub3QiOiJ0aHJlZSJ9", "-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\nMIIabc\n-----END CERTIFICATE-----",
		"docker run -u 1000:1000 x", "mysql -p app", "git log -p hunter22", "SK" + strings.Repeat("a", 32), `"password": "Please enter 1 number"`, "password == other1234",
		"[masked: github token]", "PASSWORD=[masked: password]", "0123456789abcdef0123456789abcdef01234567", "token: /var/run/secrets/token1",
	} {
		if masked, kinds := secrets.Mask(text); masked != text || kinds != nil {
			t.Errorf("%q became %q (%v)", text, masked, kinds)
		}
		if kinds := secrets.FindKinds([]byte(text)); kinds != nil {
			t.Errorf("%q: %v", text, kinds)
		}
	}
}

// A secret is covered also where nothing tells that it is one.
func TestSecretIsCoveredEverywhere(t *testing.T) {
	t.Parallel()
	masked, _ := secrets.Mask("connect with s3cretPa55 please; PASSWORD=s3cretPa55; again s3cretPa55.")
	want := "connect with [masked: password] please; PASSWORD=[masked: password]; again [masked: password]."
	if masked != want {
		t.Error(masked)
	}
}

func TestKindsAreSortedAndOnce(t *testing.T) {
	t.Parallel()
	text := "TOKEN=" + mixed40[:20] + " PASSWORD=s3cretPa55 B_TOKEN=" + mixed40[20:]
	_, kinds := secrets.Mask(text)
	if d := cmp.Diff([]string{"password", "token"}, kinds); d != "" {
		t.Error(d)
	}
}

// A mark says nothing of the length.
func TestMarkHasOneLength(t *testing.T) {
	t.Parallel()
	short, _ := secrets.Mask("PASSWORD=s3cretPa55")
	long, _ := secrets.Mask("PASSWORD=s3cretPa55" + mixed40)
	if short != long {
		t.Error(short, long)
	}
}

func FuzzMask(f *testing.F) {
	for text := range secretSamples() {
		f.Add(strings.NewReplacer("«", "", "»", "").Replace(text))
	}
	f.Add(secrets.Marks)
	f.Add("PASSWORD=[masked1x PASSWORD=x1[masked")
	f.Fuzz(func(t *testing.T, text string) {
		masked, kinds := secrets.Mask(text)
		values := secrets.Values(text)
		if len(values) > 0 != (len(kinds) > 0) || len(values) == 0 && masked != text {
			t.Fatalf("%d values, kinds %v", len(values), kinds)
		}
		for _, v := range values {
			if len(v) >= secrets.MinSpreadLength && strings.Contains(masked, v) {
				t.Errorf("%q is still in %q", v, masked)
			}
		}
		if again, more := secrets.Mask(masked); again != masked || more != nil {
			t.Errorf("%q became %q (%v)", masked, again, more)
		}
	})
}

// ordinary is JSONL as agents write it.
func ordinary(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%08x-11ee-4a2b-9c3d-0242ac120002","timestamp":"2025-01-02T03:04:%02dZ","message":{"role":"assistant","content":`+
			`[{"type":"text","text":"The server reads the token from the request, compares it and answers 401 when they differ.\nSee internal/auth/session.go:%d and https://example.com/docs/auth?page=%d."},`+
			`{"type":"tool_use","name":"Bash","input":{"command":"go test ./internal/auth/... -run 'TestSession|TestPassword' -count=1"}}],"usage":{"input_tokens":%d,"output_tokens":%d}}}`+"\n",
			i, i%60, i%400, i, i*7, i*3)
	}
	return b.String()[:size]
}

func BenchmarkOrdinary(b *testing.B) {
	text := ordinary(1 << 20)
	if _, kinds := secrets.Mask(text); kinds != nil {
		b.Fatal(kinds)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		secrets.Mask(text)
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, part := range []string{"token=", "sk-", "eyJ", "://a:", "-----BEGIN PRIVATE KEY-----", "password: \\\"", "curl -u ", "AKIA"} {
		text := strings.Repeat(part, 1<<20/len(part))
		b.Run(strings.Fields(part + " ")[0], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				secrets.Mask(text)
			}
		})
	}
}
