// Package transittest is a key server for tests. It has the calls of Vault's transit engine that
// Retake makes, as https://developer.hashicorp.com/vault/api-docs/secret/transit defines them, and
// refuses everything else. It is not Vault: it shows that we keep to the definition.
package transittest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Server is a key server with one mount, transit, and one key, retake.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	versions []cipher.AEAD   // guarded by mu; of the key, the first is version 1
	lowest   int             // guarded by mu; version that decrypts
	tokens   map[string]bool // guarded by mu
	sealed   bool            // guarded by mu
	calls    []string        // guarded by mu
}

// Token is valid at the start.
const Token = "s.the-token-of-the-test"

// Start starts a key server, with TLS or without.
func Start(t testing.TB, tls bool) *Server {
	t.Helper()
	s := &Server{lowest: 1, tokens: map[string]bool{Token: true}}
	s.Rotate()
	if tls {
		s.Server = httptest.NewTLSServer(s)
	} else {
		s.Server = httptest.NewServer(s)
	}
	t.Cleanup(s.Close)
	return s
}

// KeyURL is the URL of the key.
func (s *Server) KeyURL() string { return s.URL + "/v1/transit/keys/retake" }

// Rotate adds a version to the key.
func (s *Server) Rotate() {
	block, err := aes.NewCipher([]byte(rand.Text() + rand.Text())[:32])
	if err != nil {
		panic(err) // the size is right
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions = append(s.versions, aead)
}

// RetireOldVersions sets min_decryption_version to the newest version.
func (s *Server) RetireOldVersions() { s.change(func() { s.lowest = len(s.versions) }) }

// Seal makes the key server unavailable, as after its start until somebody unseals it.
func (s *Server) Seal(sealed bool) { s.change(func() { s.sealed = sealed }) }

// SetTokens replaces the valid tokens.
func (s *Server) SetTokens(tokens ...string) {
	s.change(func() {
		clear(s.tokens)
		for _, t := range tokens {
			s.tokens[t] = true
		}
	})
}

// Calls returns the calls that were answered with 200.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.calls...)
}

func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// ServeHTTP answers as the API does: data on success, errors otherwise.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, data, problem := s.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if problem != "" {
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []string{problem}})
		return
	}
	s.calls = append(s.calls, r.URL.Path)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"request_id": "6f8b1c0e", "lease_id": "", "renewable": false, "lease_duration": 0, "data": data, "wrap_info": nil, "warnings": nil, "auth": nil, "mount_type": "transit",
	})
}

func (s *Server) answer(r *http.Request) (status int, data map[string]any, problem string) {
	rest, ours := strings.CutPrefix(r.URL.Path, "/v1/transit/")
	verb, key, _ := strings.Cut(rest, "/")
	switch {
	case s.sealed:
		return 503, nil, "Vault is sealed"
	case !s.tokens[r.Header.Get("X-Vault-Token")]:
		return 403, nil, "permission denied"
	case !ours:
		return 404, nil, "no handler for route"
	case r.Method != http.MethodPost:
		return 405, nil, "unsupported operation"
	case key != "retake" && verb == "encrypt": // the policy has update only, so none is created
		return 403, nil, "permission denied"
	case key != "retake":
		return 400, nil, "encryption key not found"
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return 400, nil, "the strict server wants JSON"
	}
	args := map[string]string{}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 32<<20))
	if err != nil || json.Unmarshal(body, &args) != nil {
		return 400, nil, "failed to parse JSON input"
	}
	switch verb {
	case "encrypt":
		return s.encrypt(args)
	case "decrypt":
		return s.decrypt(args)
	case "rewrap":
		return s.rewrap(args)
	}
	return 404, nil, "unsupported path"
}

func only(args map[string]string, name string) string {
	if len(args) != 1 {
		return ""
	}
	return args[name]
}

func (s *Server) encrypt(args map[string]string) (int, map[string]any, string) {
	plain, err := base64.StdEncoding.DecodeString(only(args, "plaintext"))
	if err != nil || len(plain) == 0 {
		return 400, nil, "failed to base64-decode plaintext"
	}
	v := len(s.versions)
	sealed := s.versions[v-1].Seal(nil, nil, plain, nil)
	return 200, map[string]any{"ciphertext": fmt.Sprintf("vault:v%d:%s", v, base64.StdEncoding.EncodeToString(sealed)), "key_version": v}, ""
}

func (s *Server) open(text string) ([]byte, string) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || parts[0] != "vault" || !strings.HasPrefix(parts[1], "v") {
		return nil, "invalid ciphertext: no prefix"
	}
	v, err := strconv.Atoi(parts[1][1:])
	if err != nil || v < 1 || v > len(s.versions) {
		return nil, "invalid ciphertext: version is not known"
	}
	if v < s.lowest {
		return nil, "ciphertext or signature version is disallowed by policy (too old)"
	}
	sealed, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, "invalid ciphertext: could not decode base64"
	}
	plain, err := s.versions[v-1].Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, "cipher: message authentication failed"
	}
	return plain, ""
}

func (s *Server) decrypt(args map[string]string) (int, map[string]any, string) {
	plain, problem := s.open(only(args, "ciphertext"))
	if problem != "" {
		return 400, nil, problem
	}
	return 200, map[string]any{"plaintext": base64.StdEncoding.EncodeToString(plain)}, ""
}

func (s *Server) rewrap(args map[string]string) (int, map[string]any, string) {
	plain, problem := s.open(only(args, "ciphertext"))
	if problem != "" {
		return 400, nil, problem
	}
	return s.encrypt(map[string]string{"plaintext": base64.StdEncoding.EncodeToString(plain)})
}
