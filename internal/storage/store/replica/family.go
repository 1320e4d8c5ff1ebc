package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// All stores with one key are a family. Its copies are beside each other at a place, each under a name of
// its own, with one more for the list of them. Who has the key knows the names; nobody else learns which
// copies belong together but by their names' beginning.

// Copies is the name of what a place has of a family: the list of its copies.
func Copies(family string) string { return "retake-" + family }

// CopyOf is the name of one copy.
func CopyOf(family, store string) string { return Copies(family) + "-" + store }

// StoreInfo says whose copy it is.
type StoreInfo struct {
	Store   string    `json:"store"`
	Machine string    `json:"machine"`
	OS      string    `json:"os"`
	Arch    string    `json:"arch"`
	Created time.Time `json:"created"`
}

const storePrefix = "retake.store."

// PutStore adds a store to the list of a family.
func PutStore(ctx context.Context, list Place, key Sealer, i StoreInfo) error {
	b, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("list store: %w", err)
	}
	err = list.Put(ctx, storePrefix+i.Store, key.sealText(storePrefix+i.Store, b))
	if errors.Is(err, ErrExists) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list store: %w", err)
	}
	return nil
}

// Stores lists the stores of a family that have a copy, the newest last. What does not open is left out.
func Stores(ctx context.Context, list Place, key Sealer) ([]StoreInfo, error) {
	found, err := list.List(ctx, storePrefix)
	if err != nil {
		return nil, fmt.Errorf("list stores: %w", err)
	}
	var out []StoreInfo
	for _, o := range found {
		sealed, err := list.Get(ctx, o.Name, 0, -1)
		if errors.Is(err, ErrMissing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list stores: %w", err)
		}
		var i StoreInfo
		if b, err := key.openText(o.Name, sealed); err != nil || json.Unmarshal(b, &i) != nil || storePrefix+i.Store != o.Name || !IsStoreName(i.Store) {
			continue
		}
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(a, b StoreInfo) int { return a.Created.Compare(b.Created) })
	return out, nil
}

// IsStoreName reports whether a store can have a name.
func IsStoreName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

func (s Sealer) sealText(name string, text []byte) []byte {
	return s.aead.Seal(nil, nil, text, []byte(name))
}

func (s Sealer) openText(name string, sealed []byte) ([]byte, error) {
	b, err := s.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return nil, fmt.Errorf("open %s: it is damaged, or has another key", name)
	}
	return b, nil
}
