package config

import (
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Server is the configuration of a server from the environment, including secrets.
type Server struct {
	Postgres  string   // RETAKE_POSTGRES
	S3        string   // RETAKE_S3
	AccessKey string   // RETAKE_S3_ACCESS_KEY, else AWS_ACCESS_KEY_ID
	SecretKey string   // RETAKE_S3_SECRET_KEY, else AWS_SECRET_ACCESS_KEY
	KEK       []string // RETAKE_KEK, and RETAKE_KEK_OLD during a key rotation
	Trace     string   // OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, else OTEL_EXPORTER_OTLP_ENDPOINT
	URL       string   // RETAKE_SERVER: URL of the server to use
	Key       string   // RETAKE_KEY: API key for it
	Workspace string   // RETAKE_WORKSPACE: workspace on it
}

// ReadServer reads the configuration of a server from the environment.
func ReadServer() Server {
	s := Server{
		Postgres: os.Getenv("RETAKE_POSTGRES"), S3: os.Getenv("RETAKE_S3"),
		AccessKey: firstEnv("RETAKE_S3_ACCESS_KEY", "AWS_ACCESS_KEY_ID"),
		SecretKey: firstEnv("RETAKE_S3_SECRET_KEY", "AWS_SECRET_ACCESS_KEY"),
		Trace:     os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
		URL:       os.Getenv("RETAKE_SERVER"), Key: os.Getenv("RETAKE_KEY"),
		Workspace: os.Getenv("RETAKE_WORKSPACE"),
	}
	if base := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); s.Trace == "" && base != "" {
		s.Trace = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	for _, name := range []string{"RETAKE_KEK", "RETAKE_KEK_OLD"} {
		if v := os.Getenv(name); v != "" {
			s.KEK = append(s.KEK, v)
		}
	}
	return s
}

// firstEnv returns variable a, or b if a is empty.
func firstEnv(a, b string) string {
	if v := os.Getenv(a); v != "" {
		return v
	}
	return os.Getenv(b)
}

// Bucket is a location in S3.
type Bucket struct {
	Endpoint, Name, Prefix, Region string
	PlainHTTP                      bool
}

// ParseBucket parses https://ENDPOINT/BUCKET[/PREFIX][?region=R].
func ParseBucket(address string) (Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		// The address is not quoted, because it may contain a secret.
		return Bucket{}, fmt.Errorf("that is no address of a bucket: https://ENDPOINT/BUCKET[/PREFIX], and its keys in the environment")
	}
	name, prefix, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if name == "" {
		return Bucket{}, fmt.Errorf("the address names no bucket: https://ENDPOINT/BUCKET[/PREFIX]")
	}
	if prefix != "" {
		prefix += "/"
	}
	return Bucket{Endpoint: u.Host, Name: name, Prefix: prefix, Region: u.Query().Get("region"), PlainHTTP: u.Scheme == "http"}, nil
}
