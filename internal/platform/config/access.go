package config

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
)

// RemoteAccess finds what opens a remote where other programs look for it: in the environment, and in files of the
// user. It is never typed: every user can read the arguments of a process. identity is the file with a private
// key of SSH; "" is the user's own.
func (c *Config) RemoteAccess(scheme, identity string) (retake.RemoteAccess, error) {
	var a retake.RemoteAccess
	switch scheme {
	case "s3", "gs":
		a, err := c.bucketAccess(a)
		if scheme == "gs" {
			a.Endpoint = "" // that of the environment is of another service
		}
		return a, err
	case "sftp":
		return c.sshAccess(a, identity)
	case "webdav", "webdav+http":
		a.User, a.Secret = os.Getenv("RETAKE_REMOTE_USER"), os.Getenv("RETAKE_REMOTE_PASSWORD")
	case "azure":
		a.User, a.Secret = os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
		if a.User == "" || a.Secret == "" {
			return a, accessError("there is no key for Azure", "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY")
		}
	}
	return a, nil
}

func accessError(what, hint string) error {
	return &retake.Error{Kind: retake.Invalid, What: what, Safe: "Nothing was changed.", Hint: hint}
}

func (c *Config) bucketAccess(a retake.RemoteAccess) (retake.RemoteAccess, error) {
	a.Endpoint = cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	a.Region = cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	a.User, a.Secret = os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if os.Getenv("AWS_SESSION_TOKEN") != "" {
		return a, shortLivedError("AWS_SESSION_TOKEN is set")
	}
	if a.User != "" && a.Secret != "" {
		return a, nil
	}
	profile := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
	file := cmp.Or(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(c.Home, ".aws", "credentials"))
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return a, fmt.Errorf("read keys of AWS: %w", err)
	}
	values := readProfile(b, profile)
	if values["aws_session_token"] != "" {
		return a, shortLivedError("aws_session_token in " + file)
	}
	a.User, a.Secret, a.Region = values["aws_access_key_id"], values["aws_secret_access_key"], cmp.Or(a.Region, values["region"])
	if a.User == "" || a.Secret == "" {
		return a, accessError("there are no keys for this bucket", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or put them into "+file)
	}
	return a, nil
}

func shortLivedError(sign string) error {
	return accessError("these keys of AWS end after hours ("+sign+"), and uploads go on", "use the keys of a user who may only write to this bucket")
}

// readProfile reads the values of one section of an INI file.
func readProfile(b []byte, section string) map[string]string {
	out, in := map[string]string{}, false
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if name, ok := strings.CutPrefix(line, "["); ok {
			in = strings.TrimSuffix(name, "]") == section
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && in {
			out[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return out
}

// sshAccess reads the user's key and the hosts that he knows. They are copied: the daemon asks nobody for a
// passphrase.
func (c *Config) sshAccess(a retake.RemoteAccess, identity string) (retake.RemoteAccess, error) {
	a.User = os.Getenv("USER")
	dir := filepath.Join(c.Home, ".ssh")
	files := []string{identity}
	if identity == "" {
		files = []string{filepath.Join(dir, "id_ed25519"), filepath.Join(dir, "id_ecdsa"), filepath.Join(dir, "id_rsa")}
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && identity == "" {
			continue
		}
		if err != nil {
			return a, accessError("the key of SSH can't be read: "+err.Error(), "name another one: --identity FILE")
		}
		a.PrivateKey = string(b)
		break
	}
	if a.PrivateKey == "" {
		return a, accessError("there is no key of SSH in "+dir, "make one without a passphrase: ssh-keygen -t ed25519 -N '' -f FILE; then: --identity FILE")
	}
	hosts, err := os.ReadFile(filepath.Join(dir, "known_hosts"))
	if err != nil {
		return a, accessError("no host is known in "+filepath.Join(dir, "known_hosts"), "connect once with ssh, and compare what it says")
	}
	a.KnownHosts = string(hosts)
	return a, nil
}

// RecoveryKey returns the key for an attach where nobody can type it; "" if there is none.
func RecoveryKey() string { return os.Getenv("RETAKE_RECOVERY_KEY") }
