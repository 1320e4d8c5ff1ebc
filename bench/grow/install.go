package grow

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// locked is an entry of the lists that npm writes.
type locked struct {
	Name         string            `json:"name,omitempty"`
	Version      string            `json:"version"`
	Resolved     string            `json:"resolved,omitempty"`
	Integrity    string            `json:"integrity,omitempty"`
	Dependencies map[string]string `json:"dependencies,omitempty"`
}

// wishes is how many of the packages are asked for by name.
const wishes = 10

// Install writes what an npm install leaves in root: packages in node_modules, files of
// them in equal shares, and the three lists of them. Other versions in each round.
func Install(root string, packages, files int, seed, round uint64) error {
	r := rand.New(rand.NewPCG(seed+round, 9))
	all := map[string]locked{}
	asked := map[string]string{}
	for i := range packages {
		name := fmt.Sprintf("%s-%d", vocabulary[100+r.IntN(1000)], i)
		version := fmt.Sprintf("%d.%d.%d", 1+r.IntN(9), round, r.IntN(30))
		all["node_modules/"+name] = locked{
			Version: version, Resolved: fmt.Sprintf("https://packages.example/%s/-/%s-%s.tgz", name, name, version), Integrity: fmt.Sprintf("sha512-%064x", r.Uint64()),
		}
		if i < wishes {
			asked[name] = "^" + version
		}
		if err := unpack(filepath.Join(root, "node_modules", name), name, version, files/packages, r); err != nil {
			return err
		}
	}
	head := map[string]any{"name": "site", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": all}
	if err := writeJSON(filepath.Join(root, "node_modules", ".package-lock.json"), head); err != nil {
		return err
	}
	all[""] = locked{Name: "site", Version: "1.0.0", Dependencies: asked}
	if err := writeJSON(filepath.Join(root, "package-lock.json"), head); err != nil {
		return err
	}
	return writeJSON(filepath.Join(root, "package.json"), locked{Name: "site", Version: "1.0.0", Dependencies: asked})
}

// unpack writes one package of n files.
func unpack(dir, name, version string, n int, r *rand.Rand) error {
	if err := os.MkdirAll(filepath.Join(dir, "lib"), 0o755); err != nil {
		return fmt.Errorf("write package: %w", err)
	}
	if err := writeJSON(filepath.Join(dir, "package.json"), map[string]any{"name": name, "version": version, "main": "index.js", "license": "MIT"}); err != nil {
		return err
	}
	for i := range n - 1 {
		path := filepath.Join(dir, "lib", fmt.Sprintf("part%d.js", i))
		switch i {
		case 0:
			path = filepath.Join(dir, "index.js")
		case 1:
			path = filepath.Join(dir, "README.md")
		}
		b := make([]byte, lognormal(r))
		fillText(b, r)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return fmt.Errorf("write package: %w", err)
		}
	}
	return nil
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode list: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}
