package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// damageCounts is what was restored exactly in all cases of one tool and one damage.
type damageCounts struct {
	Snapshots int `json:"snapshots_exact"`
	Unopened  int `json:"cases_in_which_nothing_opened"`
	Wrong     int `json:"cases_with_wrong_bytes_and_exit_0"`
}

// damages is the table of what each tool still restores after one file of its repository was
// damaged, from bench/damage/results.json.
func damages() (string, error) {
	b, err := os.ReadFile("bench/damage/results.json")
	if err != nil {
		return "", err
	}
	var r struct {
		Snapshots int
		ByDamage  []struct {
			Tool, Damage string
			Cases        int
			Before       damageCounts `json:"before_repair"`
			After        damageCounts `json:"after_repair"`
		} `json:"by_damage"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("| tool | one file is | cases | snapshots exact | after its repair | nothing opens, before and after | wrong bytes |\n|---|---|---:|---:|---:|---:|---:|\n")
	for _, d := range r.ByDamage {
		share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(d.Cases*r.Snapshots)) }
		fmt.Fprintf(&out, "| %s | %s | %d | %s | %s | %d, %d | %d |\n", d.Tool, map[string]string{"flip": "changed in one bit", "gone": "gone"}[d.Damage], d.Cases,
			share(d.Before.Snapshots), share(d.After.Snapshots), d.Before.Unopened, d.After.Unopened, d.Before.Wrong+d.After.Wrong)
	}
	return out.String(), nil
}
