package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
)

// clearAWS makes the keys of a file the only ones, and returns who has them.
func clearAWS(t *testing.T, keys string) *config.Config {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, "")
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".aws", "credentials"), []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	return &config.Config{Home: home}
}

// Keys that end after hours are refused, also if another program wrote them into the file.
func TestShortLivedKeysOfAProfile(t *testing.T) {
	c := clearAWS(t, "[default]\naws_access_key_id = a\naws_secret_access_key = b\naws_session_token = c\n\n[long]\naws_access_key_id = d\naws_secret_access_key = e\n")
	if _, err := c.RemoteAccess("s3", ""); !retake.IsKind(err, retake.Invalid) || !strings.Contains(err.Error(), "end after hours") {
		t.Errorf("%v", err)
	}
	t.Setenv("AWS_PROFILE", "long")
	if a, err := c.RemoteAccess("s3", ""); err != nil || a.User != "d" || a.Secret != "e" {
		t.Errorf("%s %v", a.User, err)
	}
}

// A bucket of Google's is not looked for at the endpoint of another service.
func TestEndpointIsOfS3Alone(t *testing.T) {
	c := clearAWS(t, "[default]\naws_access_key_id = a\naws_secret_access_key = b\n")
	t.Setenv("AWS_ENDPOINT_URL", "https://elsewhere.example")
	for scheme, want := range map[string]string{"s3": "https://elsewhere.example", "gs": ""} {
		if a, err := c.RemoteAccess(scheme, ""); err != nil || a.Endpoint != want {
			t.Errorf("%s: %q %v", scheme, a.Endpoint, err)
		}
	}
}
