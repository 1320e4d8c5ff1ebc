package transit

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

const (
	callTimeout = 10 * time.Second
	maxAnswer   = 64 << 10
	maxToken    = 4 << 10
	unchanged   = "Nothing was changed."
)

// keyServer makes the three calls of a key server, for one key.
type keyServer struct {
	mount     string // URL up to the mount, such as https://vault:8200/v1/transit
	key       string
	tokenFile string
	http      *http.Client
}

var (
	pathPattern       = pattern.Lazy(`^/v1/([A-Za-z0-9_.-]+/)+keys/[A-Za-z0-9_.-]+$`)
	ciphertextPattern = pattern.Lazy(`^vault:v[0-9]{1,9}:[A-Za-z0-9+/=]+$`)
	tokenPattern      = pattern.Lazy(`^[!-~]+$`)
)

func newKeyServer(o Options) (*keyServer, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !pathPattern().MatchString(u.Path) {
		return nil, &retake.Error{Kind: retake.Invalid, What: "the address of the key server is not the URL of a transit key", Safe: unchanged, Hint: "such as https://vault:8200/v1/transit/keys/retake"}
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return nil, &retake.Error{Kind: retake.Invalid, What: "the key server must be reached with HTTPS, or at this machine", Safe: unchanged, Hint: "such as https://vault:8200/v1/transit/keys/retake"}
	}
	if o.TokenFile == "" {
		return nil, &retake.Error{Kind: retake.Invalid, What: "the key server needs a token", Safe: unchanged, Hint: "put it in a file: --kek-token-file FILE"}
	}
	roots, err := readRoots(o.CAFile)
	if err != nil {
		return nil, err
	}
	mount, key, _ := strings.Cut(u.String(), "/keys/")
	return &keyServer{mount: mount, key: key, tokenFile: o.TokenFile, http: &http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for the configured address alone
		Transport: &http.Transport{
			Proxy:             nil, // one from the environment would see the token
			DialContext:       (&net.Dialer{Timeout: o.Timeout / 2}).DialContext,
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			DisableKeepAlives: true, // calls are rare
		},
	}}, nil
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// readRoots returns the certificates of a file; nil are those of the system.
func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // crypto/tls has it so
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, &retake.Error{Kind: retake.NotFound, What: "the certificates of the key server cannot be read", Safe: unchanged, Err: err}
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(b) {
		return nil, &retake.Error{Kind: retake.Invalid, What: "the file for the key server has no certificate in PEM: " + file, Safe: unchanged}
	}
	return roots, nil
}

// encrypt seals a data key.
func (s *keyServer) encrypt(ctx context.Context, plain []byte) (string, error) {
	a, err := s.call(ctx, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(plain)})
	return a.Ciphertext, err
}

// decrypt opens a data key.
func (s *keyServer) decrypt(ctx context.Context, ciphertext string) ([]byte, error) {
	a, err := s.call(ctx, "decrypt", map[string]string{"ciphertext": ciphertext})
	if err != nil {
		return nil, err
	}
	plain, err := base64.StdEncoding.DecodeString(a.Plaintext)
	if err != nil {
		return nil, errAnswer // the cause would quote the key
	}
	return plain, nil
}

// rewrap seals a data key again with the newest version of the server's key.
func (s *keyServer) rewrap(ctx context.Context, ciphertext string) (string, error) {
	a, err := s.call(ctx, "rewrap", map[string]string{"ciphertext": ciphertext})
	return a.Ciphertext, err
}

type answer struct {
	Ciphertext string `json:"ciphertext"`
	Plaintext  string `json:"plaintext"`
}

var errAnswer = &retake.Error{Kind: retake.Damaged, What: "the key server did not answer as one with Vault's transit API", Safe: unchanged, Hint: "check the address: --kek-url"}

// call makes a call. Nothing that the server answers is part of an error: it could be a secret.
func (s *keyServer) call(ctx context.Context, verb string, args map[string]string) (answer, error) {
	var none answer
	token, err := s.readToken()
	if err != nil {
		return none, err
	}
	body, err := json.Marshal(args)
	if err != nil {
		return none, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.mount+"/"+verb+"/"+s.key, bytes.NewReader(body))
	if err != nil {
		return none, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Vault-Token", token)
	req.Header.Set("X-Vault-Request", "true") // a proxy of the key server may ask for it
	res, err := s.http.Do(req)
	if err != nil {
		return none, unreachable(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return none, statusError(verb, res.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return none, unreachable(err)
	}
	var a struct {
		Data answer `json:"data"`
	}
	if json.Unmarshal(b, &a) != nil || verb != "decrypt" && !ciphertextPattern().MatchString(a.Data.Ciphertext) {
		return none, errAnswer
	}
	return a.Data, nil
}

// readToken reads the token anew for each call, because it is replaced before it expires.
func (s *keyServer) readToken() (string, error) {
	b, err := os.ReadFile(s.tokenFile)
	if err != nil {
		return "", &retake.Error{Kind: retake.NotFound, What: "the token for the key server cannot be read", Safe: unchanged, Err: err}
	}
	token := strings.TrimSpace(string(b))
	if len(token) > maxToken || !tokenPattern().MatchString(token) {
		return "", &retake.Error{Kind: retake.Invalid, What: "the file is not one token for the key server: " + s.tokenFile, Safe: unchanged}
	}
	return token, nil
}

func unreachable(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return &retake.Error{Kind: retake.Away, What: "the key server cannot be reached", Safe: unchanged, Err: err}
}

// statusError explains a status of the API: https://developer.hashicorp.com/vault/api-docs.
func statusError(verb string, status int) error {
	e := &retake.Error{Kind: retake.Away, Safe: unchanged, Err: fmt.Errorf("status %d", status)}
	switch {
	case status == http.StatusForbidden:
		e.Kind, e.What = retake.Denied, "the key server refuses the token for "+verb
		e.Hint = "the token may have expired, or its policy lacks update on transit/" + verb
	case status == http.StatusNotFound:
		e.Kind, e.What, e.Hint = retake.NotFound, "the key server has no transit engine at this address", "check the address: --kek-url"
	case status == http.StatusBadRequest && verb != "encrypt":
		e.Kind, e.What = retake.Denied, "the key server cannot open the data key"
		e.Hint = "its key is another one, or the version that sealed the data key is no longer allowed"
	case status == http.StatusBadRequest:
		e.Kind, e.What, e.Hint = retake.Denied, "the key server cannot encrypt with this key", "the key must exist and be able to encrypt, without derivation"
	case status == http.StatusServiceUnavailable:
		e.What = "the key server is sealed or in maintenance"
	case status >= 300 && status < 400:
		e.Kind, e.What, e.Hint = retake.Invalid, "the key server sends to another address", "configure that one: --kek-url"
	case status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusPreconditionFailed:
		e.Kind, e.What = retake.Denied, "the key server refuses the request"
	default:
		e.What = "the key server does not answer now"
	}
	return e
}
